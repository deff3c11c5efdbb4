"""A drop-in for `sklearn.svm`: scikit-learn's classes, trained on the exact kernel by hssvm.

`patch_sklearn` replaces `SVC`, `NuSVC`, `SVR`, `NuSVR` and `OneClassSVM` of `sklearn.svm` by the
drop-ins in `classes`; `script` does so for a program. The drop-ins are subclasses of scikit-learn's
classes, with the same parameters, validation and fitted attributes. A fit has these stages::

    fallback      is there a reason to leave this fit to scikit-learn?
    duals         the duals of LIBSVM, as problems of hssvm
    exact, nu     solve them, to the tolerance of LIBSVM
    expansion     the result in the layout of LIBSVM

`decision` computes decision values with the products of hssvm. The kernel is always the exact one.
A log message of level INFO says whether a fit falls back.
"""

from hssvm.dropin.classes import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from hssvm.dropin.patch import patch_sklearn, unpatch_sklearn

__all__ = ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "patch_sklearn", "unpatch_sklearn"]
