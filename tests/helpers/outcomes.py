"""What becomes of a changed file: it is refused by a ValueError that names it, or it is usable."""

import warnings

import numpy as np
import scipy.sparse

import hssvm
from hssvm.io import load_data


def model_outcome(path, load=hssvm.load):
    """Load a model, and use it; its numbers may be anything."""
    try:
        model = load(path)
    except ValueError as error:
        assert_names(path, error)
        return "refused"
    # sparse, as a file may say that it has 2**31 - 1 features
    X = scipy.sparse.csr_array(
        ([1.5, 0.5, -1.0], ([0, 1, 2], [0, 0, 0])), (4, model.n_features_in_)
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        labels = model.predict(X)
        assert model.summary() and repr(model)
        if getattr(model, "calibration_", None) is not None:
            assert model.predict_proba(X).shape == (4, model.classes_.size)
        if getattr(model, "nonconformity_scores_", None) is not None:
            predict = getattr(model, "predict_set", None) or model.predict_interval
            assert len(predict(X)) == 4
    assert len(labels) == 4
    if hasattr(model, "classes_"):
        assert np.isin(labels, model.classes_).all()
    if hasattr(model, "feature_names_in_"):
        assert model.feature_names_in_.shape == (model.n_features_in_,)
    return "loaded"


def pipeline_outcome(path, X):
    """Load a pipeline of an encoder and a model, and predict the rows of a frame."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = hssvm.load(path)
        except ValueError as error:
            assert_names(path, error)
            return "refused"
        try:
            assert model.predict(X).shape == (len(X),)
        except ValueError as error:
            assert "column" in str(error)
            return "refused"
    return "loaded"


def data_outcome(path, **options):
    """Read rows and labels."""
    try:
        X, y = load_data(path, **options)
    except ValueError as error:
        assert_names(path, error)
        return "refused"
    assert X.shape[0] > 0 and (y is None or y.shape == X.shape[:1])
    if scipy.sparse.issparse(X):
        X.check_format()
        assert X.has_canonical_format
    assert np.isfinite(X.data if scipy.sparse.issparse(X) else X).all()
    return "loaded"


def assert_names(path, error):
    """Assert that an error names the file, and that it does not hide a lack of memory."""
    assert str(path) in str(error)
    while error is not None:
        assert not isinstance(error, MemoryError)
        error = error.__cause__ or error.__context__
