"""Claude Code's dialogs: which key does what, until it is an answer. Pure."""

from __future__ import annotations

from dataclasses import replace

from maestro.testing.scripted_agent.dialog import (
    Answer,
    Asked,
    Consent,
    Dialog,
    Gate,
    PlanApproval,
    consent_answer,
    digit,
    edited,
    is_writing,
    moved,
)
from maestro.testing.scripted_agent.keys import Key

TYPE_SOMETHING = "Type something"
CHAT = "Chat about this"
SUBMIT = "Submit"
NEXT = "Next"
AMENDABLE = ("Yes", "No")
PLAN_OPTIONS = ("Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change")
BARE_PLAN_OPTIONS = ("Yes, and switch to default (ask each time) for this session", "No")
# None of these rows has a digit, and the first is where the cursor is.
GATE_ROWS = {
    "trust": ("No, exit", "Yes, I trust this folder"),
    "bypass": ("No, exit", "Yes, I accept"),
    "key": ("Yes", "No (recommended)"),
    "hooks": ("No, exit", "Yes"),
}


def opened(asked: Asked) -> Dialog:
    is_on_no = isinstance(asked, Gate) and asked.kind == "key"
    return Dialog(asked, focus=1 if is_on_no else 0)


def rows(dialog: Dialog) -> tuple[str, ...]:
    """What the cursor can be on, from the top."""
    match dialog.asked:
        case Consent(options=options):
            return tuple(option.label for option in options)
        case PlanApproval(plan):
            return PLAN_OPTIONS if plan else BARE_PLAN_OPTIONS
        case Gate(kind):
            return GATE_ROWS[kind]
    if dialog.is_reviewing:
        return ("Submit answers", "Cancel")
    question = dialog.question
    labels = tuple(option.label for option in question.options)
    if question.has_previews:
        return (*labels, CHAT)
    if question.multi:
        is_last = dialog.position == len(dialog.questions) - 1
        return (*labels, TYPE_SOMETHING, SUBMIT if is_last else NEXT, CHAT)
    return (*labels, TYPE_SOMETHING, CHAT)


def is_on_text_row(dialog: Dialog) -> bool:
    match dialog.asked:
        case PlanApproval(plan):
            return bool(plan) and dialog.focus == 2
        case Consent() | Gate():
            return False
    is_field = not (dialog.is_reviewing or dialog.question.has_previews)
    return is_field and dialog.focus == len(dialog.question.options)


def picked(dialog: Dialog, place: int) -> tuple[str, ...]:
    """What a question holds now: in the order of picking, the free text last."""
    options, part = dialog.questions[place].options, dialog.part(place)
    labels = tuple(options[row].label for row in part.chosen if row < len(options))
    return (*labels, part.typed) if len(options) in part.chosen and part.typed else labels


def press(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name == "esc":
        return Answer(ends_turn=True)
    if key.name in {"up", "down"}:
        return replace(moved(dialog, key, len(rows(dialog))), is_typing=False)
    match dialog.asked:
        case Gate():
            return _press_in_gate(dialog, key)
        case Consent():
            return _press_in_consent(dialog, dialog.asked, key)
        case PlanApproval():
            return _press_in_plan(dialog, dialog.asked, key)
    if dialog.is_reviewing:
        return _press_in_review(dialog, key)
    turned = _turned(dialog, key)
    if turned is not None:
        return turned
    if is_on_text_row(dialog) and is_writing(key):
        return _typed(dialog, key)
    if dialog.question.has_previews:
        return _press_in_previews(dialog, key)
    return _press_in_multi(dialog, key) if dialog.question.multi else _press_in_single(dialog, key)


def _press_in_gate(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name != "enter":
        return dialog
    says_yes = rows(dialog)[dialog.focus].startswith("Yes")
    return Answer(("yes",)) if says_yes else Answer(ends_turn=True)


def _press_in_consent(dialog: Dialog, asked: Consent, key: Key) -> Dialog | Answer:
    """A plain Yes or No can be amended: Tab opens a field in it, and Enter says both."""
    can_amend = rows(dialog)[dialog.focus] in AMENDABLE
    if key.name == "tab":
        return replace(dialog, is_typing=not dialog.is_typing and can_amend)
    if dialog.is_typing and is_writing(key):
        return dialog.holding(replace(dialog.here, typed=edited(dialog.here.typed, key)))
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None or row >= len(asked.options):
        return dialog
    answer = consent_answer(asked, row)
    words = dialog.here.typed.strip() if dialog.is_typing else ""
    # Who says what to do instead does not end the turn.
    return replace(answer, notes=(words,), ends_turn=False) if words else answer


def _press_in_plan(dialog: Dialog, asked: PlanApproval, key: Key) -> Dialog | Answer:
    if is_on_text_row(dialog) and is_writing(key):
        return dialog.holding(replace(dialog.here, typed=edited(dialog.here.typed, key)))
    row = dialog.focus if key.name == "enter" else digit(key)
    labels = rows(dialog)
    if row is None or row >= len(labels):
        return dialog
    if not asked.plan:
        return Answer(("yes",)) if row == 0 else Answer(("no",), ends_turn=True)
    if row < 2:
        return Answer(("yes", labels[row]))
    words = dialog.here.typed.strip()
    return Answer((words,)) if key.name == "enter" and words else replace(dialog, focus=2)


def _turned(dialog: Dialog, key: Key) -> Dialog | None:
    """Between the tabs of a dialog that has them; in the field, the arrows move in its words."""
    has_tabs = len(dialog.questions) > 1 or dialog.question.multi
    in_words = is_on_text_row(dialog) and bool(dialog.here.typed) and key.name in {"left", "right"}
    if not has_tabs or in_words:
        return None
    if key.name in {"right", "tab"}:
        return dialog.at(dialog.position + 1)
    if key.name in {"left", "btab"}:
        return dialog.at(max(0, dialog.position - 1))
    return None


def _press_in_previews(dialog: Dialog, key: Key) -> Dialog | Answer:
    row = digit(key)
    options = len(dialog.question.options)
    if row is not None:
        return replace(dialog, focus=row) if row < options else dialog
    if key.name != "enter":
        return dialog
    return _chosen(dialog, dialog.focus) if dialog.focus < options else Answer()


def _press_in_single(dialog: Dialog, key: Key) -> Dialog | Answer:
    text_row = len(dialog.question.options)
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None and key.name in {"text", "paste"}:
        return _typed(replace(dialog, focus=text_row), key)
    if row is None or row >= len(rows(dialog)):
        return dialog
    if row < text_row:
        return _chosen(dialog, row)
    if row > text_row:
        return Answer()
    if key.name == "enter" and dialog.here.typed.strip():
        return _chosen(dialog, row)
    return replace(dialog, focus=text_row)


def _press_in_multi(dialog: Dialog, key: Key) -> Dialog | Answer:
    text_row = len(dialog.question.options)
    row = digit(key)
    if row is not None:
        if row == text_row + 1:  # Submit has no digit, so the row after the free text is the chat
            return Answer()
        return dialog.toggled(row) if row <= text_row else dialog
    if key.name != "enter":
        return dialog
    if dialog.focus <= text_row:
        return dialog.toggled(dialog.focus)
    return dialog.at(dialog.position + 1) if dialog.focus == text_row + 1 else Answer()


def _chosen(dialog: Dialog, row: int) -> Dialog | Answer:
    """A single choice was made: the answer, or the next of several questions."""
    held = dialog.holding(replace(dialog.here, chosen=(row,), is_answered=True))
    if len(dialog.questions) == 1:
        return Answer(tuple(word.strip() for word in picked(held, 0)))
    return held.at(dialog.position + 1)


def _press_in_review(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name in {"left", "btab"}:
        return dialog.at(len(dialog.questions) - 1)
    row = dialog.focus if key.name == "enter" else digit(key)
    answers = tuple(picked(dialog, place) for place in range(len(dialog.questions)))
    if row == 0 and any(answers):
        return Answer(answers[0]) if len(answers) == 1 else Answer(parts=answers)
    return Answer(ends_turn=True) if row == 1 else dialog


def _typed(dialog: Dialog, key: Key) -> Dialog:
    question = dialog.question
    words = edited(dialog.here.typed, key)
    held = dialog.holding(replace(dialog.here, typed=words))
    text_row = len(question.options)
    if not question.multi or bool(words) == (text_row in held.here.chosen):
        return held
    return held.toggled(text_row)
