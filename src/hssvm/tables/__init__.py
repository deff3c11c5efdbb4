"""Data frames with text, categories, dates and missing values, encoded as numbers for a kernel."""

from hssvm.tables.encoder import TableEncoder

__all__ = ["TableEncoder"]
