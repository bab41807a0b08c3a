"""Maestro: one coordinator for every coding agent that you run."""

__version__ = "0.1.0"
