"""The chart of the first page shows the results in the repository."""

import importlib.util

import pytest

from benchmarks.results import ROOT

pytest.importorskip("matplotlib")


@pytest.fixture
def hero():
    spec = importlib.util.spec_from_file_location("hero", ROOT / "docs/figures/hero.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_was_drawn_from_the_results(hero):
    from PIL import Image

    with Image.open(hero.PICTURE) as picture:
        assert picture.text["Comment"] == hero.digest(hero.seconds())


def test_labels_have_the_ratio_at_the_last_common_size(hero):
    from matplotlib import pyplot as plt

    ours, theirs = {10: 1.0, 100: 2.0, 1000: 9.0}, {10: 1.0, 100: 14.0, 1000: None}
    figure = hero.draw(dict(zip(hero.LINES, (theirs, ours, ours), strict=True)))
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels[0] == "scikit-learn\n7 times as long\nwith 100 rows"
    plt.close(figure)
