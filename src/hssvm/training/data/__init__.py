"""Rows and targets: scaling, widths, moments, precision, checks of data against parameters."""
