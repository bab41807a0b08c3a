"""What a CLI tells by its own hooks: the facts and the port, on one page. Pure.

`maestro hook AGENT EVENT` carries the payload to the daemon as it is; the adapter says what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from maestro.agents.questions import Answer, Question

Payload = Mapping[str, Any]  # JSON of a foreign program: nothing in it can be relied on
HappeningKind = Literal[
    "session_started",
    "prompted",  # it took a prompt: `text`
    "asked",  # it asks: `question`
    "answered",  # what it asked has an answer, whoever gave it
    "turn_ended",  # `text` is the last thing that it said; `background` agents may still run
    "turn_failed",  # `text` is the error
    "idle",  # it has waited for a while
    "compacting",
    "compacted",
    "session_ended",
    "other",  # nothing that changes what is known of the session
]


class Happening(msgspec.Struct, frozen=True):
    kind: HappeningKind
    text: str = ""
    question: Question | None = None
    call_id: str = ""  # the CLI's own id of the call that asks
    background: int = 0
    transcript_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""  # of a start: startup, resume, clear, compact


class HookEvent(msgspec.Struct, frozen=True):
    name: str
    matcher: str = ""  # the tools that it is for; no hook sits on ordinary tool calls
    waits: bool = False  # it stays while the question is open: its output is the answer
    # What it prints is for the model: the agent is held, not for long, until we know it.
    answers: bool = False


def told_by(payload: Payload, happening: Happening) -> Happening:
    """The happening, with whose it is: all three CLIs name their session in the same words."""
    named = {
        field: value if isinstance(value := payload.get(word), str) else ""
        for field, word in (
            ("transcript_id", "session_id"),
            ("transcript_path", "transcript_path"),
            ("cwd", "cwd"),
        )
    }
    return msgspec.structs.replace(happening, **named)


def additional_context(event: str, text: str) -> bytes:
    """What Claude Code and Gemini CLI take from a hook for the model."""
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


@runtime_checkable
class Hooked(Protocol):
    """A CLI with hooks."""

    name: str
    hook_events: tuple[HookEvent, ...]
    no_session_hooks: str  # why it cannot be given hooks for one session alone; empty where it can

    def hook_settings(self, commands: Mapping[str, str]) -> Mapping[str, object]:
        """The CLI's own settings that run these commands, by event; for `LaunchRequest.settings` and for install."""

    def read_hook(self, event: str, payload: Payload) -> Happening:
        """What happened. Total: a payload that says nothing is `other`."""

    def hook_answer(self, event: str, payload: Payload, question: Question, answer: Answer) -> bytes | None:
        """What the waiting hook must print so that the CLI takes this answer; None where it can only be typed."""


@runtime_checkable
class EndsAlike(Protocol):
    """A CLI whose hook tells that a turn is over, but not whether it failed: its screen and its transcript do."""

    ends_alike: bool


@runtime_checkable
class TellsModel(Protocol):
    """A CLI whose hooks can put a text before its model: those with `answers`."""

    def hook_context(self, event: str, text: str) -> bytes | None:
        """What the hook must print so that the model reads this; None for an event that cannot tell it."""
