"""Saving and loading of models, in files of plain arrays that contain no code.

A file is a zip archive like NumPy's ``.npz``, which `numpy.load` can open. Arrays that become
smaller are compressed. One member is ``model.json``::

    format, version, hssvm    "hssvm model", and the versions of the format and of hssvm
    class, parameters         "SVC", and the arguments of its constructor
    kernel                    the kernel with the parameters used in the fit
    predictor                 "leafwise", "expansion" or "pairwise" (one-vs-one)
    rows, n_features          "dense", "csr_array" or "csr_matrix", and the number of columns of X
    feature_names             list of str, or null
    target_name               target column: its name or index, or null
    data_checksum             checksum of the training data, to resume a fit, or null
    forest                    what identifies the trees of a forest that can grow, or null
    attributes, fit_report    the small fitted attributes, such as classes_ and intercept_

The others are arrays, for n rows that are needed for prediction, and k columns::

    X           (n, p), or X_data, X_indices and X_indptr
    W           (n, k)               weights of the rows
    support     (n,)                 indices of the rows, if these are the support vectors; not
                                     for models from LIBSVM, whose reports have 0 rows
    counts      (k + 1,)             number of rows of each class, if pairwise
    background  (b, p)               rows that explanations compare with, or background_data,
                                     background_indices and background_indptr; may be missing
    background_weight   (b,)         their weights, of sum 1

A leafwise model has t trees of depth d, which use m rows in all::

    W           (m, k)               weights of the rows, tree by tree and leaf by leaf
    rows        (m,)                 indices of these rows in X
    ends        (t, 2**d + 1)        offsets of the leaves among the rows of a tree
    directions  (t, 2**d - 1, p)     the cuts of the trees. For sparse rows with more than 8192
                                     columns, p is 8192: see `hssvm.hss.hashing`
    thresholds  (t, 2**d - 1)
    intercepts  (t, k)
    dual_coef   (k, s)               if the fit was stopped early, with support (s,)
    ids         (n,)                 then also the indices of X among the training rows

The core does not check these arrays, so all counts and indices are validated against each other
before a model is created.

To change the format: increment `VERSION` in `model`, keep reading the old versions, and add files
of the new version to ``tests/persistence/stored``. ``model.json`` must remain an uncompressed
member with format, version and hssvm, so that old readers can report a newer version. A new
parameter of an estimator does not change the format: it has its default if a file lacks it.

`archive` reads and writes such files; `replace` replaces a file only when the new one is complete;
`plain` converts Python values to JSON and back, `predictors` predictors to arrays and back; `model`
has `write_model` and `read_model`; `libsvm` is for the files of LIBSVM. This package does not know
the estimators: ``hssvm.estimators.models.saving`` defines what they store, and ``hssvm.loading``
creates them from files.
"""

from hssvm.persistence.model import as_corruption, read_model, write_model

__all__ = ["as_corruption", "read_model", "write_model"]
