"""Codex CLI: how it is typed to, and how its dialogs are answered. Pure.

Checked on 0.166.0. A digit answers an approval, a plan or a question at once; in the dialogs of the CLI itself it only
moves the cursor, and Enter follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename
from typing import Final

from msgspec.structs import replace

from maestro.agents.codex.dialogs import GO_BACK
from maestro.agents.codex.layout import SCROLLED
from maestro.agents.codex.transcript import Transcripts
from maestro.agents.questions import Answer, Option, Question
from maestro.agents.screen import Screen
from maestro.agents.shown import folded
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

_SCRIPTS: Final = ("codex", "codex.js")
_INTERPRETERS: Final = ("node", "nodejs", "bun")
_LAST_WORD_IS_LOOKED_UP: Final = re.compile(r"(?:^|\s)[@$]\S*\Z")
_JOINER: Final = "\u2060"  # nothing to see, and no space: it is not trimmed
_MARK: Final = re.compile(r"\[Pasted Content (?P<chars>\d+) chars\]")
_TRANSCRIPTS: Final = Transcripts()
SIGN_IN: Final = "sign_in"  # the screen's rule
_CLOSE_NOTES: Final = Step("close the notes", keys=("Tab",), undoes=True)


class Keys:
    submission = Submission()

    def is_agent(self, argv: Sequence[str]) -> bool:
        if not argv:
            return False
        if basename(argv[0]) == "codex":
            return True
        script = next((word for word in argv[1:] if not word.startswith("-")), "")
        return basename(argv[0]) in _INTERPRETERS and basename(script) in _SCRIPTS

    def as_text(self, prompt: str) -> str:
        """It trims a prompt, so a space before `/` is never seen. `!` runs a command in spite of one.

        A last word with `@` or `$` before it opens a list in which Enter would choose; a space closes it.
        """
        words = prompt.strip()
        if words.startswith("/"):
            words = f" {words}"
        elif words.startswith("!"):
            words = f"{_JOINER}{words}"
        return f"{words} " if _LAST_WORD_IS_LOOKED_UP.search(words) else words

    def box_holds(self, draft: str, prompt: str) -> bool:
        if draft.startswith(f"{SCROLLED}\n"):
            seen = folded(draft.removeprefix(SCROLLED))
            return bool(seen) and folded(prompt).endswith(seen)
        return holds(draft, prompt, _MARK)

    def holds_own(self, draft: str, prompt: str, pasted: str = "") -> bool:
        return surely_holds(draft, prompt, _MARK, pasted)

    def emptied_by(self, draft: str) -> tuple[Key, ...]:
        return emptied_by(draft)

    def answer_step(self, screen: Screen, answer: Answer) -> Step | Cannot:
        question = screen.question
        if question is None:
            return Cannot("Codex asks nothing on this screen.")
        if question.kind == "several":
            return _several(question, answer)
        if question.kind in {"choice", "free_text"}:
            return _choose(question, answer)
        if screen.rule == SIGN_IN:
            return _sign_in(question, answer)
        option = _only_choice(question, answer)
        if isinstance(option, Cannot):
            return option
        if answer.text:
            return Cannot(
                "Codex takes no words with this answer. Choose an option, then send the words as a prompt."
            )
        if question.kind == "dialog" and option.is_current:
            return Step(f"confirm “{option.label}”", keys=("Enter",), is_final=True)
        return replace(_press(option), is_final=question.kind != "dialog")

    def taken(self, line: bytes) -> str | None:
        """A prompt that it holds while it works is written when the model gets it, not before."""
        return next(
            (moment.text for moment in _TRANSCRIPTS.read_plain(line) if moment.kind == "prompt"), None
        )


def _sign_in(question: Question, answer: Answer) -> Step | Cannot:
    """A digit takes the way in at once. A key is never typed: where it comes from is the human's own affair."""
    if answer.text:
        return Cannot("Maestro types no keys or codes. Type them in its pane, or choose an option.")
    if answer.choices == (1,) and [option.label for option in question.options] == [GO_BACK]:
        return Step("go back", keys=("Escape",), is_final=True)
    option = _only_choice(question, answer)
    return option if isinstance(option, Cannot) else replace(_press(option), is_final=True)


def _press(option: Option) -> Step:
    return Step(f"choose “{option.label}”", keys=(str(option.number),))


def _only_choice(question: Question, answer: Answer) -> Option | Cannot:
    if len(answer.choices) != 1:
        return Cannot("Codex takes exactly one of these options.")
    number = answer.choices[0]
    option = next((option for option in question.options if option.number == number), None)
    return option or Cannot(f"There is no option {number}: Codex offers {len(question.options)}.")


def _several(question: Question, answer: Answer) -> Step | Cannot:
    if question.stage == "review":
        back = next((option for option in question.options if option.label == "Go back"), None)
        if back is None:
            return Cannot("Codex asks whether to leave questions unanswered, and has no way back.")
        return Step("confirm “Go back”", keys=("Enter",), undoes=True) if back.is_current else _press(back)
    if len(answer.parts) != len(question.parts):
        return Cannot(
            f"Codex asks {len(question.parts)} questions; the answer has {len(answer.parts)} parts."
        )
    step = _choose(question.parts[question.position], answer.parts[question.position])
    if isinstance(step, Cannot) or question.position == len(question.parts) - 1:
        return step
    # It answers one question, and the next one comes.
    return replace(step, is_final=False)


def _choose(question: Question, answer: Answer) -> Step | Cannot:
    """One question. Words go into its notes: to the option that was chosen, else to the one for everything else."""
    free = question.free_text
    if not answer.choices and answer.text and free is not None:
        option: Option | Cannot = free
    else:
        option = _only_choice(question, answer)
    if isinstance(option, Cannot):
        return option
    is_typing = question.stage == "typing"
    if not answer.text:
        return _CLOSE_NOTES if is_typing else replace(_press(option), is_final=True)
    if not option.is_current:
        return _CLOSE_NOTES if is_typing else _move(question, option)
    if not is_typing:
        return Step("open the notes", keys=("Tab",))
    if not question.typed:
        return Step("write the notes", text=answer.text)
    if field_holds(question.typed, answer.text, _MARK):
        return Step("submit the notes", keys=("Enter",), is_final=True)
    return Step("clear the notes", keys=("Tab",), undoes=True)


def _move(question: Question, option: Option) -> Step | Cannot:
    """By arrows: a digit would answer."""
    current = next((at for at, one in enumerate(question.options) if one.is_current), None)
    if current is None:
        return Cannot("The screen does not show which option is selected.")
    steps = question.options.index(option) - current
    return Step(f"move to “{option.label}”", keys=("Down" if steps > 0 else "Up",) * abs(steps))
