"""What the agent asks, and a question on its screen; which key does what is each CLI's own. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.steps import GateKind, Option

DEFAULT_OPTIONS = (Option("Yes"), Option("Yes, and always allow it in this project"), Option("No"))


@dataclass(frozen=True)
class Choice:
    """Pick one option, or several with `multi`; a free text is an answer too. Without options: words only."""

    question: str
    header: str
    options: tuple[Option, ...]
    multi: bool = False

    @property
    def has_previews(self) -> bool:
        return any(option.preview for option in self.options)


@dataclass(frozen=True)
class Several:
    """More than one question in one dialog."""

    parts: tuple[Choice, ...]


@dataclass(frozen=True)
class Consent:
    """May this command run, or this file be written?"""

    command: str
    description: str
    options: tuple[Option, ...] = DEFAULT_OPTIONS
    file: str = ""  # it writes this file; the command is its content


@dataclass(frozen=True)
class PlanApproval:
    """May this plan be carried out?"""

    plan: str


@dataclass(frozen=True)
class Gate:
    """What the CLI itself wants to know before it begins; a no ends it."""

    kind: GateKind


Asked: TypeAlias = Choice | Several | Consent | PlanApproval | Gate


@dataclass(frozen=True)
class Answer:
    """`labels` is empty when the user declined; `ends_turn` says whether the agent stops there."""

    labels: tuple[str, ...] = ()
    ends_turn: bool = False
    parts: tuple[tuple[str, ...], ...] = ()  # of several questions: the labels of each
    notes: tuple[str, ...] = ()  # where a CLI takes a note beside a choice: one for each question
    by: str = field(default="", compare=False)  # the hook that gave it, instead of a person
    chosen: str = field(default="", compare=False)  # of a permission: the option's label

    @property
    def declined(self) -> bool:
        return not (self.labels or self.parts)

    @property
    def text(self) -> str:
        if self.parts:
            return "; ".join(", ".join(labels) for labels in self.parts)
        return ", ".join(self.labels)

    def of(self, place: int) -> str:
        """What was answered to one of the questions."""
        labels = self.parts[place] if self.parts else self.labels
        note = self.notes[place] if place < len(self.notes) else ""
        return ", ".join(labels) + (f" ({note})" if note else "")


@dataclass(frozen=True)
class Part:
    """What one question holds so far."""

    chosen: tuple[int, ...] = ()  # rows, in the order of picking
    typed: str = ""
    is_answered: bool = False


@dataclass(frozen=True)
class Dialog:
    """A question on the screen. `position` counts its questions; the number of them is the review."""

    asked: Asked
    focus: int = 0
    position: int = 0
    parts: tuple[Part, ...] = field(default=())
    is_typing: bool = False  # a field of its own has the keyboard

    @property
    def questions(self) -> tuple[Choice, ...]:
        match self.asked:
            case Choice():
                return (self.asked,)
            case Several(parts):
                return parts
            case _:
                return ()

    @property
    def question(self) -> Choice:
        return self.questions[min(self.position, len(self.questions) - 1)]

    @property
    def is_reviewing(self) -> bool:
        return bool(self.questions) and self.position >= len(self.questions)

    def part(self, place: int) -> Part:
        return self.parts[place] if place < len(self.parts) else Part()

    @property
    def here(self) -> Part:
        return self.part(self.position)

    def holding(self, part: Part) -> Dialog:
        """The dialog with `part` as what its present question holds."""
        parts = [self.part(place) for place in range(max(len(self.questions), self.position + 1))]
        parts[self.position] = part
        return replace(self, parts=tuple(parts))

    def toggled(self, row: int) -> Dialog:
        chosen = self.here.chosen
        after = tuple(other for other in chosen if other != row) if row in chosen else (*chosen, row)
        return self.holding(replace(self.here, chosen=after))

    def at(self, position: int) -> Dialog:
        """The same dialog, turned to another of its questions, or to the review."""
        return replace(self, position=position, focus=0, is_typing=False)


def digit(key: Key) -> int | None:
    """The row that a digit names, from 0."""
    is_digit = key.name == "text" and key.text in tuple("123456789")
    return int(key.text) - 1 if is_digit else None


def is_writing(key: Key) -> bool:
    return key.name in {"text", "paste", "newline", "backspace", "ctrl-u"}


def edited(typed: str, key: Key) -> str:
    """The words in a field after a key."""
    match key.name:
        case "backspace":
            return typed[:-1]
        case "ctrl-u":
            return ""
        case "newline":
            return typed + "\n"
        case _:
            return typed + key.text


def moved(dialog: Dialog, key: Key, rows: int) -> Dialog:
    step = 1 if key.name == "down" else -1
    return replace(dialog, focus=max(0, min(rows - 1, dialog.focus + step)))


def consent_word(options: tuple[Option, ...], row: int) -> str:
    """What an option of a permission means: the first says yes, a No says no, all others change what is asked."""
    if options[row].label.startswith(("No", "Don't")):
        return "no"
    return "yes" if row == 0 else "always"


def consent_answer(consent: Consent, row: int) -> Answer:
    word = consent_word(consent.options, row)
    return Answer((word,), ends_turn=word == "no", chosen=consent.options[row].label)


def answer_from_line(asked: Asked, line: str | None) -> Answer:
    """The answer in one line of text, for an agent without a terminal; no line or a blank one declines."""
    said = (line or "").strip()
    match asked:
        case Consent(options=options):
            row = int(said) - 1 if said.isascii() and said.isdigit() else -1
            word = consent_word(options, row) if 0 <= row < len(options) else said.lower()
            word = word if word in {"yes", "always"} else "no"
            return Answer((word,), ends_turn=word == "no")
        case Several(parts):
            words = [part.strip() for part in said.split(";")] if said else []
            if len(words) != len(parts):
                return Answer(ends_turn=True)
            return Answer(parts=tuple(_picked(part, word) for part, word in zip(parts, words, strict=True)))
        case Choice():
            return Answer(_picked(asked, said)) if said else Answer(ends_turn=True)
        case PlanApproval():
            return Answer((said,)) if said else Answer(ends_turn=True)
        case Gate():
            return Answer(("yes",)) if said.lower() == "yes" else Answer(ends_turn=True)


def _picked(asked: Choice, said: str) -> tuple[str, ...]:
    labels = {option.label.casefold(): option.label for option in asked.options}
    labels.update({str(index): option.label for index, option in enumerate(asked.options, start=1)})
    parts = [part.strip() for part in said.split(",")] if asked.multi else [said]
    return tuple(dict.fromkeys(labels.get(part.casefold(), part) for part in parts if part)) or (said,)
