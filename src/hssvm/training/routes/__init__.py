"""The ways from a problem to a model; the plan of a fit chooses one.

::

    exact      on the exact kernel, from 0 or from the last fit
    refined    on the exact kernel, from a solution on the compressed one
    forest     on one or several compressed kernels, and the mean of the models
    cells      on the exact kernel within the cells of one or several trees, and the mean
"""
