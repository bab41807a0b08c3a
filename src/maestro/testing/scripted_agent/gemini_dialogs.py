"""Gemini CLI's dialogs: which key does what, until it is an answer. Pure."""

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
from maestro.testing.scripted_agent.steps import Option

ALL = "All of the above"
CUSTOM = "Enter a custom value"
DONE = "Done"
FEEDBACK = "Type your feedback..."
PLAN_OPTIONS = (
    Option("Yes, automatically accept edits", "Approves plan and allows tools to run automatically"),
    Option("Yes, manually accept edits", "Approves plan but requires confirmation for each tool"),
)
ALLOW = ("Allow once", "Allow for this session")
REFUSE = "No, suggest changes (esc)"
GATE_ROWS = ("Trust folder", "Trust parent folder", "Don't trust")


def opened(asked: Asked) -> Dialog:
    if isinstance(asked, Consent):
        labels = (*ALLOW, *(["Modify with external editor"] if asked.file else []), REFUSE)
        asked = replace(asked, options=tuple(Option(label) for label in labels))
    return Dialog(asked)


def rows(dialog: Dialog) -> tuple[str, ...]:
    match dialog.asked:
        case Consent(options=options):
            return tuple(option.label for option in options)
        case Gate():
            return GATE_ROWS
        case PlanApproval():
            return (*(option.label for option in PLAN_OPTIONS), FEEDBACK)
    question = dialog.question
    labels = tuple(option.label for option in question.options)
    if dialog.is_reviewing or not labels:
        return ()
    return (*labels, ALL, CUSTOM, DONE) if question.multi else (*labels, CUSTOM)


def text_row(dialog: Dialog) -> int | None:
    """The row of the field for words; a question without options is nothing else."""
    if isinstance(dialog.asked, PlanApproval):
        return len(PLAN_OPTIONS)
    if dialog.is_reviewing:
        return None
    question = dialog.question
    if not question.options:
        return 0
    return len(question.options) + (1 if question.multi else 0)


def picked(dialog: Dialog, place: int) -> tuple[str, ...]:
    question, part = dialog.questions[place], dialog.part(place)
    words = (part.typed.strip(),) if part.typed.strip() else ()
    if not question.options:
        return words
    field = len(question.options) + (1 if question.multi else 0)
    labels = tuple(question.options[row].label for row in sorted(part.chosen) if row < len(question.options))
    return (*labels, *words) if field in part.chosen else labels


def press(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name == "esc":
        return Answer(ends_turn=True)
    match dialog.asked:
        case Consent():
            return _press_in_list(dialog, key)
        case Gate():
            return _press_in_list(dialog, key)
        case PlanApproval():
            return _press_in_plan(dialog, key)
    if dialog.is_reviewing:
        return _press_in_review(dialog, key)
    turned = _turned(dialog, key)
    if turned is not None:
        return turned
    if key.name in {"up", "down"}:
        return moved(dialog, key, len(rows(dialog))) if rows(dialog) else dialog
    if dialog.focus == text_row(dialog):
        return _press_in_field(dialog, key)
    return _press_in_question(dialog, key)


def _press_in_list(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name in {"up", "down"}:
        return moved(dialog, key, len(rows(dialog)))
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None or row >= len(rows(dialog)):
        return dialog
    if isinstance(dialog.asked, Consent):
        return consent_answer(dialog.asked, row)
    return Answer(ends_turn=True) if row == 2 else Answer(("yes",))


def _press_in_plan(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name in {"up", "down"}:
        return moved(dialog, key, len(rows(dialog)))
    field = len(PLAN_OPTIONS)
    if dialog.focus == field and is_writing(key):
        return dialog.holding(replace(dialog.here, typed=edited(dialog.here.typed, key)))
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None or row > field:
        return dialog
    if row < field:
        return Answer(("yes", PLAN_OPTIONS[row].label))
    words = dialog.here.typed.strip()
    return Answer((words,)) if key.name == "enter" and words else replace(dialog, focus=field)


def _turned(dialog: Dialog, key: Key) -> Dialog | None:
    if len(dialog.questions) == 1:
        return None
    in_field = dialog.focus == text_row(dialog)
    if key.name == "tab" or (key.name == "right" and not in_field):
        return dialog.at(dialog.position + 1)
    if key.name == "btab" or (key.name == "left" and not in_field):
        return dialog.at(max(0, dialog.position - 1))
    return None


def _press_in_field(dialog: Dialog, key: Key) -> Dialog | Answer:
    if is_writing(key):
        return _typed(dialog, key)
    if key.name != "enter" or not dialog.here.typed.strip():
        return dialog
    field = text_row(dialog)
    assert field is not None
    is_ticked = field in dialog.here.chosen or not dialog.question.options
    if dialog.question.multi:
        return _finished(dialog if is_ticked else dialog.toggled(field))
    return _finished(dialog.holding(replace(dialog.here, chosen=(field,))))


def _press_in_question(dialog: Dialog, key: Key) -> Dialog | Answer:
    field = text_row(dialog)
    assert field is not None
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None:
        writes = key.name == "paste" or (key.name == "text" and key.text.strip() != "")
        return _typed(replace(dialog, focus=field), key) if writes else dialog
    names = rows(dialog)
    if row >= len(names) or (names[row] == DONE and row == field + 1 and key.name != "enter"):
        return dialog
    # In a multiple choice a digit ticks, and takes the cursor along.
    dialog = replace(dialog, focus=row)
    if row == field:
        return dialog.toggled(row) if dialog.question.multi else dialog
    if not dialog.question.multi:
        return _finished(dialog.holding(replace(dialog.here, chosen=(row,))))
    if row == field + 1:
        return _finished(dialog)
    return _all_toggled(dialog) if row == field - 1 else dialog.toggled(row)


def _all_toggled(dialog: Dialog) -> Dialog:
    every = tuple(range(len(dialog.question.options) + 1))
    chosen = dialog.here.chosen
    without = tuple(row for row in chosen if row not in every)
    is_all = set(every) <= set(chosen)
    return dialog.holding(replace(dialog.here, chosen=without if is_all else (*every, *without)))


def _finished(dialog: Dialog) -> Dialog | Answer:
    """The present question is answered: the answer, or the next tab."""
    held = dialog.holding(replace(dialog.here, is_answered=True))
    if len(held.questions) > 1:
        return held.at(held.position + 1)
    labels = picked(held, 0)
    return Answer(labels) if labels else dialog


def _press_in_review(dialog: Dialog, key: Key) -> Dialog | Answer:
    if key.name in {"btab", "left"}:
        return dialog.at(len(dialog.questions) - 1)
    if key.name == "tab":
        return dialog.at(0)
    answers = tuple(picked(dialog, place) for place in range(len(dialog.questions)))
    return Answer(parts=answers) if key.name == "enter" and any(answers) else dialog


def _typed(dialog: Dialog, key: Key) -> Dialog:
    words = edited(dialog.here.typed, key)
    held = dialog.holding(replace(dialog.here, typed=words))
    field = text_row(dialog)
    if field is None or not dialog.question.options or bool(words) == (field in held.here.chosen):
        return held
    return held.toggled(field) if dialog.question.multi else held
