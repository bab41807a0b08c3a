"""Gemini CLI: how it is typed to, and how its dialogs are answered. Pure.

Checked on 0.61.0. A digit answers a confirmation or a single choice at once, and ticks in a multiple choice. It takes
Enter for a line break right after a paste, so no step has both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename
from typing import Final

from msgspec.structs import replace

from maestro.agents.gemini.dialogs import ALL
from maestro.agents.gemini.transcript import Transcripts
from maestro.agents.questions import Answer, Option, Question
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

_SCRIPTS: Final = ("gemini", "gemini.js")
_INTERPRETERS: Final = ("node", "nodejs", "bun")
_COMMAND: Final = re.compile(r"/(?![/*])[^\s/]*(?:\s|\Z)")
_LAST_WORD_IS_LOOKED_UP: Final = re.compile(r"(?:^|\s)@\S*\Z")
_JOINER: Final = "\u2060"  # nothing to see, and no space: it is not trimmed
_MARK: Final = re.compile(r"\[Pasted Text: (?:(?P<lines>\d+) lines|(?P<chars>\d+) chars)(?: #\d+)?\]")
_TRANSCRIPTS: Final = Transcripts()
_CLEAR: Final = Step("clear the field", keys=("C-e", "C-u"), undoes=True)


class Keys:
    submission = Submission(gap=0.3)

    def is_agent(self, argv: Sequence[str]) -> bool:
        if not argv:
            return False
        if basename(argv[0]) == "gemini":
            return True
        script = next((word for word in argv[1:] if not word.startswith("-")), "")
        return basename(argv[0]) in _INTERPRETERS and basename(script) in _SCRIPTS

    def as_text(self, prompt: str) -> str:
        """It trims a prompt before it looks for a command, so a space is not enough.

        A last word with `@` before it opens a list in which Enter would choose; a space closes it.
        """
        words = prompt.strip()
        if _COMMAND.match(words):
            words = f"{_JOINER}{words}"
        return f"{words} " if _LAST_WORD_IS_LOOKED_UP.search(words) else words

    def box_holds(self, draft: str, prompt: str) -> bool:
        return holds(draft, prompt, _MARK)

    def holds_own(self, draft: str, prompt: str, pasted: str = "") -> bool:
        return surely_holds(draft, prompt, _MARK, pasted)

    def emptied_by(self, draft: str) -> tuple[Key, ...]:
        return emptied_by(draft)

    def answer_step(self, screen: Screen, answer: Answer) -> Step | Cannot:
        question = screen.question
        if question is None:
            return Cannot("Gemini asks nothing on this screen.")
        if question.kind == "several":
            return _several(question, answer)
        if question.kind in {"permission", "dialog"} and answer.text:
            return Cannot(
                "Gemini takes no words with this answer. Choose an option, then send the words as a prompt."
            )
        return _one(question, answer)

    def taken(self, line: bytes) -> str | None:
        """A prompt that it holds while it works is written when the model gets it, not before."""
        return next(
            (moment.text for moment in _TRANSCRIPTS.read_plain(line) if moment.kind == "prompt"), None
        )


def _one(question: Question, answer: Answer) -> Step | Cannot:
    if question.kind == "free_text":
        return _write(question, answer.text)
    if question.kind == "multi_choice":
        return _tick(question, answer)
    if answer.text and answer.choices not in {(), (_number_of(question.free_text),)}:
        return Cannot("Gemini takes either one of the options or words, not both.")
    if answer.text:
        return _write_in_row(question, answer.text)
    if len(answer.choices) != 1:
        return Cannot("Gemini takes exactly one of these options.")
    option = next((option for option in question.options if option.number == answer.choices[0]), None)
    if option is None:
        return Cannot(f"There is no option {answer.choices[0]}: Gemini offers {len(question.options)}.")
    if option.is_free_text:
        return Cannot("This option wants words.")
    if question.stage == "typing":
        return Step("leave the field for words", keys=("Up",), undoes=True)
    if question.kind == "dialog" and option.is_current:
        # It stays for a moment after its digit. A second digit would land in the input box; Enter does nothing there.
        return Step(f"confirm “{option.label}”", keys=("Enter",), is_final=True)
    return replace(_press(option), is_final=True)


def _press(option: Option) -> Step:
    return Step(f"choose “{option.label}”", keys=tuple(str(option.number)))


def _number_of(option: Option | None) -> int:
    return option.number or 0 if option else 0


def _write(question: Question, text: str) -> Step:
    """A field: the text, then Enter."""
    if not question.typed and text:
        return Step("write the words", text=text)
    if not text or field_holds(question.typed, text, _MARK):
        return Step("submit the words", keys=("Enter",), is_final=True)
    return _CLEAR


def _write_in_row(question: Question, text: str) -> Step | Cannot:
    free = question.free_text
    if free is None:
        return Cannot("This dialog has no row for words.")
    if not free.is_current:
        return Step(f"choose “{free.label}”", keys=tuple(str(free.number)))
    return _write(question, text)


def _tick(question: Question, answer: Answer) -> Step | Cannot:
    """From the first row to the last: what is wanted is ticked, what is not is not, and “Done” ends it.

    A list shows three rows at a time. The row with the cursor is the only one that is surely seen, so rows are set
    right one after another, on the way down.
    """
    wrong = _wrongly_ticked(question, answer)
    if wrong is not None:
        verb = "untick" if wrong.is_chosen else "tick"
        return Step(f"{verb} “{wrong.label}”", keys=tuple(str(wrong.number)), undoes=wrong.is_chosen)
    if question.stage == "review":
        return Step("finish the selection", keys=("Enter",), is_final=True)
    current = next((option for option in question.options if option.is_current), None)
    if current is None:
        return Cannot("The screen does not show which option is selected.")
    if current.is_free_text and answer.text:
        # Its Enter ends the words, not the selection.
        return replace(_write(question, answer.text), is_final=False)
    if current.is_free_text and question.typed:
        return _CLEAR
    return Step("go on to the next row", keys=("Down",))


def _wrongly_ticked(question: Question, answer: Answer) -> Option | None:
    every = next((option for option in question.options if option.label == ALL), None)
    if every is not None and every.number in answer.choices:
        return None if every.is_chosen else every
    others = (option for option in question.options if option is not every and not option.is_free_text)
    return next((option for option in others if option.is_chosen != (option.number in answer.choices)), None)


def _several(question: Question, answer: Answer) -> Step | Cannot:
    if len(answer.parts) != len(question.parts):
        return Cannot(
            f"Gemini asks {len(question.parts)} questions; the answer has {len(answer.parts)} parts."
        )
    missing = [
        at
        for at, (part, given) in enumerate(zip(question.parts, answer.parts, strict=True))
        if part.stage != "review" and (given.choices or given.text) and at != question.position
    ]
    if question.stage == "review" and question.position == len(question.parts):
        if missing:
            return Step("go back to a question", keys=("BTab",), undoes=True)
        return Step("submit", keys=("Enter",), is_final=True)
    part, given = question.parts[question.position], answer.parts[question.position]
    is_settled = not (given.choices or given.text) or _is_chosen(part, given)
    if is_settled and part.kind == "choice":
        return _turn(question.position, missing)
    step = _one(part, given)
    # It answers one question; the next one comes, or the review.
    return replace(step, is_final=False) if isinstance(step, Step) else step


def _is_chosen(part: Question, given: Answer) -> bool:
    return any(option.is_chosen and (option.number,) == given.choices for option in part.options)


def _turn(position: int, missing: Sequence[int]) -> Step:
    is_back = bool(missing) and all(at < position for at in missing)
    key: Key = "BTab" if is_back else "Tab"
    note = "go to the question before" if is_back else "go to the next question"
    return Step(note, keys=(key,), undoes=is_back)
