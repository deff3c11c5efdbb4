"""Fitted models: their attributes, files, exports, and models with fewer support vectors."""
