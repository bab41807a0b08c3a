"""The table of how grave questions are worded, which comes with the package: read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from maestro.likeness import Weights, parse_weights


@cache
def wording() -> Weights:
    return parse_weights((files("maestro.coordinate.gate") / "likeness.tsv").read_text(encoding="utf-8"))
