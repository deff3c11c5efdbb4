"""What several test modules share; `reference` has the naive versions of the mathematics."""
