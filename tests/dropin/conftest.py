import pytest

from hssvm.dropin import decision, fallback


@pytest.fixture
def few_rows(monkeypatch):
    """Let hssvm fit and predict few rows, too."""
    monkeypatch.setattr(fallback, "MIN_ROWS", dict.fromkeys(fallback.MIN_ROWS, 0))
    monkeypatch.setattr(decision, "MIN_VALUES", 0)
