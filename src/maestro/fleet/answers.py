"""Pure: what a person or a coordinator wrote, as an answer to the question that is open.

`Choose 2`               the second option, by its key
`Choose 2: because …`    the same with words beside it, where the CLI takes them
`Choose 1, 3`            several options of a multiple choice
`Red, Blue`              the same, by their labels
anything else            words, where the question takes words; or the label of an option
Several questions take one line each, or one part each between semicolons.
"""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Answer, Question
from maestro.errors import InvalidInput

_CHOOSE: Final = re.compile(
    r"choose\s+(\d{1,4}(?:(?:\s*(?:[,&]|and)\s*|\s+)\d{1,4})*)\s*(?:[:.-]\s*(.*))?", re.IGNORECASE | re.DOTALL
)
_NUMBER: Final = re.compile(r"\d+")
_PART: Final = re.compile(r"\s*(?:\d+\s*[=)]\s*)?")


def parse_answer(text: str, question: Question) -> Answer:
    """The answer that this text is. Raises InvalidInput for one that the question does not take."""
    words = text.strip()
    if not words:
        raise InvalidInput("The answer is empty.", hint=_how(question))
    if question.kind == "several" and len(question.parts) > 1:
        return _several(words, question)
    return _one(words, question.parts[0] if question.kind == "several" and question.parts else question)


def _several(text: str, question: Question) -> Answer:
    lines = [line for line in text.splitlines() if line.strip()]
    said = lines if len(lines) > 1 else [part for part in text.split(";") if part.strip()]
    if len(said) != len(question.parts):
        raise InvalidInput(
            f"{len(question.parts)} questions are asked, and {len(said)} answered.",
            hint="Answer each on a line of its own, or between semicolons: `Choose 2; Choose 1, 3; words`.",
        )
    parts = tuple(
        _one(_PART.sub("", answer, count=1).strip(), part)
        for answer, part in zip(said, question.parts, strict=True)
    )
    return Answer(parts=parts)


def _one(words: str, question: Question) -> Answer:
    chosen = _CHOOSE.fullmatch(words)
    if chosen and not question.options and not question.text:
        # A part of several that was not on the screen yet: its own dialog will say whether it takes this.
        if chosen[2]:
            raise InvalidInput(
                "Words beside an option need the question on the screen, and this one is not there yet.",
                hint="Choose without words: `Choose 2`.",
            )
        return Answer(choices=tuple(dict.fromkeys(int(n) for n in _NUMBER.findall(chosen[1]))))
    if chosen and question.options:
        return _chosen([int(n) for n in _NUMBER.findall(chosen[1])], (chosen[2] or "").strip(), question)
    label = words.casefold()
    for number, option in enumerate(question.options, 1):
        if option.label.casefold() == label and not option.is_free_text:
            return Answer(choices=(number,))
    if question.kind == "multi_choice" and (ticked := _labelled(label, question)):
        return Answer(choices=ticked)
    if question.kind == "free_text" or question.free_text is not None or not question.options:
        return Answer(text=words)
    raise InvalidInput("It takes one of its options, and no words.", hint=_how(question))


def _labelled(said: str, question: Question) -> tuple[int, ...]:
    """The options whose labels, with commas between them, are all that is said. A label may have a comma itself."""
    labels = {
        option.label.casefold(): number
        for number, option in enumerate(question.options, 1)
        if not option.is_free_text
    }
    pieces = [piece.strip() for piece in said.removesuffix(".").split(",")]
    numbers: list[int] = []
    while pieces:
        taken = next((n for n in range(len(pieces), 0, -1) if ", ".join(pieces[:n]) in labels), 0)
        if not taken:
            return ()
        numbers.append(labels[", ".join(pieces[:taken])])
        pieces = pieces[taken:]
    return tuple(dict.fromkeys(numbers))


def _chosen(numbers: list[int], reason: str, question: Question) -> Answer:
    for number in numbers:
        if not 1 <= number <= len(question.options):
            raise InvalidInput(f"It has no option {number}.", hint=_how(question))
    if len(numbers) > 1 and question.kind != "multi_choice":
        raise InvalidInput("It takes one option, not several.", hint=_how(question))
    free = question.free_text
    for number in numbers:
        if question.options[number - 1].is_free_text and not reason:
            raise InvalidInput(f"Option {number} takes words.", hint=f"`Choose {number}: your words`")
    ticked = tuple(dict.fromkeys(n for n in numbers if not question.options[n - 1].is_free_text))
    if not ticked:
        return Answer(text=reason)
    takes = (
        free is not None if question.kind == "multi_choice" else question.options[ticked[0] - 1].takes_notes
    )
    if reason and not takes:
        raise InvalidInput(
            f"Option {ticked[0]} takes no words beside it.",
            hint=f"`Choose {', '.join(map(str, ticked))}` alone, then the words as a prompt"
            + ("; or words in place of an option." if free is not None else "."),
        )
    return Answer(choices=ticked, text=reason)


def _how(question: Question) -> str:
    if not question.options:
        return "Answer in words."
    shown = "; ".join(f"{number} {option.label}" for number, option in enumerate(question.options, 1))
    return f"Choose N: {shown}."
