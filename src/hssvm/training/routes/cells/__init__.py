"""Exact solutions within the cells of one or several trees.

`route` trains the trees, and `solve` solves the problems of the cells of one tree.
"""
