import pytest
import scipy.sparse

from benchmarks.dual import dual_of
from benchmarks.peers import exact
from benchmarks.results import Results
from hssvm import SVC, SVR
from hssvm.kernels import Gaussian

PARAMETERS = {"C": 10.0, "gamma": 1.0}


@pytest.mark.parametrize("kind", ["two classes", "sparse", "three classes", "regression"])
def test_the_command(kind, disks, waves, run_command, monkeypatch):
    data, parameters = disks(3 if kind == "three classes" else 2), PARAMETERS
    if kind == "regression":
        data, parameters = waves, {**PARAMETERS, "epsilon": 0.1}
    if kind == "sparse":
        X, y, X_test, y_test = data
        data = scipy.sparse.csr_array(X), y, scipy.sparse.csr_array(X_test), y_test
    monkeypatch.setattr(exact, "load_problem", lambda name, changed: (data, parameters))
    monkeypatch.setattr(exact, "SHORT", ["any"])
    results, tables = run_command(exact, "any", "--repeats", 2)
    ours, theirs = (exact.best(results, "any", tool) for tool in (exact.OURS, exact.LIBSVM))
    assert float(ours["dual"]) == pytest.approx(float(theirs["dual"]), rel=2e-3)
    assert 80 < ours["score"] <= 100
    assert exact.key_of("any", exact.OURS, 1) in results.runs
    assert exact.key_of("any", exact.LIBSVM, 1) not in results.runs
    size = {"sparse": " CSR", "three classes": ", 3 classes"}.get(kind, "")
    assert tables["fits"].splitlines()[2].startswith(f"| any, 400 x 2{size}, C = 10, gamma = 1")
    assert tables["short"].splitlines()[2].startswith("| any (400 x 2) | ")


def test_the_dual_objective_of_a_model_is_the_one_that_it_reports(disks, waves):
    kernel = Gaussian(1.0)
    X, y, *_ = disks(3)
    model = SVC(**PARAMETERS, multi_class="ovo", random_state=0).fit(X, y)
    assert dual_of(model, kernel, X, y) == pytest.approx(model.certify(X, y).dual.sum(), rel=1e-5)
    X, y, *_ = waves
    model = SVR(**PARAMETERS, epsilon=0.1, random_state=0).fit(X, y)
    assert dual_of(model, kernel, X, y, 0.1) == pytest.approx(model.certify(X, y).dual, rel=1e-5)


@pytest.fixture
def results(tmp_path):
    """Of scikit-learn-intelex, the second run is faster; scikit-learn is stopped."""
    results = Results(tmp_path / "results.json")
    size = {"rows": 1000, "features": 2, "sparse": False, "classes": 2, "parameters": {"C": 1.0}}
    ours = {**size, "fit": 2.0, "predict": 3.0, "score": 91.0, "dual": "99.9", "wall": 6.0}
    theirs = {"fit": 20.0, "predict": 1.5, "score": 90.5, "dual": "100", "wall": 24.0}
    results.add(exact.key_of("a9a", exact.OURS, 0), ours)
    results.add(exact.key_of("a9a", exact.INTEL, 0), theirs)
    results.add(exact.key_of("a9a", exact.LIBSVM, 0), {"stopped": 60.0, "wall": 60.0})
    results.add(exact.key_of("a9a", exact.INTEL, 1), {**theirs, "fit": 10.0})
    return results


def test_tables(results):
    assert exact.fits_table(results).splitlines()[2] == (
        "| a9a, 1,000 x 2, C = 1 | 2 s | 5 x | > 28 x | 3 µs | 0.5 x | - | 91.00 | 90.50 | 1e-03 |"
    )
    assert exact.short_table(results).splitlines()[2:] == [
        "| a9a (1,000 x 2) | 2 | 10 (5 x) | > 56 (> 28 x) | 91.00 |"
    ]


def test_what_was_stopped_or_is_not_installed_is_not_repeated(results, monkeypatch):
    tried = []

    def attempt(limit, tool, run, name, _):
        tried.append(tool)
        return {"error": "not installed"} if tool == exact.INTEL else {"fit": 1.0}

    monkeypatch.setattr(exact, "attempt", attempt)
    arguments = type("Arguments", (), {"names": ["ijcnn1"], "repeats": 3, "limit": 60})
    exact.run_all(results, arguments)
    assert tried == [exact.OURS, exact.INTEL, exact.LIBSVM, exact.OURS, exact.OURS]
