"""What a play wants done, and what it is told came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from maestro.testing.scripted_agent.dialog import Answer, Choice, Consent
from maestro.testing.scripted_agent.transcript import Record


@dataclass(frozen=True)
class Block:
    """One thing in the conversation as people see it: prompt, text, tool, result, error or done."""

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
class PutQuestion:
    """Wait for the answer to a question; the reply is an Answer."""

    asked: Choice | Consent


@dataclass(frozen=True)
class AwaitPrompt:
    """Idle until there is a prompt; the reply is a Prompt, or none when no more can come."""


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Prompt:
    text: str
    was_queued: bool = False


Effect: TypeAlias = Write | Show | BeginTurn | EndTurn | PutBack | Busy | Execute | PutQuestion | AwaitPrompt
Reply: TypeAlias = bool | Outcome | Answer | Prompt | None
