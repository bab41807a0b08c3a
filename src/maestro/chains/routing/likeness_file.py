"""The table of how intents are worded, which comes with the package."""

from __future__ import annotations

from importlib.resources import files

from maestro.likeness import Weights, parse_weights


def load_weights() -> Weights:
    return parse_weights((files("maestro.chains.routing") / "likeness.tsv").read_text(encoding="utf-8"))
