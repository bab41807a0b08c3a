"""The built-in categories in words, all of them. Pure data."""

from __future__ import annotations

from typing import Final

from maestro.coordinate.gate.category import Category
from maestro.coordinate.gate.inside_words import INSIDE
from maestro.coordinate.gate.outside_words import OUTSIDE

BUILT_IN: Final[tuple[Category, ...]] = (*INSIDE, *OUTSIDE)
