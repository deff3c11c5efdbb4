"""Saved models: one file of plain arrays, which holds no code and runs none.

The file is a zip archive like NumPy's ``.npz``, with uncompressed members, and `numpy.load` opens
it too. One member is ``model.json``::

    format, version, hssvm    "hssvm model", the version of the format, that of the writer
    class, parameters         "SVC", and what its constructor takes
    kernel                    the kernel as used
    predictor                 "leafwise" or "expansion"
    rows, n_features          "dense", "csr_array" or "csr_matrix", and columns of X
    feature_names             list of str, or null
    target_name               column of the labels: its name, or a number; optional
    data_checksum             of the training data, to resume a fit; optional
    attributes, fit_report    the small fitted attributes, such as classes_ and intercept_

The others are arrays, with n the rows that predict, k columns, and depth d of the tree::

    X    (n, p), or X_data, X_indices and X_indptr
    W    (n, k)                  their weights
    support     (n,)             numbers of the rows, where these are the support vectors
    dual_coef   (k, s)           of a leaf-wise model that ended early, with support of shape (s,)
    ends        (2**d + 1,)      ends of the leaves in X, if leaf-wise
    directions  (2**d - 1, p)    the cuts of the tree, if leaf-wise; of sparse rows with more than
                                 8192 columns, on so many hashed ones: see `hssvm.hss.hashing`
    thresholds  (2**d - 1,)

The core reads these arrays as they are, so everything that counts or points is checked against
everything else before a model is made of it.

When the format changes: add 1 to `VERSION` in `model`, go on reading the old versions, and add
files of the new one to those in ``tests/persistence/stored``. ``model.json`` stays an uncompressed
member with format, version and hssvm, so that old readers can say what is new. A new parameter of
an estimator, or a new figure of the report, is no change: where the file lacks it, the default is
taken.

`archive` reads and writes such files, whatever is in them; `replace` puts a complete file in the
place of an old one; `plain` turns Python values into JSON and back; `predictors` turns predictors
into arrays and back; `model` is `save_model` and `load`. What a class keeps is its own business:
see ``hssvm.estimators.saving``.
"""

from hssvm.persistence.model import load, save_model

__all__ = ["load", "save_model"]
