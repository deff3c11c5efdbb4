"""Rows and targets: scaling, moments, precision, and checks of data against the parameters."""
