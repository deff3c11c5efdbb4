import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.command import run_here
from numpy.testing import assert_allclose
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file
from typer.main import get_command
from typer.testing import CliRunner

import hssvm
from hssvm._threads import _openmp
from hssvm.cli import app as cli
from hssvm.cli.checks import default_model
from hssvm.cli.messages import OPTIONS

COMMANDS = ("train", "predict", "cv", "info", "estimate", "convert", "export")


@pytest.fixture
def folder(tmp_path, rng):
    """LIBSVM and CSV files of rows inside and outside of a circle."""
    for name, n in (("train", 600), ("test", 200)):
        X = rng.standard_normal((n, 3))
        y = np.where(np.hypot(X[:, 0], X[:, 1]) < 1.1, 1, -1)
        dump_svmlight_file(X, y, str(tmp_path / f"{name}.libsvm"), zero_based=False)
        words = np.where(y > 0, "in", "out")
        lines = [f"{a:.6f},{b:.6f},{c:.6f},{w}" for (a, b, c), w in zip(X, words, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c,where", *lines]) + "\n")
    return tmp_path


def call(*arguments, ok=True):
    result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
    if ok and result.exit_code:
        raise AssertionError(result.output) from result.exception
    return result


def test_from_training_to_predictions(folder):
    model = folder / "model.hssvm"
    trained = call("train", folder / "train.libsvm", "-o", model, "--C", 10, "--scale", "standard",
                   "--test", folder / "test.libsvm")  # fmt: skip
    assert "relative duality gap" in trained.output
    accuracy = float(re.search(r"accuracy ([\d.]+) on 200 rows", trained.output)[1])
    X, y = hssvm.io.load_data(folder / "train.libsvm", n_features=3)
    X_test, y_test = hssvm.io.load_data(folder / "test.libsvm", n_features=3)
    same = hssvm.SVC(C=10, scaling="standard", random_state=0).fit(X, y)
    assert accuracy == pytest.approx(same.score(X_test, y_test), abs=1e-4)
    labels = folder / "labels.txt"
    predicted = call("predict", model, folder / "test.libsvm", "-o", labels)
    assert f"accuracy {accuracy:.4f}" in predicted.output
    loaded = hssvm.load(model)
    assert loaded.C == 10
    assert loaded.scaling == "standard"
    assert np.mean(np.loadtxt(labels) == y_test) == pytest.approx(accuracy, abs=1e-4)
    values = call("predict", model, folder / "test.libsvm", "--values").stdout.splitlines()
    assert np.all(np.sign(np.array(values, float)) == np.loadtxt(labels))
    assert "rows" in call("info", model).output


def test_labels_that_are_words(folder):
    model = folder / "model.hssvm"
    call("train", folder / "train.csv", "-o", model, "--target", "where", "--quiet")
    lines = call("predict", model, folder / "test.csv").stdout.splitlines()
    X, y = hssvm.io.load_data(folder / "train.csv", target="where")
    X_test, _ = hssvm.io.load_data(folder / "test.csv", target="where")
    assert lines == list(hssvm.SVC(random_state=0).fit(X, y).predict(X_test))
    assert set(lines) == {"in", "out"}


def test_quantiles(folder):
    model, train = folder / "model.hssvm", folder / "train.csv"
    call("train", train, "-o", model, "--target", "where", "--scale", "learned-quantiles")
    loaded = hssvm.load(model)
    assert loaded.scaling == "learned-quantiles"
    assert loaded.feature_quantiles_.shape[:2] == (2, 3)
    assert "replaced by normal scores" in call("info", model).output


def test_regression_and_novelty(folder):
    X, y = hssvm.io.load_data(folder / "train.libsvm")
    X_test, y_test = hssvm.io.load_data(folder / "test.libsvm", n_features=3)
    regression = hssvm.SVR(C=0.1, random_state=0).fit(X, y).score(X_test, y_test)
    inside = np.mean(hssvm.OneClassSVM(nu=0.1, random_state=0).fit(X).predict(X_test) == 1)
    for task, option, words, score in (
        ("svr", "--C", "R^2", regression),
        ("one-class", "--nu", "share inside", inside),
    ):
        model = folder / f"{task}.hssvm"
        result = call("train", folder / "train.libsvm", "-o", model, "--task", task, option, 0.1,
                      "--test", folder / "test.libsvm")  # fmt: skip
        found = re.search(re.escape(words) + r" (-?[\d.]+)", result.output)[1]
        assert float(found) == pytest.approx(score, abs=2e-4)
    assert isinstance(hssvm.load(folder / "svr.hssvm"), hssvm.SVR)
    assert hssvm.load(folder / "one-class.hssvm").nu == 0.1


def test_quantiles_of_the_target(folder):
    model, values = folder / "quantiles.hssvm", folder / "quantiles.parquet"
    train, test = folder / "train.libsvm", folder / "test.libsvm"
    result = call("train", train, "-o", model, "--task", "quantile", "--quantile", "0.1,0.9",
                  "--test", test)  # fmt: skip
    X, y = hssvm.io.load_data(test, n_features=3)
    loaded = hssvm.load(model)
    loss = loaded.pinball_loss(loaded.predict(X), y)
    assert f"pinball loss {loss:.4f} on" in result.output
    call("predict", model, test, "-o", values)
    table = parquet.read_table(values)
    assert table.column_names == ["prediction_0.1", "prediction_0.9"]
    assert_allclose(np.stack(table.columns, axis=1), loaded.predict(X), rtol=1e-6)
    for wrong in ("0.5,1", "0", "half"):
        error = call("train", train, "--task", "quantile", "--quantile", wrong, ok=False).output
        assert "is not a number between 0 and 1" in " ".join(error.split())
    assert "not available for --task svr" in " ".join(
        call("train", train, "--task", "svr", "--quantile", "0.5", ok=False).output.split()
    )


def test_searched_quantiles(folder):
    model, train = folder / "best.hssvm", folder / "train.libsvm"
    result = call("cv", train, "--task", "quantile", "--quantile", "0.1,0.9", "--Cs", "0.1,1",
                  "--folds", 2, "--kernel", "rbf", "-o", model)  # fmt: skip
    assert "mean D^2" in result.output
    X, y = hssvm.io.load_data(train)
    loaded = hssvm.load(model)
    loss = loaded.pinball_loss(loaded.predict(X), y)
    assert f"pinball loss {loss:.4f} on" in call("predict", model, train, "-o", "-").output


def test_searched_regressions_are_scored(folder):
    model = folder / "best.hssvm"
    call("cv", folder / "train.libsvm", "--task", "svr", "--Cs", 1, "--folds", 2, "-o", model)
    X, y = hssvm.io.load_data(folder / "test.libsvm", n_features=3)
    score = hssvm.load(model).score(X, y)
    output = call("predict", model, folder / "test.libsvm", "-o", folder / "out").output
    assert f"R^2 {score:.4f} on" in output


def test_cross_validation(folder):
    model = folder / "best.hssvm"
    result = call("cv", folder / "train.libsvm", "--Cs", "0.01,1", "--gammas", "0.1,1", "-o", model)
    assert "best: C =" in result.output
    assert "C = 0.01" in result.output
    assert hssvm.load(model).C_ in (0.01, 1)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_cross_validation_of_several_classes(multi_class, folder, rng):
    X, model = rng.standard_normal((90, 2)), folder / "best.hssvm"
    np.savez(folder / "three.npz", X=X, y=np.digitize(X[:, 0], [-0.5, 0.5]))
    call("cv", folder / "three.npz", "--Cs", "1,10", "--gammas", 1, "--multi-class", multi_class,
         "-o", model)  # fmt: skip
    assert hssvm.load(model).multi_class_ == multi_class


@pytest.mark.parametrize(("task", "loss"), [("svc", "squared_hinge"), ("svr", "huber")])
def test_loss(task, loss, folder):
    model = folder / "model.hssvm"
    call("train", folder / "train.libsvm", "-o", model, "--task", task, "--loss", loss)
    X, y = hssvm.io.load_data(folder / "train.libsvm", n_features=3)
    kind = {"svc": hssvm.SVC, "svr": hssvm.SVR}[task]
    same = kind(loss=loss, random_state=0).fit(X, y)
    assert_allclose(hssvm.load(model).dual_coef_, same.dual_coef_)


def test_cross_validation_of_a_regression(folder):
    model = folder / "best.hssvm"
    result = call("cv", folder / "train.libsvm", "--task", "svr", "--Cs", "0.1,10", "--folds", 3,
                  "--scale", "standard", "--kernel", "rbf", "--epsilon", 0.1,
                  "-o", model)  # fmt: skip
    assert "mean R^2" in result.output
    assert re.search(
        r"\nR\^2 \S+ in 3 folds of 600 rows\nout-of-fold R\^2 \S+ on all rows\n", result.output
    )
    best = re.search(r"best: C = (\S+), gamma = (\S+)\n", result.output)
    loaded = hssvm.load(model)
    assert isinstance(loaded, hssvm.SVRCV)
    assert float(best[1]) == loaded.C_
    assert loaded.gamma_ == pytest.approx(float(best[2]), rel=1e-4)
    table = call("cv", folder / "train.libsvm", "--task", "svr", "--Cs", 1, "--folds", 2,
                 "--gammas", "0.1,1", "--scoring", "neg_mean_absolute_error").output  # fmt: skip
    assert "mean neg_mean_absolute_error" in table
    assert re.search(r"1\s+│ -0\.\d+", table)


def test_mean_of_several_models(folder, monkeypatch):
    best = "hssvm.model_selection.selection.choose_members"
    monkeypatch.setattr(best, lambda ranked, scores, score, count: ranked[:count])
    model = folder / "mean.hssvm"
    result = call("cv", folder / "train.csv", "--target", "where", "--Cs", 1, "--max-members", 2,
                  "-o", model)  # fmt: skip
    assert "\nmean of 2 models\n" in result.output
    assert len(hssvm.load(model).members_) == 2
    assert "mean of 2 models" in call("info", model).output
    accuracy = call("predict", model, folder / "test.csv", "--target", "where").output
    assert re.search(r"accuracy (0\.[89]|1\.0)", accuracy)


def test_scoring(folder):
    result = call("cv", folder / "train.libsvm", "--Cs", "1", "--gammas", 1, "--scoring", "roc_auc")
    assert "mean roc_auc" in result.output
    X, y = hssvm.io.load_data(folder / "train.libsvm")
    model = hssvm.SVCCV([1.0], gammas=[1.0], scoring="roc_auc", random_state=0).fit(X, y)
    assert f"{model.best_score_:.4f}" in result.output


@pytest.mark.parametrize("task", ["svc", "svr", "quantile", "one-class"])
def test_estimate(folder, task):
    result = call("estimate", folder / "train.libsvm", "--task", task)
    assert "estimate for 600 rows" in result.output
    assert "No problem expected." in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "broken", "-o", "no/m"),
        ("cv", "broken", "-o", "no/m"),
        ("predict", "broken", "broken", "-o", "no/m"),
        ("convert", "broken", "no/m"),
        ("convert", "broken", "m", "--range", "no/m"),
        ("export", "broken", "no/m.py"),
    ],
)
def test_outputs_are_checked_before_anything_is_read(arguments, tmp_path):
    (tmp_path / "broken").write_text("neither data nor a model\n")
    run = run_here(*arguments, cwd=tmp_path)
    assert run.returncode == 1
    assert run.stderr == f"hssvm: {tmp_path / 'no'} is not a folder; create it first\n"


@pytest.mark.parametrize("ending", [".csv", ".libsvm"])
def test_the_default_model_file(ending, folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    target = ["--target", "where"] if ending == ".csv" else []
    trained = call("train", folder / f"train{ending}", *target)
    assert re.search(r"model +│ train\.hssvm, ", trained.output)
    assert isinstance(hssvm.load("train.hssvm"), hssvm.SVC)


@pytest.mark.parametrize(
    ("data", "model"),
    [
        ("num.csv", "num.hssvm"), ("far/num.tsv.gz", "num.hssvm"), ("a9a", "a9a.hssvm"),
        ("a9a.train.xz", "a9a.hssvm"), ("rows.v2", "rows.v2.hssvm"), ("a.b.parquet", "a.b.hssvm"),
    ],
)  # fmt: skip
def test_names_of_default_model_files(data, model):
    assert str(default_model(Path(data))) == model


@pytest.mark.skipif(sys.platform == "win32", reason="there is no POSIX shell")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("predict model - --format csv <&-", "stdin is closed; redirect it, or name a file"),
        ("predict model train.csv >&-", "stdout is closed; redirect it, or name a file"),
        ("train train.csv --target where -o - >&-", "stdout is closed; redirect it, or name"),
        ("info - <&-", "stdin is closed; redirect it, or name a file"),
    ],
)
def test_closed_streams(command, message, folder):
    hssvm.SVC().fit(*hssvm.io.load_data(folder / "train.csv", target="where")).save(
        folder / "model"
    )
    run = subprocess.run(
        f'"{sys.executable}" -m hssvm {command}',
        shell=True,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"hssvm: {message}")
    assert run.stderr.count("\n") == 1


def test_features_among_two_billion(tmp_path, rng):
    """The memory of a command follows the nonzeros of LIBSVM text."""
    columns = np.sort(rng.choice(2**31 - 2, 40, replace=False)) + 1
    columns[-1] = 2**31 - 2
    X = rng.standard_normal((300, 40)) * (rng.random((300, 40)) < 0.3)
    X[0, -1] = 1.0
    lines = [
        f"{int(x.sum() > 0)} " + " ".join(f"{columns[j]}:{x[j]}" for j in np.flatnonzero(x))
        for x in X
    ]
    (tmp_path / "hashed.libsvm").write_text("\n".join(lines) + "\n")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
    if sys.platform != "linux":
        limit = ""
    for command in ("train hashed.libsvm -o m", "predict m hashed.libsvm -o labels.txt"):
        code = f"{limit}import sys; from hssvm.cli import main; sys.argv[1:] = {command.split()}"
        run = subprocess.run(
            [sys.executable, "-c", f"{code}; main()"], cwd=tmp_path, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
    assert float(re.search(r"accuracy ([\d.]+) on 300 rows", run.stderr)[1]) > 0.8


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_imports_little(command):
    code = (
        "import sys; from hssvm.cli import main\n"
        f"sys.argv[1:] = {[command, '--help'] if command else ['--help']}\n"
        "try:\n    main()\nfinally:\n"
        "    print({'numpy', 'scipy', 'sklearn', 'rich.markdown'} & sys.modules.keys())"
    )
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.splitlines()[-1] == "set()"


def shown_defaults(command):
    """Return the defaults that the help shows, by option; None if it shows none."""
    entries = re.split(r"\n  (?=-)", call(command, "--help").output.partition("Options:")[2])[1:]
    defaults = {}
    for entry in entries:
        names = re.findall(r"--[\w-]+", entry.strip().split("  ")[0])
        default = re.search(r"\[default: ([^;\]]*)", " ".join(entry.split()))
        defaults[names[0]] = None if default is None else default[1]
    return defaults


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_default(command):
    defaults = shown_defaults(command)
    options = [p for p in get_command(cli.app).commands[command].params if "--" in p.opts[0]]
    for option in options:
        assert option.is_flag or defaults[option.opts[0]] is not None, option.name


@pytest.mark.parametrize(
    ("command", "estimators"),
    [
        ("train", [hssvm.SVC, hssvm.SVR, hssvm.OneClassSVM]),
        ("cv", [hssvm.SVCCV, hssvm.SVRCV]),
        ("estimate", [hssvm.SVC, hssvm.SVR, hssvm.OneClassSVM]),
    ],
)
def test_shown_defaults_are_those_of_the_library(command, estimators):
    shown = shown_defaults(command)
    for estimator in estimators:
        for name, parameter in inspect.signature(estimator).parameters.items():
            default = parameter.default
            if OPTIONS.get(name) in shown and default is not None and default is not False:
                expected = {"auto"}
                if default != "auto":
                    expected = {str(default).removesuffix(".0")}
                by_task = shown[OPTIONS[name]].split(" or ")  # only --loss has two
                assert expected.intersection(by_task), name
                assert len(by_task) == 1 + (name == "loss"), name


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_enough(command):
    text = call(command, "--help").output
    assert "Usage" in text
    if command != "info":
        assert re.search(r"hssvm\s+" + command, text)


def hssvm_process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "hssvm", *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", "missing.libsvm", "-o", "m"), 1, "missing.libsvm"),
        (("train", "broken.libsvm", "-o", "m"), 1, "line 2"),
        (("train", "train.libsvm", "-o", "m", "--C", "0"), 1, "--C must be"),
        (("train", "train.libsvm", "-o", "m", "--max-time", "0"), 1, "--max-time must be"),
        (("train", "train.libsvm", "-o", "m", "--memory-limit", "1B"), 1, "--memory-limit"),
        (("train", "train.libsvm", "-o", "m", "--memory-limit", "1B"), 1, "lower --max-rank"),
        (("train", "train.libsvm", "-o", "m", "--memory-limit", "4"), 2, "--memory-limit: '4' is"),
        (("train", "train.libsvm", "-o", "m", "--gamma", "wide"), 2, "--gamma: 'wide' is not"),
        (
            ("train", "train.libsvm", "-o", "m", "--epsilon", "1"),
            2,
            "--epsilon: not available for --task svc",
        ),
        (("train", "train.libsvm", "-o", "m", "--loss", "huber"), 1, "--loss must be 'hinge' or"),
        (
            ("train", "train.csv", "-o", "m", "--target", "where", "--class-weight", "in"),
            2,
            "--class-weight: 'in'",
        ),
        (
            ("train", "train.csv", "-o", "m", "--target", "where", "--class-weight", "up=2"),
            2,
            "'up' is not a label",
        ),
        (("cv", "train.libsvm", "--Cs", "1,x"), 2, "--Cs: 'x' is not a positive number"),
        (("cv", "train.libsvm", "--gammas", "1,-2"), 2, "--gammas: '-2' is not"),
        (("cv", "train.libsvm", "--scoring", "luck"), 1, "'luck' is not a valid scoring"),
        (("train", "semicolon.csv", "-o", "m"), 1, "did you mean --separator ';'?"),
        (
            ("train", "large.csv", "-o", "m", "--target", "y"),
            1,
            "is too large for float32; use --double",
        ),
        (("train", "-", "-o", "m", "--test", "-"), 2, "only one input can be -"),
        (("train", "-", "--format", "csv"), 2, "name the model file, since stdin has no name"),
        (("train", "train.csv", "-o", "m"), 1, "by --target, one of 'a', 'b', 'c', 'where'"),
        (("cv", "train.csv", "-o", "m"), 1, "by --target, one of 'a', 'b', 'c', 'where'"),
        (("estimate", "train.csv"), 1, "by --target, one of 'a', 'b', 'c', 'where'"),
        (("train", "missing.libsvm", "-o", "m"), 1, "hssvm: no such file: missing.libsvm"),
        (("train", "train.libsvm", "-o", "m", "--test", "no"), 1, "hssvm: no such file: no"),
        (("predict", "missing.hssvm", "train.csv"), 1, "hssvm: no such file: missing.hssvm"),
        (("info", "train.libsvm"), 1, "train.libsvm"),
        (
            ("train", "sparse.libsvm", "-o", "m", "--scale", "quantiles"),
            1,
            "set --scale standard or --scale learned, or pass a CSV file",
        ),
    ],
)
def test_errors_a_script_can_rely_on(folder, arguments, code, message):
    (folder / "broken.libsvm").write_text("1 1:0.5\n1 1:x\n")
    (folder / "sparse.libsvm").write_text("".join(f"{i % 2} {i + 1}:0.5\n" for i in range(50)))
    (folder / "semicolon.csv").write_text("y;a\n1;0.5\n2;0.5\n")
    (folder / "large.csv").write_text("y,a\n1,1e300\n2,0.5\n")
    run = run_here(*arguments, cwd=folder)
    assert run.returncode == code
    assert message in " ".join(run.stderr.replace("│", " ").split())
    assert not (folder / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("info", "missing.hssvm"), 1, "missing.hssvm"),
        (("train", "-", "-o", "m"), 1, "pass --format libsvm or"),
        (("dance",), 2, "dance"),
    ],
)
def test_errors_of_a_process(tmp_path, arguments, code, message):
    process = hssvm_process(*arguments, cwd=tmp_path)
    _, errors = process.communicate("", timeout=120)
    assert process.returncode == code
    assert message in errors
    assert "Traceback" not in errors


def test_version_and_module():
    process = hssvm_process("--version")
    output, _ = process.communicate(timeout=60)
    assert (output, process.returncode) == (f"hssvm {hssvm.__version__}\n", 0)


def test_options_reach_the_estimator(folder):
    model = folder / "model.hssvm"
    call("train", folder / "train.csv", "-o", model, "--target", "where", "--kernel", "poly",
         "--degree", 2, "--coef0", 1.5, "--class-weight", "in=2,out=1", "--threads", 1)  # fmt: skip
    loaded = hssvm.load(model)
    assert (loaded.degree, loaded.coef0, loaded.class_weight) == (2, 1.5, {"in": 2.0, "out": 1.0})
    call("train", folder / "train.libsvm", "-o", model, "--class-weight", "1=3,-1=1")
    assert hssvm.load(model).class_weight == {1.0: 3.0, -1.0: 1.0}
    call("train", folder / "train.libsvm", "-o", model, "--class-weight", "balanced")
    assert hssvm.load(model).class_weight == "balanced"


def test_threads(folder, monkeypatch):
    """As many as asked for, in the fit itself."""
    seen = []
    original = hssvm.SVC.fit

    def fit(self, *args, **kwargs):
        seen.append({pool["num_threads"] for pool in _openmp().info()})
        return original(self, *args, **kwargs)

    monkeypatch.setattr(hssvm.SVC, "fit", fit)
    for threads in (1, 3):
        call("train", folder / "train.libsvm", "-o", folder / "m", "--threads", threads)
    assert seen == [{1}, {3}]


def test_sample_weights_are_a_column(folder, rng):
    lines = (folder / "train.csv").read_text().splitlines()
    weights = rng.uniform(0, 2, len(lines) - 1).round(3)
    rows = [f"{line},{w}" for line, w in zip(lines, ["w", *weights], strict=True)]
    (folder / "weighted.csv").write_text("\n".join(rows) + "\n")
    model = folder / "model.hssvm"
    call("train", folder / "weighted.csv", "-o", model, "--target", "where", "--gamma", 1,
         "--sample-weight", "w")  # fmt: skip
    X, y = hssvm.io.load_data(folder / "train.csv", target="where")
    expected = hssvm.SVC(gamma=1, random_state=0).fit(X, y, sample_weight=weights)
    loaded = hssvm.load(model)
    assert loaded.n_features_in_ == 3
    assert_allclose(loaded.dual_coef_, expected.dual_coef_, rtol=1e-3, atol=1e-3)
    result = call("predict", model, folder / "weighted.csv", "-o", folder / "labels")
    assert "ignored 'w'" in result.output


def test_one_class_has_no_labels(folder):
    X, _ = hssvm.io.load_data(folder / "train.csv", target="where")
    np.savetxt(folder / "rows.csv", X, delimiter=",", header="a,b,c", comments="")
    model = folder / "model.hssvm"
    call("train", folder / "rows.csv", "-o", model, "--task", "one-class", "--nu", 0.1)
    assert hssvm.load(model).n_features_in_ == 3
    output = call("predict", model, folder / "rows.csv").output
    share = float(re.search(r"share inside ([\d.]+)", output)[1])
    assert share == pytest.approx(0.9, abs=0.05)  # rounding decides on free support vectors
