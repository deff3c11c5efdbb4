"""Tables with text, categories, dates and gaps, on the command line."""

import gzip
import re
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.command import run_here
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

import hssvm
from hssvm import SVC, SVR
from hssvm.tables import TableEncoder


@pytest.fixture
def table(rng):
    n = 400
    frame = pd.DataFrame({
        "city": rng.choice(["Graz", "Linz", "Wien"], n),
        "street": [f"street {i}" for i in rng.integers(0, 40, n)],
        "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D"),
        "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(18, 80, n)),
        "code": rng.integers(1, 4, n), "member": rng.random(n) < 0.5,
    })  # fmt: skip
    old = (frame["age"].fillna(50) > 45) ^ (frame["city"] == "Wien")
    return frame.assign(kind=np.where(old, "old", "new"))


def run(*arguments, cwd, code=0):
    done = run_here(*arguments, *(["-q"] if arguments[0] in ("train", "cv") else []), cwd=cwd)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def trained(table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    run("train", "train.csv", "-o", "model", "--target", "kind", "--scale", "standard", "--C", "10",
        cwd=tmp_path)  # fmt: skip
    return tmp_path


def predicted(folder, *arguments):
    run("predict", "model", *arguments, "-o", "labels.txt", cwd=folder)
    return (folder / "labels.txt").read_text().split()


def test_the_same_as_in_python(trained, table):
    X, y = table.drop(columns="kind"), table["kind"]
    model = make_pipeline(TableEncoder(), SVC(C=10, scaling="standard", random_state=0)).fit(X, y)
    assert predicted(trained, "train.csv") == model.predict(X).tolist()
    loaded = hssvm.load(trained / "model")
    assert (loaded.predict(X) == model.predict(X)).all()
    assert loaded.score(X, y) > 0.9
    assert loaded[-1].target_name_ == "kind"


@pytest.mark.parametrize("rewrite", [
    lambda frame, folder: frame.iloc[:, ::-1].to_csv(folder / "new.csv", index=False),
    lambda frame, folder: frame.drop(columns="kind").to_csv(folder / "new.csv", index=False),
    lambda frame, folder: frame.assign(more="x").to_csv(folder / "new.tsv", index=False, sep="\t"),
    lambda frame, folder: frame.to_parquet(folder / "new.parquet"),
    lambda frame, folder: (folder / "new.csv.gz").write_bytes(
        gzip.compress(frame.to_csv(index=False).encode())
    ),
])  # fmt: skip
def test_other_files_with_these_columns(rewrite, trained, table):
    expected = predicted(trained, "train.csv")
    rewrite(table, trained)
    (new,) = trained.glob("new*")
    assert predicted(trained, new.name) == expected


def test_files_are_read_in_parts(trained, table, monkeypatch):
    expected = predicted(trained, "train.csv")
    table.to_parquet(trained / "new.parquet")
    monkeypatch.setattr("hssvm.io.frames.BLOCK", 2000)
    monkeypatch.setattr("hssvm.io.parquet.PART_ROWS", 70)
    for name in ("train.csv", "new.parquet"):
        done = run("predict", "model", name, "-o", "labels.txt", cwd=trained)
        assert (trained / "labels.txt").read_text().split() == expected
        assert re.search(r"accuracy (0\.9\d+|1\.0000) on 400 rows", done.stderr)


def test_training_on_parquet(trained, table):
    table.to_parquet(trained / "train.parquet")
    expected = predicted(trained, "train.csv")
    run("train", "train.parquet", "-o", "model", "--target", "kind", "--scale", "standard", "--C",
        "10", cwd=trained)  # fmt: skip
    assert predicted(trained, "train.csv") == expected


def test_info_shows_how_columns_were_read(trained):
    text = run("info", "model", cwd=trained).stdout
    assert re.search(r"columns +6: 2 categories, 1 dates, 3 numbers\n", text)
    assert re.search(r"  street +categories +40 levels, means of targets\n", text)
    assert re.search(r"  age +numbers +\d+ missing\n", text)
    assert re.search(r"features +\d+\n", text)
    assert "label column     kind" in text


def test_info_shows_how_numbers_were_written(tmp_path, rng):
    price, late = rng.integers(0, 10**6, 200), rng.random(200) < 0.2
    frame = pd.DataFrame({
        "price": [f"${value:,}" for value in price], "rate": [f"{x:.1f} %" for x in price / 1e4],
        "joined": pd.Series(pd.date_range("2020-01-01", periods=200)).mask(late),
    })  # fmt: skip
    frame.assign(y=price > 5e5).to_csv(tmp_path / "train.csv", index=False)
    run("train", "train.csv", "-o", "model", "--target", "y", "--scale", "standard", cwd=tmp_path)
    text = run("info", "model", cwd=tmp_path).stdout
    assert re.search(r"  price +numbers +in \$, thousands separators\n", text)
    assert re.search(r"  rate +numbers +in %\n", text)
    assert re.search(rf"  joined +dates +{late.sum()} missing\n", text)
    assert hssvm.load(tmp_path / "model").score(frame, (price > 5e5).astype(str)) > 0.9


def test_the_reading_of_columns_is_corrected(trained):
    options = "--categorical", "code", "--categorical", "age", "--ignore", "street"
    done = run("train", "train.csv", "-o", "model", "--target", "kind", *options, cwd=trained)
    assert re.search(r"columns +│ 5: 3 categories, 1 dates, 1 numbers ", done.stdout)
    assert re.search(r"ignored +│ 'street' ", done.stdout)
    assert re.search(r"  code +categories +3 levels\n", run("info", "model", cwd=trained).stdout)
    assert len(predicted(trained, "train.csv")) == 400


@pytest.mark.filterwarnings("default:column")
def test_text_among_numbers_counts_as_missing(trained, table):
    table.assign(code=["many", *table["code"][1:]]).to_csv(trained / "text.csv", index=False)
    options = "--target", "kind", "-o", "model"
    done = run("train", "text.csv", *options, cwd=trained)
    assert (
        "column 'code' contains numbers, but 1 of its values cannot be read as such, for example "
        "'many'; they count as missing, unless you pass --categorical code" in done.stderr
    )
    done = run("train", "text.csv", *options, "--numeric", "code", cwd=trained)
    assert "1 of its values cannot be read" in done.stderr
    done = run("predict", "model", "text.csv", "-o", "labels.txt", cwd=trained)
    assert "'many'; they count as missing\n" in done.stderr
    done = run("train", "text.csv", *options, "--categorical", "code", cwd=trained)
    assert "missing" not in done.stderr


def test_rows_to_score_and_to_resume(trained):
    options = "--target", "kind", "--scale", "standard"
    done = run("train", "train.csv", "-o", "cut", *options, "--tol", "0.5", "--test", "train.csv",
               cwd=trained)  # fmt: skip
    assert re.search(r"accuracy [01]\.\d+ on 400 rows", done.stdout)
    run("train", "train.csv", "--resume", "cut", "--tol", "1e-4", cwd=trained)
    run("train", "train.csv", "-o", "model", *options, "--tol", "1e-4", cwd=trained)
    resumed, once = (hssvm.load(trained / name) for name in ("cut", "model"))
    X = pd.read_csv(trained / "train.csv")
    assert_array_equal(resumed.predict(X), once.predict(X))
    assert resumed[0].describe() == once[0].describe()


def test_a_resumed_model_keeps_its_encoder(tmp_path, rng):
    """Also if the file has only numbers; here they are shifted, as float32 would round them."""
    frame = pd.DataFrame({"time": 1.6e9 + rng.random(200) * 100})
    frame["kind"] = (frame["time"] - 1.6e9 > 50).astype(int)
    model = SVC(C=10, scaling="standard", tol=0.5)
    pipeline = make_pipeline(TableEncoder(), model).fit(frame[["time"]], frame["kind"])
    hssvm.save(pipeline, tmp_path / "cut")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    run("train", "rows.csv", "--resume", "cut", "--target", "kind", "--tol", "1e-3", cwd=tmp_path)
    again = hssvm.load(tmp_path / "cut")
    assert again[0].describe() == pipeline[0].describe()
    assert again.score(frame[["time"]], frame["kind"]) > 0.97


def test_searches_and_estimates(trained, table):
    options = "--target", "kind", "--Cs", "1,10", "--gammas", "0.1", "--kernel", "rbf"
    run("cv", "train.csv", *options, "--scale", "standard", "-o", "model", cwd=trained)
    assert (np.array(predicted(trained, "train.csv")) == table["kind"]).mean() > 0.9
    done = run("estimate", "train.csv", "--target", "kind", cwd=trained)
    assert "estimate for 400 rows" in done.stdout


def test_an_index_of_pandas_is_a_column_if_it_has_a_name(trained, table):
    expected = predicted(trained, "train.csv")
    table.set_index("city").to_parquet(trained / "named.parquet")
    assert predicted(trained, "named.parquet") == expected
    table.iloc[::2].to_parquet(trained / "half.parquet")
    run("train", "half.parquet", "-o", "half", "--target", "kind", cwd=trained)
    assert hssvm.load(trained / "half")[0].feature_names_in_.tolist() == [*table.columns[:-1]]


@pytest.mark.filterwarnings("default:No candidate scores higher")
def test_scores_do_not_believe_noise(tmp_path, rng):
    """Levels of few rows, and classes that depend on nothing; the file has both in numbers."""
    frame = pd.DataFrame({f"noise {j}": rng.integers(0, 60, 600) for j in range(20)})
    frame.assign(kind=rng.permutation(600) % 2).to_csv(tmp_path / "noise.csv", index=False)
    options = [option for name in frame for option in ("--categorical", name)]
    done = run("cv", "noise.csv", "--target", "kind", "--Cs", "10", "--gammas", "0.05", "--kernel",
               "rbf", "--scale", "standard", *options, cwd=tmp_path)  # fmt: skip
    assert float(re.search(r"accuracy (0\.\d+) in 5 folds", done.stdout)[1]) < 0.65


def test_the_seed_reaches_the_encoder(trained, table):
    options = "--target", "kind", "--scale", "standard", "--C", "10"
    run("train", "train.csv", "-o", "cut", *options, "--seed", "7", "--tol", "0.5", cwd=trained)
    run("train", "train.csv", "--resume", "cut", "--tol", "1e-4", cwd=trained)
    X, y = table.drop(columns="kind"), table["kind"]
    model = SVC(C=10, scaling="standard", tol=1e-4, random_state=7)
    expected, other = (
        make_pipeline(TableEncoder(random_state=seed), model).fit(X, y).decision_function(X)
        for seed in (7, 0)
    )
    found = hssvm.load(trained / "cut")
    assert found[0].random_state == 7
    found = found.decision_function(X)
    assert np.abs(found - expected).max() < 0.1 * np.abs(found - other).max()


def test_regression_and_weights(trained, table, rng):
    prices = np.where(table["city"] == "Wien", 3.5, 1.5) + rng.standard_normal(len(table))
    values = table.assign(price=prices, weight=rng.integers(0, 4, len(table)))
    values.to_csv(trained / "values.csv", index=False)
    run("train", "values.csv", "-o", "model", "--task", "svr", "--target", "price", "--C", "10",
        "--sample-weight", "weight", "--scale", "standard", cwd=trained)  # fmt: skip
    X, y = values.drop(columns=["price", "weight"]), values["price"]
    model = make_pipeline(TableEncoder(), SVR(C=10, scaling="standard", random_state=0))
    model.fit(X, y, svr__sample_weight=values["weight"])
    assert np.allclose(
        np.array(predicted(trained, "values.csv"), float), model.predict(X), atol=0.02
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "model", "short.csv"), "short.csv lacks 'city', 'member', which the model"),
        (("train", "nameless.csv", "-o", "m"), "nameless.csv, line 1: 'red' in column 1 is not"),
        (("train", "rows.libsvm", "-o", "m", "--categorical", "a"),
         "only columns of CSV and Parquet files can be --categorical or --numeric"),
        (("train", "train.csv", "-o", "m", "--target", "kind", "--categorical", "a"),
         "X has no column 'a', which --categorical names"),
        (("train", "ragged.csv", "-o", "m", "--target", "y"), "ragged.csv cannot be read as CSV"),
        (("train", "huge.csv", "-o", "m", "--target", "y"),
         "column 'b' cannot be encoded (it contains infinite values"),
        (("train", "gaps.csv", "-o", "m", "--target", "y"), "no label in row 1; drop the row"),
        (("export", "model", "m.py"), "model encodes the columns of a table, which other formats"),
        (("convert", "model", "m.model"), "model encodes the columns of a table, which other"),
    ],
)  # fmt: skip
def test_errors(arguments, message, trained):
    for name, text in {
        "short.csv": "street,joined,age,code\nx,2020-01-01,3,1\n",
        "nameless.csv": "1,red,2\n0,blue,1\n", "rows.libsvm": "1 1:2\n0 1:1\n",
        "ragged.csv": "y,a,b\n0,red,1\n1,blue\n", "huge.csv": "y,a,b\n0,red,1\n1,red,inf\n",
        "gaps.csv": "y,a,b\n0,red,1\n,red,2\n",
    }.items():  # fmt: skip
        (trained / name).write_text(text)
    assert message in run(*arguments, cwd=trained, code=1).stderr


def test_the_remedy_if_skrub_is_not_installed(trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "skrub", None)
    done = run("train", "train.csv", "-o", "m", "--target", "kind", cwd=trained, code=1)
    assert re.search(
        r"line 2: '\w+' in column 'city' is not .*; or let hssvm encode the columns: pip install "
        r"'hssvm\[tables\]'", done.stderr
    )  # fmt: skip
