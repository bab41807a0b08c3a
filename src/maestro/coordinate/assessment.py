"""Pure: what a model answered, as an assessment. Whatever it is not sure to mean is a failure, and decides nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from maestro.coordinate import Assessment, Case, Spent
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer
from maestro.redact import clean, fold, redact

LONGEST_ANSWER: Final = 500
NO_CATEGORY: Final = "none"  # said, and not only left out
_LONGEST_REASONING: Final = 1_000
_LONGEST_FAILURE: Final = 400
_LONGEST_TEXT: Final = 20_000
_LONGEST_CATEGORY: Final = 100
_MOST_CATEGORIES: Final = 20

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "string",
            "description": "What shall be typed: `Choose 2`, `Choose 1, 3`, or short words. Empty: no answer.",
        },
        "confidence": {
            "type": "number",
            "description": "From 0 to 1, that the human would give this very answer.",
        },
        "categories": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Those of the listed categories that the question, an option or the answer touches; `none` where it touches none.",
        },
        "canBeUndone": {
            "type": "boolean",
            "description": "Whether all that the answer lets happen can be taken back without loss.",
        },
        "reasoning": {"type": "string", "description": "One or two sentences for the human."},
    },
    "required": ["answer", "confidence", "categories", "canBeUndone", "reasoning"],
    "additionalProperties": False,
}

_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


class _Told(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    answer: str
    confidence: float
    categories: list[str]
    can_be_undone: bool
    reasoning: str


def failed(brain: str, why: str, spent: Spent = Spent()) -> Assessment:  # noqa: B008 - it is frozen
    """A brain that could not say anything. Its reason may hold words of a model or of a CLI."""
    return Assessment(brain=brain, failed=_shown(why, _LONGEST_FAILURE) or "It gave no reason.", spent=spent)


def parse_assessment(text: str, brain: str, case: Case, spent: Spent) -> Assessment:
    if len(text) > _LONGEST_TEXT:
        return failed(brain, f"Its answer has {len(text)} characters.", spent)
    told = _told(text)
    if isinstance(told, str):
        return failed(brain, told, spent)
    if not 0.0 <= told.confidence <= 1.0:
        return failed(brain, f"A confidence of {told.confidence:g} is not between 0 and 1.", spent)
    answer = told.answer.strip()
    if fault := answer_fault(answer, case):
        return failed(brain, fault, spent)
    named = _categories(told.categories)
    if not named:
        return failed(brain, f"It names neither a category nor “{NO_CATEGORY}”.", spent)
    return Assessment(
        brain=brain,
        answer=answer,
        confidence=told.confidence,
        categories=tuple(name for name in named if name.casefold() != NO_CATEGORY),
        can_be_undone=told.can_be_undone,
        reasoning=_shown(told.reasoning, _LONGEST_REASONING),
        spent=spent,
    )


def answer_fault(answer: str, case: Case) -> str:
    """Why this cannot be typed as an answer to the case's question; nothing if it can, or if there is none."""
    if not answer:
        return ""
    if len(answer) > LONGEST_ANSWER:
        return f"Its answer has {len(answer)} characters; {LONGEST_ANSWER} are the most."
    if clean(answer) != answer:
        return "Its answer holds control characters."
    if redact(answer) != answer:
        return "Its answer holds what could be a secret."
    try:
        parse_answer(answer, case.asked)
    except InvalidInput as error:
        return f"Its answer does not fit the question: {error.message}"
    return ""


def _told(text: str) -> _Told | str:
    words = text.strip()
    if fenced := _FENCED.fullmatch(words):
        words = fenced[1]
    try:
        return msgspec.json.decode(words.encode("utf-8", "replace"), type=_Told)
    except (msgspec.MsgspecError, RecursionError) as error:
        return f"It did not answer with the one JSON object: {error}."


def _categories(told: list[str]) -> tuple[str, ...]:
    names = (_shown(name, _LONGEST_CATEGORY) for name in told[:_MOST_CATEGORIES])
    return tuple(dict.fromkeys(name for name in names if name))


def _shown(text: str, most: int) -> str:
    shown = fold(redact(clean(text)))
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
