"""What a play wants done, and what it is told came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from maestro.testing.scripted_agent.dialog import Answer, Asked
from maestro.testing.scripted_agent.transcript import Record


@dataclass(frozen=True)
class Block:
    """One thing in the conversation as people see it: prompt, shell, text, info, tool, result, error or done."""

    kind: str
    text: str


@dataclass(frozen=True)
class Write:
    record: Record


@dataclass(frozen=True)
class Show:
    block: Block


@dataclass(frozen=True)
class BeginTurn:
    pass


@dataclass(frozen=True)
class EndTurn:
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class PutBack:
    """The turn did not happen: its prompt returns to the input box."""

    text: str


@dataclass(frozen=True)
class Busy:
    """Work for so long; the reply is whether the user interrupted. `note` replaces the spinner's text."""

    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Execute:
    """Run a command; the reply is its Outcome, or none if the user interrupted."""

    argv: tuple[str, ...]


@dataclass(frozen=True)
class Hook:
    """Run what is configured for an event, and wait for its end. `matched` is what its matchers look at. The reply is
    an Outcome with what all of it printed."""

    event: str
    matched: str
    payload: Record


@dataclass(frozen=True)
class PutQuestion:
    """Wait for the answer to a question; the reply is an Answer.

    The hook runs beside the dialog, and may answer it; the notification comes when nobody answers for a while.
    """

    asked: Asked
    hook: Hook | None = None
    notification: Hook | None = None


@dataclass(frozen=True)
class AwaitPrompt:
    """Idle until there is a prompt; the reply is a Prompt, or none when no more can come."""

    notification: Hook | None = None


@dataclass(frozen=True)
class Rest:
    """The turn is over, and something still works for so long; the box lives."""

    seconds: float


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Prompt:
    text: str
    was_queued: bool = False
    is_shell: bool = False  # it was typed into the shell mode: not a prompt at all


Effect: TypeAlias = (
    Write | Show | BeginTurn | EndTurn | PutBack | Busy | Execute | Hook | PutQuestion | AwaitPrompt | Rest
)
Reply: TypeAlias = bool | Outcome | Answer | Prompt | None
