"""Data sets: where they are published, and the cache that the benchmarks read.

`sets` and tables.tsv list them, `fetch` downloads them, `formats` reads what the publishers offer,
and `cache` reads and writes the files that all benchmarks use. rows.sha256 has the SHA-256 of the
rows in each of these files, as `cache.digest` defines it: whatever format and compression a set
comes in, and whoever serves it, the benchmarks run on the same numbers.
"""
