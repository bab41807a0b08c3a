"""A question on the agent's screen: which key does what, until it is an answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.steps import PERMISSION_ANSWERS, Option

TYPE_SOMETHING = "Type something"
CHAT = "Chat about this"
SUBMIT = "Submit"


@dataclass(frozen=True)
class Choice:
    """Pick one option, or several with `multi`; a free text is an answer too."""

    question: str
    header: str
    options: tuple[Option, ...]
    multi: bool = False


@dataclass(frozen=True)
class Consent:
    """May this command run?"""

    command: str
    description: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Answer:
    """`labels` is empty when the user declined; `ends_turn` says whether the agent stops there."""

    labels: tuple[str, ...] = ()
    ends_turn: bool = False

    @property
    def declined(self) -> bool:
        return not self.labels

    @property
    def text(self) -> str:
        return ", ".join(self.labels)


@dataclass(frozen=True)
class Dialog:
    asked: Choice | Consent
    focus: int = 0
    chosen: tuple[int, ...] = ()
    typed: str = ""
    reviewing: bool = False

    @property
    def rows(self) -> tuple[str, ...]:
        labels = tuple(option.label for option in self.asked.options)
        if isinstance(self.asked, Consent):
            return labels
        if self.asked.multi:
            return (*labels, TYPE_SOMETHING, SUBMIT, CHAT)
        return (*labels, TYPE_SOMETHING, CHAT)

    @property
    def on_text_row(self) -> bool:
        return self.rows[self.focus] == TYPE_SOMETHING and self.focus == len(self.asked.options)

    @property
    def picked(self) -> tuple[str, ...]:
        """What a multi-select holds now, in the order of picking, the free text last."""
        options = self.asked.options
        labels = tuple(options[row].label for row in self.chosen if row < len(options))
        return (*labels, self.typed) if len(options) in self.chosen and self.typed else labels


def press(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name == "esc":
        return Answer(ends_turn=True)
    if dialog.reviewing:
        return _press_in_review(dialog, key)
    if key.name in {"up", "down"}:
        step = 1 if key.name == "down" else -1
        return replace(dialog, focus=max(0, min(len(dialog.rows) - 1, dialog.focus + step)))
    if isinstance(dialog.asked, Consent):
        return _press_in_consent(dialog, key)
    if dialog.on_text_row and key.name in {"text", "paste", "backspace", "ctrl-u"}:
        return _type(dialog, key, is_multi=dialog.asked.multi)
    if dialog.asked.multi:
        return _press_in_multi(dialog, key)
    return _press_in_single(dialog, key)


def _digit(key: Key) -> int | None:
    """The row that a digit names, from 0."""
    is_digit = key.name == "text" and key.text in "123456789"
    return int(key.text) - 1 if is_digit else None


def _press_in_consent(dialog: Dialog, key: Key) -> Dialog | Answer:
    row = dialog.focus if key.name == "enter" else _digit(key)
    if row is None or row >= len(dialog.rows):
        return dialog
    return consent_answer(PERMISSION_ANSWERS[row])


def consent_answer(word: str) -> Answer:
    return Answer((word,), ends_turn=word == "no")


def _press_in_single(dialog: Dialog, key: Key) -> Dialog | Answer:
    row = dialog.focus if key.name == "enter" else _digit(key)
    if row is None or row >= len(dialog.rows):
        return dialog
    text_row = len(dialog.asked.options)
    if row < text_row:
        return Answer((dialog.rows[row],))
    if row > text_row:
        return Answer()
    if key.name == "enter" and dialog.typed.strip():
        return Answer((dialog.typed.strip(),))
    return replace(dialog, focus=text_row)


def _press_in_multi(dialog: Dialog, key: Key) -> Dialog | Answer:
    text_row = len(dialog.asked.options)
    digit = _digit(key)
    if digit is not None:
        if digit == text_row + 1:  # Submit has no digit, so the row after the free text is the chat
            return Answer()
        return _toggle(dialog, digit) if digit <= text_row else dialog
    if key.name == "right":
        return replace(dialog, reviewing=True, focus=0)
    if key.name != "enter":
        return dialog
    if dialog.focus <= text_row:
        return _toggle(dialog, dialog.focus)
    if dialog.rows[dialog.focus] == SUBMIT and dialog.focus == text_row + 1:
        return replace(dialog, reviewing=True, focus=0)
    return Answer()


def _toggle(dialog: Dialog, row: int) -> Dialog:
    if row in dialog.chosen:
        return replace(dialog, chosen=tuple(other for other in dialog.chosen if other != row))
    return replace(dialog, chosen=(*dialog.chosen, row))


def _press_in_review(dialog: Dialog, key: Key) -> Dialog | Answer:
    match key.name:
        case "up" | "down":
            return replace(dialog, focus=1 if key.name == "down" else 0)
        case "left":
            return replace(dialog, reviewing=False, focus=0)
    row = dialog.focus if key.name == "enter" else _digit(key)
    if row == 0 and dialog.picked:
        return Answer(dialog.picked)
    return Answer(ends_turn=True) if row == 1 else dialog


def _type(dialog: Dialog, key: Key, *, is_multi: bool) -> Dialog:
    match key.name:
        case "backspace":
            typed = dialog.typed[:-1]
        case "ctrl-u":
            typed = ""
        case _:
            typed = dialog.typed + " ".join(key.text.splitlines())
    text_row = len(dialog.asked.options)
    if not is_multi or bool(typed) == (text_row in dialog.chosen):
        return replace(dialog, typed=typed)
    return _toggle(replace(dialog, typed=typed), text_row)


def answer_from_line(asked: Choice | Consent, line: str | None) -> Answer:
    """The answer in one line of text, for an agent without a terminal; no line or a blank one declines."""
    said = (line or "").strip()
    if isinstance(asked, Consent):
        row = int(said) - 1 if said in {"1", "2", "3"} else -1
        word = PERMISSION_ANSWERS[row] if row >= 0 else said.lower()
        return consent_answer(word if word in PERMISSION_ANSWERS else "no")
    if not said:
        return Answer(ends_turn=True)
    labels = {option.label.casefold(): option.label for option in asked.options}
    labels.update({str(index): option.label for index, option in enumerate(asked.options, start=1)})
    parts = [part.strip() for part in said.split(",")] if asked.multi else [said]
    return Answer(
        tuple(dict.fromkeys(labels.get(part.casefold(), part) for part in parts if part)) or (said,)
    )
