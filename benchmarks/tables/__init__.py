"""hssvm beside tools for tables: the 63 tables of PMLB and data sets with at most 100 features."""
