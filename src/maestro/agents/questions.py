"""What an agent waits for, and what can be told to it: the facts. Pure.

A question says what is asked, never which occurrence it is: whoever keeps questions gives each an id.
"""

from __future__ import annotations

from typing import Literal

import msgspec

QuestionKind = Literal[
    "choice",  # one of several options
    "multi_choice",  # any of several options
    "several",  # more than one question in one dialog: `parts`
    "permission",  # may it do this?
    "plan",  # may it carry out this plan?
    "free_text",  # words, no options
    "dialog",  # the CLI itself wants to know: trust, key, update, hooks, warnings
]
Stage = Literal[
    "open",  # as it was asked
    "typing",  # its free-text field has the keyboard
    "review",  # everything is answered, and waits to be submitted
]


class Option(msgspec.Struct, frozen=True, rename="camel"):
    label: str
    description: str = ""
    number: int | None = None  # the digit that stands before it; none where only arrows reach it
    is_free_text: bool = False  # choosing it opens a field for words
    is_lasting: bool = False  # it changes what will be asked later: “always allow”, “don't ask again”
    is_chosen: bool = False  # ticked, in a multiple choice
    is_current: bool = False  # the cursor is on it


class Question(msgspec.Struct, frozen=True, rename="camel"):
    kind: QuestionKind
    text: str
    options: tuple[Option, ...] = ()
    header: str = ""  # the short name that some dialogs give a question
    preamble: str = ""  # what the agent said right before
    tool: str = ""  # of a permission: which tool would run
    detail: str = ""  # of a permission: the command, the file; of a plan: the plan
    parts: tuple[Question, ...] = ()  # of several: each of them, as far as they have been seen
    position: int = 0  # of several: which part is on the screen
    stage: Stage = "open"
    typed: str = ""  # what its free-text field holds

    @property
    def free_text(self) -> Option | None:
        """The option that takes words, if there is one."""
        return next((option for option in self.options if option.is_free_text), None)


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What shall be told. `choices` count from one, in the question's order."""

    choices: tuple[int, ...] = ()
    text: str = ""  # for the free-text field, or, in a plan or a refused permission, what to do differently
    parts: tuple[Answer, ...] = ()  # of several: one for each
