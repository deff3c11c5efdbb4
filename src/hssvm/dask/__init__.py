"""Training on the workers of a Dask cluster.

The rows go from the *pieces* they are stored in to one *part* per worker; the driver never holds
any. Everything is a future that Dask can compute again if a worker is lost: tasks have no side
effects, and the same seed gives the same result.

Reading order: `pieces` (what may be trained on), `moments`, `sample` and `description` (one pass
over all pieces), `cuts` (the top of the cluster tree), `plan` (both together), `shuffle` (the
second pass: rows to their parts).
"""
