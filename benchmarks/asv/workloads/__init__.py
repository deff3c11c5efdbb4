"""Each ``time_`` function is a workload; ``setup`` is not timed."""
