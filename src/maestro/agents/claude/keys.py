"""Claude Code: what is typed into it. Pure.

What a digit does depends on the dialog: it acts at once in a permission, a plan and a single choice; it ticks in a
multiple choice; it only moves the cursor beside previews; where words are typed it is one of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from maestro.agents.claude.transcript import Transcripts
from maestro.agents.questions import Answer, Option, Question
from maestro.agents.records import list_of, object_of, parse, text_of
from maestro.agents.screen import Screen
from maestro.agents.terminal import (
    Cannot,
    Key,
    Step,
    Submission,
    emptied_by,
    field_holds,
    holds,
    surely_holds,
)

_HEADLESS: Final = frozenset({"-p", "--print"})
_COMMANDS: Final = frozenset(
    {"mcp", "config", "doctor", "update", "install", "plugin", "setup-token", "auth"}
)
_PASTED: Final = re.compile(r"\[Pasted text #\d+(?: \+(?P<breaks>\d+) lines)?\]$")
_COMMAND: Final = re.compile(r"\s*/[^\s/]*(?:\s|$)")
_QUITS: Final = re.compile(r"\s*(?:exit|quit|:q!?|:wq!?)\s*$")
_INVISIBLE: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_AMEND: Final = "Tab to amend"
_TRANSCRIPTS: Final = Transcripts()

_NO_QUESTION: Final = Cannot("There is no question on the screen.")
_OTHER_WORDS: Final = Cannot("Its field already holds other words.")
_NO_FIELD: Final = Cannot("This dialog has no field for words.")
_SUBMIT: Final = Step("submit the answers", keys=("1",), is_final=True)
_SEND: Final = Step("send the answer", keys=("Enter",), is_final=True)
_LEAVE_FIELD: Final = Step("leave the field for words", keys=("Up",), undoes=True)
_LEAVE_NOTES: Final = Step("leave the notes", keys=("Escape",), undoes=True)
_GO_BACK: Final = Step("go back to a question without an answer", keys=("Left",), undoes=True)


class Keys:
    submission: Submission = Submission()

    def is_agent(self, argv: Sequence[str]) -> bool:
        words = list(argv)
        if words and posixpath.basename(words[0]) in {"node", "bun"}:
            words = [word for word in words[1:] if not word.startswith("-")][:1] + words[2:]
        if not words:
            return False
        name = posixpath.basename(words[0])
        if name != "claude" and not ("/claude-code/" in words[0] and name in {"cli.js", "cli-wrapper.cjs"}):
            return False
        options = words[1 : words.index("--")] if "--" in words else words[1:]
        return not _HEADLESS.intersection(options) and not (options and options[0] in _COMMANDS)

    def as_text(self, prompt: str) -> str:
        """A leading space keeps `!` from opening a shell; before commands and words that quit, spaces are trimmed.

        A path is no command: only a first word with a single slash is one. A backslash at the end would take the
        Enter for a line end. Invisible characters are removed by 2.1.325, which then wants a second Enter.
        """
        text = _INVISIBLE.sub("", prompt)
        if _QUITS.match(text):
            text = f"{text.strip()}."
        elif _COMMAND.match(text):
            text = f"> {text.lstrip()}"
        elif text.startswith("!"):
            text = f" {text}"
        return f"{text} " if text.endswith("\\") else text

    def box_holds(self, draft: str, prompt: str) -> bool:
        return holds(draft, prompt, _PASTED)

    def holds_own(self, draft: str, prompt: str, pasted: str = "") -> bool:
        return surely_holds(draft, prompt, _PASTED, pasted)

    def emptied_by(self, draft: str) -> tuple[Key, ...]:
        return emptied_by(draft)

    def answer_step(self, screen: Screen, answer: Answer) -> Step | Cannot:
        question = screen.question
        if question is None:
            return _NO_QUESTION
        if question.kind == "several":
            return _step_among_several(question, answer)
        if question.stage == "review":
            return _SUBMIT
        if question.kind == "multi_choice":
            return _step_of_multiple(question, answer) or Step("go to the review", keys=("Right",))
        if question.kind == "permission":
            return _step_of_permission(question, answer, can_amend=_AMEND in screen.evidence)
        if question.kind == "dialog":
            return _step_by_arrows(question, answer)
        return _step_of_choice(question, answer)

    def taken(self, line: bytes) -> str | None:
        return self.enqueued(line) or self.given(line)

    def enqueued(self, line: bytes) -> str | None:
        return _queue_operation(line, "enqueue")

    def given(self, line: bytes) -> str | None:
        """One that waited begins the next turn, or is taken into the middle of one: as an attachment, with `remove`, which
        names it since some version after 2.1.197."""
        prompts = [moment.text for moment in _TRANSCRIPTS.read_plain(line) if moment.kind == "prompt"]
        return prompts[0] if prompts else _queue_operation(line, "remove") or _attached(line)


def _queue_operation(line: bytes, operation: str) -> str | None:
    """The prompt with which this operation of its queue was done."""
    record = parse(line) if b"queue-operation" in line else None
    if record is None or record.get("type") != "queue-operation" or record.get("operation") != operation:
        return None
    return text_of(record.get("content")) or None


def _attached(line: bytes) -> str | None:
    """The prompt from its queue that is attached to a turn."""
    record = parse(line) if b"queued_command" in line else None
    attachment = object_of((record or {}).get("attachment"))
    if attachment.get("type") != "queued_command":
        return None
    prompt = attachment.get("prompt")
    parts = [text_of(object_of(part).get("text")) for part in list_of(prompt)]
    return text_of(prompt) or " ".join(filter(None, parts)) or None


def _step_among_several(question: Question, answer: Answer) -> Step | Cannot:
    """The question on the screen gets its answer; then the next one that has none; then the review.

    A question that somebody has answered already is not looked for: what a person chose on the screen stays.
    """
    if len(answer.parts) != len(question.parts):
        return Cannot(f"It asks {len(question.parts)} questions; the answer has {len(answer.parts)} parts.")
    waiting = [
        position
        for position, part in enumerate(question.parts)
        if part.stage != "review" and position != question.position and not _is_none(answer.parts[position])
    ]
    if question.stage == "review":
        if waiting:
            return _GO_BACK
        return _SUBMIT
    part, its_answer = question.parts[question.position], answer.parts[question.position]
    onwards = Step("go to the next question", keys=("Right",))
    if waiting and waiting[0] < question.position:
        onwards = _GO_BACK
    if part.kind == "multi_choice":
        return _step_of_multiple(part, its_answer) or onwards
    if part.stage == "open" and not its_answer.text and len(its_answer.choices) == 1:
        wanted = _option(part, its_answer.choices[0])
        if wanted is not None and wanted.is_chosen:
            return onwards
    step = _step_of_choice(part, its_answer)
    # It answers one question; the next one comes, or the review.
    return replace(step, is_final=False) if isinstance(step, Step) else step


def _is_none(answer: Answer) -> bool:
    """Nothing is ticked: a multiple choice can be answered so, and its tab then looks unanswered."""
    return not answer.choices and not answer.text


def _step_of_choice(question: Question, answer: Answer) -> Step | Cannot:
    if answer.text and not answer.choices:
        return _step_of_words(question, answer.text)
    if len(answer.choices) != 1:
        return Cannot("It takes exactly one option.")
    option = _option(question, answer.choices[0])
    if option is None or option.number is None:
        return _no_such_option(question, answer.choices[0])
    if option.is_free_text:
        wants = Cannot(f"Option {option.number} wants words.")
        return _step_of_words(question, answer.text) if answer.text else wants
    if answer.text and not option.takes_notes:
        return Cannot("It takes an option or words, not both.")
    has_preview = question.kind == "choice" and question.free_text is None
    if has_preview and (answer.text or question.stage == "typing"):
        return _step_of_notes(question, option, answer.text)
    if question.stage == "typing":
        return _LEAVE_FIELD
    if has_preview and option.is_current:
        return Step(f"select {option.label!r}", keys=("Enter",), is_final=True)
    note = f"go to {option.label!r}" if has_preview else f"choose {option.label!r}"
    return Step(note, keys=(str(option.number),), is_final=not has_preview)


def _step_of_notes(question: Question, option: Option, text: str) -> Step | Cannot:
    """Options with previews take notes: Enter chooses the option under the cursor, with what stands there.

    Only once the notes are left: from inside them, 2.1.197 sends the notes and no option."""
    if question.typed and (
        not option.is_current or not text or not field_holds(question.typed, text, _PASTED)
    ):
        return _OTHER_WORDS
    if question.stage != "typing":
        if question.typed:
            return _SEND
        if not option.is_current:
            return Step(f"go to {option.label!r}", keys=(str(option.number),))
        return Step("open the notes", keys=("n",))
    if not option.is_current or not text:
        return _OTHER_WORDS
    return _LEAVE_NOTES if question.typed else _type(text)


def _step_of_words(question: Question, text: str) -> Step | Cannot:
    field = question.free_text
    if field is None or field.number is None:
        return _NO_FIELD
    if question.stage != "typing":
        return Step("go to the field for words", keys=(str(field.number),))
    if not question.typed:
        return _type(text)
    if not field_holds(question.typed, text, _PASTED):
        return _OTHER_WORDS
    return _SEND


def _step_of_multiple(question: Question, answer: Answer) -> Step | Cannot | None:
    """Ticks only what differs, then fills in the field. None when everything is as it shall be."""
    field = question.free_text
    unknown = [choice for choice in answer.choices if _plain_option(question, choice) is None]
    if unknown:
        return _no_such_option(question, unknown[0])
    if answer.text and field is None:
        return _NO_FIELD
    if question.typed and answer.text and not field_holds(question.typed, answer.text, _PASTED):
        return _OTHER_WORDS
    if question.stage == "typing":
        if answer.text and not question.typed:
            return _type(answer.text)
        return _LEAVE_FIELD
    for number, option in _numbered(question).items():
        is_wanted = (
            bool(answer.text) and bool(question.typed) if option.is_free_text else number in answer.choices
        )
        if option.is_chosen != is_wanted:
            note = f"{'tick' if is_wanted else 'untick'} {option.label!r}"
            return Step(note, keys=(str(option.number),), undoes=not is_wanted)
    if answer.text and not question.typed:
        is_above = any(option.is_current for option in question.options)
        return Step("go to the field for words", keys=("Down" if is_above else "Up",))
    return None


def _step_of_permission(question: Question, answer: Answer, *, can_amend: bool) -> Step | Cannot:
    refusal = next(
        (number for number, option in _numbered(question).items() if option.label.startswith("No")), 0
    )
    choices = answer.choices or ((refusal,) if answer.text and refusal else ())
    if len(choices) != 1:
        return Cannot("It takes exactly one option.")
    option = _option(question, choices[0])
    if option is None or option.number is None:
        return _no_such_option(question, choices[0])
    if not answer.text:
        if question.stage == "typing":
            return _LEAVE_FIELD
        return Step(f"choose {option.label!r}", keys=(str(option.number),), is_final=True)
    if option.label not in {"Yes", "No"}:
        return _NO_FIELD
    if not option.is_current:
        return _move(question, option)
    if question.stage != "typing":
        return Step("open the field for words", keys=("Tab",)) if can_amend else _NO_FIELD
    if not question.typed:
        return _type(answer.text)
    if not field_holds(question.typed, answer.text, _PASTED):
        return _OTHER_WORDS
    return _SEND


def _step_by_arrows(question: Question, answer: Answer) -> Step | Cannot:
    """Dialogs of the CLI itself: most have no digits, and all of them take arrows."""
    if answer.text:
        return _NO_FIELD
    if len(answer.choices) != 1:
        return Cannot("It takes exactly one option.")
    option = _option(question, answer.choices[0])
    if option is None:
        return _no_such_option(question, answer.choices[0])
    if option.is_current:
        return Step(f"confirm {option.label!r}", keys=("Enter",), is_final=True)
    return _move(question, option)


def _move(question: Question, wanted: Option) -> Step:
    """One row towards an option."""
    current = next((at for at, option in enumerate(question.options) if option.is_current), -1)
    key = "Down" if question.options.index(wanted) > current else "Up"
    return Step(f"go to {wanted.label!r}", keys=(key,))


def _numbered(question: Question) -> dict[int, Option]:
    """Returns the options by what `as_shown` counts them by: the digit before each, or its place where it has none."""
    return {option.number or place: option for place, option in enumerate(question.options, start=1)}


def _option(question: Question, choice: int) -> Option | None:
    return _numbered(question).get(choice)


def _plain_option(question: Question, choice: int) -> Option | None:
    option = _option(question, choice)
    return None if option is None or option.is_free_text or option.number is None else option


def _no_such_option(question: Question, choice: int) -> Cannot:
    return Cannot(f"It has no option {choice}; it has {len(question.options)}.")


def _type(text: str) -> Step:
    """Words for a dialog's field: it loses line ends, and a backslash at the end would take the Enter for one."""
    line = re.sub(r"\s*\n\s*", " ", text.strip())
    return Step("type the answer", text=f"{line} " if line.endswith("\\") else line)
