"""How a question is worded, as its likeness to questions that people decide themselves is told by. Pure.

The gate's second opinion on prose: rules know the words that their writers thought of. It can only make things stricter.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Question
from maestro.coordinate.gate.folding import fold_text
from maestro.likeness import Likeness, Weights, liken, neighbours

GRAVE: Final = "grave"
HARMLESS: Final = "a harmless one"  # sorts before GRAVE, which is the one that is weighed

_LONGEST: Final = 4_000  # of a part
_WORD: Final = re.compile(r"[^\W_]+(?:'[a-z]+)?|[?@|>$&;-]+")
_STEM: Final = 5
# Words that every sentence has: alone or among themselves they tell how somebody writes, not what is asked.
_COMMON_WORDS: Final = (
    "a an and are as at be by for from has have i if in is it its me my no not of on or our so that the their them then "
    "there they this to up us we what when which who will with you your do does did should shall can could would may "
    "might want like need ok okay yes all any now just also one two 0 ? - ; ^ $ & > @ | let's i'd i'll it's"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def features(question: Question, proposed: str) -> list[str]:
    """The words, pairs and stems of all that is asked, offered and proposed; each part for itself."""
    found: list[str] = []
    for part in _parts(question, proposed):
        words = ["0" if word.isdigit() else word for word in _WORD.findall(fold_text(part[:_LONGEST]))]
        found += [feature for feature in neighbours(words) if not _COMMON.issuperset(feature.split())]
        found += [f"{word[:_STEM]}~" for word in words if len(word) > _STEM]
    return found


def how_grave(question: Question, proposed: str, weights: Weights) -> Likeness | None:
    """How much it is like a question that people decide themselves, and by which words; None if it is not."""
    found = liken(features(question, proposed), weights)
    return found if found is not None and found.name == GRAVE else None


def _parts(question: Question, proposed: str) -> list[str]:
    options = " . ".join(f"{option.label} {option.description}".strip() for option in question.options)
    inner = [text for part in question.parts for text in _parts(part, "")]
    return [question.text, options, question.preamble, question.detail, proposed, *inner]
