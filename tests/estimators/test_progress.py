"""Progress of a fit: on stderr, in a notebook, and its events."""

import html
import io
import logging
import re
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.processes import run_python

from hssvm import HSS, SVCCV, SVR
from hssvm.estimators.monitoring.notebook import View, in_notebook
from hssvm.progress import (
    Gap,
    Progress,
    SearchRound,
    Share,
    StageBegan,
    StageEnded,
    emit,
    listening,
    show_log,
    tell,
)

FIT = """
import numpy as np
from hssvm import HSS, SVC, SVR
rng = np.random.default_rng({seed})
X = rng.standard_normal((3000, 4))
y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(3000) > 0
"""


class Collect:
    def __init__(self):
        self.progress, self.seen = Progress(), []

    def __call__(self, event):
        self.progress.update(event)
        self.seen.append((self.progress.stage, self.progress.done, self.progress.gap))


@pytest.fixture
def collected():
    return Collect()


def data(rng, n):
    X = rng.standard_normal((n, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0


def test_every_stage_of_a_fit_moves(rng, collected):
    with listening(collected):
        SVR(C=10.0, refine=True, approximation=HSS(max_rank=8)).fit(*data(rng, 3000))
    seen = collected.seen
    stages = list(dict.fromkeys(stage for stage, *_ in seen if stage))
    assert stages == ["tree", "compress", "solve", "refine", "finish"]
    assert list(collected.progress.seconds) == stages
    for name in ("tree", "compress", "solve", "refine"):
        done = [done for stage, done, _ in seen if stage == name]
        assert done[0] == 0
        assert done == sorted(done)
        assert 0 < done[-1] <= 1
    for name in ("solve", "refine"):
        gaps = [gap for stage, _, gap in seen if stage == name]
        assert np.isinf(gaps[0])
        assert np.isfinite(gaps[-1])


def test_folds_are_a_stage(rng, collected):
    with listening(collected):
        SVCCV(Cs=[1.0]).fit(*data(rng, 400))
    assert "folds" in collected.progress.seconds


def test_a_search_tells_its_rounds(rng, collected):
    X, y = data(rng, 4000)
    search = SVCCV(Cs=[0.1, 1.0], gammas=[0.1, 1.0], cv=3, scaling=None)
    with listening(collected):
        search.fit(X, y)
    results = search.cv_results_
    assert len(collected.progress.rounds) == results["iter"].max() + 1 == 2
    for i, text in collected.progress.rounds.items():
        scores = np.where(results["iter"] == i, results["mean_test_score"], -np.inf)
        shown = re.fullmatch(
            r"round (\d) of 2, ([\d,]+) rows: (\d) candidates?, best score (\S+) at "
            r"rbf, C=(\S+), gamma=(\S+)",
            text,
        )
        index, n_rows, count, score, C, gamma = (float(g.replace(",", "")) for g in shown.groups())
        assert (index, count) == (i + 1, np.count_nonzero(np.isfinite(scores)))
        assert n_rows == pytest.approx(results["n_resources"][scores.argmax()], rel=0.01)
        assert score == pytest.approx(scores.max(), abs=1e-4)
        at = [p == {"C": C, "gamma": gamma} for p in results["params"]]
        assert scores[at].max() == pytest.approx(scores.max())


def test_kernels_without_gamma_have_rounds(rng, collected):
    with listening(collected):
        SVCCV(Cs=[0.1, 1.0], kernel="linear", cv=3).fit(*data(rng, 200))
    assert re.search(r" at linear, C=\S+$", collected.progress.rounds[0])


def test_time_left_is_at_the_pace_so_far(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    progress = Progress()
    progress.update(StageBegan("factor"))
    assert progress.seconds_left is None
    now[0] = 6.0
    progress.update(Share(0.75))
    assert progress.seconds_left == pytest.approx(2)
    progress.update(StageEnded("factor", 8.0))
    assert progress.seconds == {"factor": 8.0}
    assert progress.seconds_left is None
    progress.update(StageBegan("solve", 1e-4))
    for gap in (1e-1, 1e-2, 1e-3, 3e-3, 1e-5):
        progress.update(Gap(1, gap))
    assert progress.done == 1
    progress.update(StageBegan("solve"))
    progress.update(Gap(1, 0.0))
    assert progress.done == 0


def test_the_view_of_a_progress():
    progress = Progress()
    view = View(progress)
    progress.update(StageBegan("solve", 1e-3))
    for gap in (1e-1, 1e-2):
        progress.update(Gap(1, gap))
    assert repr(view).startswith("solve    ██████████░░░░░░░░░░ 50%, gap 1.0e-02, about 0 s left")
    assert '<progress value="0.500" max="1">' in view._repr_html_()
    view.ended = True
    assert repr(view).startswith("stopped during solve")
    progress.update(StageEnded("solve", 1.25))
    assert repr(view).endswith("s in all: solve 1.25")
    assert "<progress" not in view._repr_html_()


def test_the_view_of_a_search():
    progress = Progress()
    view = View(progress)
    for i in (0, 0, 1):
        progress.update(StageBegan("folds", 1e-3))
        progress.update(SearchRound(i, f"round {i + 1}: C < 3"))
    assert repr(view).splitlines()[1:] == ["round 1: C < 3", "round 2: C < 3"]
    assert "\nround 1: C &lt; 3\nround 2: C &lt; 3</pre>" in view._repr_html_()
    progress.update(StageEnded("folds", 1.25))
    view.ended = True
    assert repr(view).startswith("round 1: C < 3\nround 2: C < 3\n")
    assert repr(view).endswith("s in all: folds 1.25")


def run(code, *, seed):
    return run_python(FIT.format(seed=seed) + textwrap.dedent(code))


@pytest.mark.slow
def test_a_script_gets_a_line_per_stage(rng):
    ran = run("SVR(refine=True, verbose=1).fit(X, y)", seed=rng.integers(1000))
    words = [line.split(":")[0] for line in ran.stderr.splitlines()]
    stages = ["tree", "compress", "solve", "refine", "finish"]
    assert words == [f"[hssvm] {stage}" for stage in stages]
    detailed = run("SVR(refine=True, verbose=2).fit(X, y)", seed=rng.integers(1000)).stderr
    for part in ("iteration 10: largest gap", "round 1: ", "factor: level 0", "solve begins"):
        assert f"[hssvm] {part}" in detailed
    assert run("SVR(refine=True).fit(X, y)", seed=rng.integers(1000)).stderr == ""
    direct = run("SVC(refine=True, verbose=1).fit(X, y)", seed=rng.integers(1000)).stderr
    assert direct.startswith("[hssvm] solve: ") and direct.count("\n") == 1


def test_a_long_stage_shows_a_step_now_and_then(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    stream = io.StringIO()
    restore = show_log(logging.StreamHandler(stream), logging.INFO)
    try:
        for now[0] in np.arange(0.0, 20.0):
            emit(Gap(int(now[0]), 0.1), "second %d", now[0])
        emit(StageEnded("solve", 20.0), "solve")
        emit(StageBegan("finish"), "finish")
    finally:
        restore()
    assert stream.getvalue().split("\n") == ["second 5", "second 10", "second 15", "solve", ""]


def test_fits_in_other_threads_have_their_own_listeners(rng):
    X, y = data(rng, 400)
    ready = threading.Barrier(2)

    def fit(C):
        events = []
        with listening(events.append):
            ready.wait(10)
            SVCCV(Cs=[C], kernel="rbf", scaling=None).fit(X, y)
            ready.wait(10)
        return [event.text for event in events if isinstance(event, SearchRound)]

    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(fit, [0.25, 4.0]))
    for texts, C in zip(told, ("0.25", "4"), strict=True):
        assert texts
        assert all(f" at rbf, C={C}, " in text for text in texts)


def test_what_a_listener_fits_is_not_heard(rng):
    X, y = data(rng, 100)
    heard = []

    def listener(event):
        heard.append(event)
        SVR().fit(X, y)

    with listening(listener):
        tell(Share(0.5))
        tell(Share(1.0))
    assert heard == [Share(0.5), Share(1.0)]


def test_this_is_no_notebook():
    assert not in_notebook()


def test_a_terminal_with_ipython_is_no_notebook(rng):
    pytest.importorskip("IPython")
    ran = run(
        """
        from IPython.core.interactiveshell import InteractiveShell
        InteractiveShell.instance()
        SVC(verbose=1).fit(X[:500], y[:500])
        """,
        seed=rng.integers(1000),
    )
    assert "[hssvm] solve: " in ran.stderr


@pytest.fixture
def notebook(rng, tmp_path):
    """Run code in a kernel; return the outputs of its cell, and the messages that made them."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")

    def run_cell(code):
        messages = []

        class Client(nbclient.NotebookClient):
            def process_message(self, msg, cell, cell_index):
                messages.append((msg["msg_type"], msg["content"]))
                return super().process_message(msg, cell, cell_index)

        cell = nbformat.v4.new_code_cell(
            FIT.format(seed=rng.integers(1000)) + textwrap.dedent(code)
        )
        notebook = nbformat.v4.new_notebook(cells=[cell])
        resources = {"metadata": {"path": str(tmp_path)}}
        Client(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
        return cell.outputs, messages

    return run_cell


def test_a_notebook_shows_one_bar_and_no_log(notebook):
    outputs, messages = notebook(
        """
        from hssvm.estimators.monitoring import notebook
        notebook.UPDATE_INTERVAL = 0
        SVR(C=10.0, refine=True, approximation=HSS(max_rank=8), verbose=1).fit(X, y)
        None
        """
    )
    assert [output["output_type"] for output in outputs] == ["display_data"]
    shown = [content["data"] for kind, content in messages if kind == "update_display_data"]
    assert len({data["text/plain"] for data in shown}) > 10
    for stage in ("tree", "compress", "solve", "refine", "finish"):
        assert any(data["text/plain"].startswith(stage) for data in shown)
    assert any("<progress value=" in data["text/html"] for data in shown)
    assert shown[-1] == outputs[0]["data"]
    assert re.fullmatch(
        r"\d+.\d+ s in all: tree .*, solve .*, refine .*, finish .*", shown[-1]["text/plain"]
    )


def test_a_notebook_keeps_warnings_and_what_the_program_has_set_up(notebook):
    outputs, _ = notebook(
        """
        import logging
        logger = logging.getLogger("hssvm")
        before = logger.level, logger.propagate, list(logger.handlers)

        def kernel(A, B):
            logging.getLogger("hssvm.own").warning("beware")
            raise OSError("no kernel today")

        try:
            SVC(kernel=kernel, approximation=HSS(), verbose=1).fit(X, y)
        except OSError as error:
            print(error)
        print(before == (logger.level, logger.propagate, list(logger.handlers)))
        logger.addHandler(logging.StreamHandler())
        SVC(verbose=1).fit(X[:500], y[:500])
        None
        """
    )
    displays = [output for output in outputs if output["output_type"] == "display_data"]
    streams = {"stdout": "", "stderr": ""}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] += output["text"]
    assert len(displays) == 1
    assert displays[0]["data"]["text/plain"].startswith("stopped during ")
    assert streams["stdout"] == "no kernel today\nTrue\n"
    before, after = streams["stderr"].split("solve: ", 1)
    assert re.fullmatch(r"(beware\s+)+(\d+ steps: gap \S+\s+)*", before)
    assert after


def test_a_notebook_shows_the_rounds_of_a_search(notebook):
    outputs, messages = notebook(
        """
        from hssvm import SVCCV
        SVCCV(Cs=[0.1, 1.0], gammas=[0.1, 1.0], cv=2, verbose=1).fit(X, y)
        None
        """
    )
    assert [output["output_type"] for output in outputs] == ["display_data"]
    shown = [content["data"] for kind, content in messages if kind == "update_display_data"]
    for data in (shown[-2], shown[-1]):
        assert "round 1 of 1, 3,000 rows: 4 candidates, best score 0." in data["text/plain"]
    assert "best score" in shown[-1]["text/html"]


def test_a_notebook_and_a_terminal_show_the_lines_of_a_summary(notebook):
    code = """
        model = SVC().fit(X[:200], y[:200])
        report = model.fit_report_.summary()
        assert model.summary() == f"{model}\\n{report}" and repr(report) == report
        assert isinstance(report, str) and str(report) == report
        model.summary()
    """
    outputs, _ = notebook(code)
    assert [output["output_type"] for output in outputs] == ["execute_result"]
    shown = outputs[0]["data"]
    lines = shown["text/plain"].splitlines()
    assert lines[:2] == ["SVC()", "data       200 rows, 4 features, 2 classes"]
    assert shown["text/html"] == f"<pre>{html.escape(shown['text/plain'])}</pre>"
