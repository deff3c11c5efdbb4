"""Model files of LIBSVM, the text that ``svm-train`` writes and ``svm-predict`` reads.

A header, and a line for each support vector, with its coefficients and its features from 1 on::

    svm_type c_svc               or nu_svc, one_class, epsilon_svr, nu_svr
    kernel_type rbf              or linear, polynomial, with degree, gamma and coef0 as needed
    gamma 0.5
    nr_class 2                   also for regression and one_class
    total_sv 3
    rho 0.25                     minus the intercept, of every pair of classes
    label 1 -1                   classifiers only, like the next three
    probA -2.5                   optional: P(first label) = 1 / (1 + exp(probA f + probB))
    probB 0.1
    nr_sv 1 2                    number of support vectors of each class
    SV
    1 1:0.5 3:2
    -0.75 2:-1
    -0.25

The decision value f of two classes is positive for the *first* label; in scikit-learn and `hssvm`,
it is positive for the last. With k classes, the pairs are (0, 1), (0, 2), ..., and support
vectors have k - 1 coefficients, packed as in `hssvm.problems.PairsProblem`. Labels are in the order
of their first occurrence in the training data; `classes` sorts them, as `classes_` must be sorted.

`contents` has the content of a file as an object, which `read` and `write` convert from and to
text. ``hssvm.loading.libsvm`` creates an estimator from it, and ``hssvm.estimators.models.libsvm``
makes one from an estimator. `scale` writes the range file of ``svm-scale`` for models that scale
their features.
"""

from hssvm.persistence.libsvm.classes import with_order
from hssvm.persistence.libsvm.contents import LibsvmModel
from hssvm.persistence.libsvm.read import read_libsvm
from hssvm.persistence.libsvm.scale import write_range
from hssvm.persistence.libsvm.write import write_libsvm

__all__ = ["LibsvmModel", "read_libsvm", "with_order", "write_libsvm", "write_range"]
