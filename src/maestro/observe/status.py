"""What a session does, from its transcript alone. Pure.

Nothing that matches means `unknown`, never `idle`.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from maestro.agents import Moment
from maestro.ages import has_passed
from maestro.observe.recent import Recent
from maestro.redact import clean, fold, redact

State = Literal["active", "idle", "thinking", "needs_input", "unknown"]
Status = Literal[
    "working",  # a tool runs, or the agent is in the middle of its turn
    "thinking",  # the model was asked and has not answered yet
    "background",  # the turn is over; agents that it started still run
    "asking",  # it waits for an answer
    "finished",  # its turn is over
    "interrupted",
    "failed",  # its turn ended with an API error
    "retrying",  # an API error, and it tries again
    "unknown",
]

# A text that may be its last, where the CLI does not mark the end of a turn.
UNMARKED: Final = "said something"
SETTLED_AFTER: Final = 60_000  # a text that no CLI marks as last is taken for last after this long
_SHOWN: Final = 120

_STATES: Final[dict[str, State]] = {
    "working": "active",
    "thinking": "thinking",
    "background": "active",
    "asking": "needs_input",
    "finished": "idle",
    "interrupted": "idle",
    "failed": "idle",
    "retrying": "active",
    "unknown": "unknown",
}


class Evidence(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One thing that was seen, where and when."""

    source: Literal["transcript", "screen"]
    says: str
    at: int | None


class Verdict(msgspec.Struct, frozen=True, gc=False):
    status: Status
    state: State
    evidence: tuple[Evidence, ...]


def assess(recent: Recent, now: int) -> Verdict:
    """The status and the moment that it rests on."""
    status, says, moment = _judge(recent, now)
    evidence = () if moment is None else (Evidence("transcript", says, moment.at),)
    return Verdict(status, _STATES[status], evidence)


def _judge(recent: Recent, now: int) -> tuple[Status, str, Moment | None]:
    last = recent.after_text[-1] if recent.after_text else None
    if last is None:
        return _judge_text(recent.last_text, now)
    if last.kind == "turn_ended":
        return _judge_end(recent, last)
    if last.kind == "question":
        return "asking", f"asks: {shown(last.text)}", last
    if last.kind == "interrupted":
        return "interrupted", "was interrupted", last
    if last.kind == "background":
        return "background", "its turn is over, agents that it started still run", last
    if last.kind == "api_error":
        if not last.text:
            return "retrying", "an API error; it tries again", last
        return "failed", shown(last.text), last
    if last.kind == "tool_call":
        return "working", f"calls {shown(last.text) or 'a tool'}", last
    if last.kind == "prompt":
        return "thinking", "was prompted, has not answered yet", last
    if last.kind == "turn_started":
        return "thinking", "a turn began", last
    if last.kind == "tool_result":
        return "thinking", "has a tool's result, has not gone on yet", last
    if last.kind == "thinking":
        return "thinking", "thinks", last
    return _judge_text(last, now)


def _judge_end(recent: Recent, end: Moment) -> tuple[Status, str, Moment]:
    before = next((moment for moment in reversed(recent.after_text) if moment.kind != "turn_ended"), None)
    if before is not None and before.kind == "api_error":
        return "failed", shown(before.text) or "an API error", before
    if before is not None and before.kind == "interrupted":
        return "interrupted", "was interrupted", before
    if before is None and recent.last_text is not None and _asks(recent.last_text.text):
        return "asking", "its turn ended with a question", end
    return "finished", "its turn ended", end


def _judge_text(text: Moment | None, now: int) -> tuple[Status, str, Moment | None]:
    """The transcript ends with a text that nothing marks as the end of a turn."""
    if text is None:
        return "unknown", "", None
    if text.at is None or not has_passed(SETTLED_AFTER, text.at, now):
        return "working", UNMARKED, text
    if _asks(text.text):
        return "asking", "the last thing that it said is a question", text
    return "finished", "said something, and nothing came after it", text


def _asks(text: str) -> bool:
    return text.rstrip(" \t\r\n*_`)\"'").endswith("?")


def shown(text: str) -> str:
    """A little of a text, fit for one line."""
    short = fold(redact(clean(text[:4096])))
    return short if len(short) <= _SHOWN else short[: _SHOWN - 3] + "..."
