"""Exact solutions.

`route` trains a model, `parts` solves the parts of a problem at the same time, `solver` solves one
of them, and `folds` trains the models that leave out a fold.
"""
