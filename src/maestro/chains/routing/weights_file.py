"""Reads the table of words that comes with the package."""

from __future__ import annotations

from importlib.resources import files

from maestro.chains.routing.weights import Weights, parse_weights


def load_weights() -> Weights:
    return parse_weights((files("maestro.chains.routing") / "words.tsv").read_bytes())
