"""Codex's dialogs: which key does what, until it is an answer. Pure."""

from __future__ import annotations

from dataclasses import replace

from maestro.testing.scripted_agent.dialog import (
    Answer,
    Asked,
    Choice,
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

OTHER = "None of the above"
PLAN_OPTIONS = (
    Option("Yes, implement this plan", "Switch to Default and start coding"),
    Option("Yes, clear context and implement", "Fresh thread with this plan"),
    Option("No, stay in Plan mode", "Continue planning with the model"),
)
UNANSWERED_ROWS = ("Proceed", "Go back")
GATE_ROWS = {
    "trust": ("Trust and continue", "Back to Agent Command Center"),
    "hooks": ("Review hooks", "Trust all and continue", "Continue without trusting (hooks won't run)"),
}


def opened(asked: Asked) -> Dialog:
    if isinstance(asked, Consent):
        command = asked.command.split("\n", maxsplit=1)[0]
        always = f"Yes, and don't ask again for commands that start with `{command}` (p)"
        if asked.file:
            always = "Yes, and don't ask again for these files (a)"
        options = ("Yes, proceed (y)", always, "No, and tell Codex what to do differently (esc)")
        asked = replace(asked, options=tuple(Option(label) for label in options))
    is_words_only = isinstance(asked, Choice) and not asked.options
    return Dialog(asked, is_typing=is_words_only)


def rows(dialog: Dialog) -> tuple[str, ...]:
    match dialog.asked:
        case Consent(options=options):
            return tuple(option.label for option in options)
        case PlanApproval():
            return tuple(option.label for option in PLAN_OPTIONS)
        case Gate(kind):
            return GATE_ROWS.get(kind, GATE_ROWS["trust"])
    if dialog.is_reviewing:
        return UNANSWERED_ROWS
    options = dialog.question.options
    return (*(option.label for option in options), OTHER) if options else ()


def press(dialog: Dialog, key: Key) -> Dialog | Answer:
    if dialog.is_typing:
        return _press_in_notes(dialog, key)
    if key.name == "esc":
        return Answer(ends_turn=True)
    if key.name in {"up", "down"}:
        return moved(dialog, key, len(rows(dialog)))
    match dialog.asked:
        case Consent():
            return _press_in_consent(dialog, dialog.asked, key)
        case PlanApproval():
            row = dialog.focus if key.name == "enter" else digit(key)
            if row is None or row >= len(PLAN_OPTIONS):
                return dialog
            label = PLAN_OPTIONS[row].label
            return Answer(("yes", label)) if row < 2 else Answer(("no",), ends_turn=True)
        case Gate():
            return _press_in_gate(dialog, key)
    return _press_in_unanswered(dialog, key) if dialog.is_reviewing else _press_in_question(dialog, key)


def _press_in_unanswered(dialog: Dialog, key: Key) -> Dialog | Answer:
    row = dialog.focus if key.name == "enter" else digit(key)
    if row is None or row >= len(UNANSWERED_ROWS):
        return dialog
    return _turned(dialog, open_places(dialog)[0]) if row == 1 else _submitted(dialog)


def open_places(dialog: Dialog) -> list[int]:
    """The questions that have no answer yet."""
    return [place for place in range(len(dialog.questions)) if not dialog.part(place).is_answered]


def _press_in_consent(dialog: Dialog, asked: Consent, key: Key) -> Dialog | Answer:
    row = dialog.focus if key.name == "enter" else digit(key)
    if key.name == "text" and key.text in {"y", "p"}:
        row = "yp".index(key.text)
    if row is None or row >= len(asked.options):
        return dialog
    return consent_answer(asked, row)


def _press_in_gate(dialog: Dialog, key: Key) -> Dialog | Answer:
    row = digit(key)
    if row is not None:  # a digit only moves
        return replace(dialog, focus=row) if row < len(rows(dialog)) else dialog
    if key.name != "enter":
        return dialog
    return Answer(ends_turn=True) if rows(dialog)[dialog.focus].startswith("Back") else Answer(("yes",))


def _press_in_question(dialog: Dialog, key: Key) -> Dialog | Answer:
    count = len(dialog.questions)
    match key.name:
        case "tab":
            return replace(dialog, is_typing=True)
        case "paste":
            return _press_in_notes(replace(dialog, is_typing=True), key)
        case "right" | "left" if count > 1:
            step = 1 if key.name == "right" else -1
            return _turned(dialog, (dialog.position + step) % count)
    row = dialog.focus if key.name == "enter" else digit(key)
    return dialog if row is None or row >= len(rows(dialog)) else _answered(dialog, row)


def _press_in_notes(dialog: Dialog, key: Key) -> Dialog | Answer:
    has_options = bool(dialog.question.options)
    if key.name in {"esc", "tab"}:
        if not has_options:
            return Answer(ends_turn=True) if key.name == "esc" else dialog
        return replace(dialog.holding(replace(dialog.here, typed="")), is_typing=False)
    if is_writing(key):
        return dialog.holding(replace(dialog.here, typed=edited(dialog.here.typed, key)))
    return _answered(dialog, dialog.focus) if key.name == "enter" else dialog


def _answered(dialog: Dialog, row: int) -> Dialog | Answer:
    held = dialog.holding(replace(dialog.here, chosen=(row,), is_answered=True))
    if dialog.position < len(held.questions) - 1:
        return _turned(held, dialog.position + 1)
    return held.at(len(held.questions)) if open_places(held) else _submitted(held)


def _submitted(held: Dialog) -> Answer:
    parts = tuple(_labels(held, place) for place in range(len(held.questions)))
    notes = tuple(
        held.part(place).typed.strip() if held.questions[place].options else "" for place in range(len(parts))
    )
    notes = notes if any(notes) else ()
    return Answer(parts[0], notes=notes) if len(parts) == 1 else Answer(parts=parts, notes=notes)


def _labels(dialog: Dialog, place: int) -> tuple[str, ...]:
    options, part = dialog.questions[place].options, dialog.part(place)
    if not options:
        return (part.typed.strip(),)
    if not part.chosen:
        return ()
    row = part.chosen[0]
    return (options[row].label if row < len(options) else OTHER,)


def _turned(dialog: Dialog, place: int) -> Dialog:
    """To another question: the cursor on what was chosen there, its notes open where there are any."""
    part = dialog.part(place)
    focus = part.chosen[0] if part.chosen else 0
    is_open = bool(part.typed) or not dialog.questions[place].options
    return replace(dialog.at(place), focus=focus, is_typing=is_open)
