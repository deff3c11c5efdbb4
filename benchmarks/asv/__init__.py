"""Small workloads for asv (airspeed velocity), which runs them at many commits and draws the times.

    pip install --group asv
    asv run --config benchmarks/asv/asv.conf.json HEAD~5..HEAD
    asv publish --config benchmarks/asv/asv.conf.json    # the page is in build/asv/html

It builds each commit; ``asv run --quick --python=same`` runs each workload once in the present
environment. A workload draws its rows from a generator with a fixed seed, and takes less than two
seconds on one thread.
"""
