"""Forests of cells on Dask: the same model, bit for bit, as on one machine.

Every tree has its own cuts. The workers find the top levels of all trees together, with the exact
medians that one machine would find. Then the rows of each tree move to the workers of their
subtrees, which need nothing from each other. Reading order::

    blocks          the rows in their order, one block per worker
    medians         exact medians of rows that are in several blocks
    tops            the cuts of the top levels of all trees, level by level
    train           the cells of one subtree, a task
    fit             all stages of a fit, on the driver
    model           decision values; the model on one machine
"""
