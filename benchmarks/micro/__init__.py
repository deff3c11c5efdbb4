"""Costs of the engine's own steps."""
