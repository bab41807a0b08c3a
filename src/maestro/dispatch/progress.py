"""What happens in a batch, as it happens, and the line that tells a person. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

from maestro.dispatch.batch import AgentStatus
from maestro.dispatch.summary import Summary


class Began(NamedTuple):
    agents: tuple[str, ...]
    kept: tuple[str, ...]  # finished before, and not run again
    notes: tuple[str, ...] = ()


class Started(NamedTuple):
    name: str
    tool: str
    attempt: int


class Ended(NamedTuple):
    name: str
    status: AgentStatus
    exit_code: int
    timeout_s: float
    error: str = ""
    again_at: int | None = None


class Held(NamedTuple):
    """A limit of a tool: none of its agents starts before it ends."""

    tool: str
    until: int


class Unrun(NamedTuple):
    name: str
    reason: str


Event = Began | Started | Ended | Held | Unrun


def lines(event: Event, clock: str = "") -> list[str]:
    """`clock`: the time that the event names, as a person reads it."""
    match event:
        case Began(agents, kept, notes):
            told = [f"Agents: {len(agents)}"]
            if kept:
                told.append(f"Finished before: {', '.join(kept)}")
            return [*told, *(f"WARNING: {note}" for note in notes)]
        case Started(name, tool, attempt):
            return [
                f"Dispatching: {name} ({tool})"
                if attempt == 1
                else f"Dispatching: {name} ({tool}), attempt {attempt}"
            ]
        case Ended():
            return _ended(event, clock)
        case Held(tool, _):
            return [f"  {tool} is at a limit; its agents wait until {clock}."]
        case Unrun(name, reason):
            return [f"  {name}: NOT RUN ({reason})"]


def _ended(event: Ended, clock: str) -> list[str]:
    if event.status == "success":
        return [f"  {event.name}: SUCCESS (exit 0)"]
    if event.status == "timeout":
        told = [f"  {event.name}: TIMEOUT (exceeded {_span(event.timeout_s)})"]
    else:
        told = [f"  {event.name}: {event.status.upper()} (exit {event.exit_code})"]
    if event.error:
        told.append(f"    {event.error.strip().splitlines()[0][:300]}")
    if event.again_at is not None:
        told.append(f"    again at {clock}")
    return told


def _span(seconds: float) -> str:
    return f"{seconds / 60:g}m" if seconds >= 60 else f"{seconds:g}s"


def closing(summary: Summary, place: str) -> list[str]:
    """The end of a batch."""
    told = [
        "",
        "BATCH COMPLETE",
        f"  Total agents: {summary.total_agents}",
        f"  Succeeded: {summary.succeeded}",
        f"  Failed: {summary.failed}",
        f"  Wall time: {summary.wall_time_seconds}s",
    ]
    usage = summary.token_usage
    if usage.total_input or usage.total_output:
        cost = "" if summary.cost_usd is None else f", ${math.ceil(summary.cost_usd * 100) / 100:.2f}"
        told.append(
            f"  Tokens: {usage.total_input:,} in, {usage.total_output:,} out, {usage.total_cached:,} cached{cost}"
        )
    told += [f"  File conflict: {one.file} ({', '.join(one.agents)})" for one in summary.file_conflicts]
    told += [
        f"  Applied: {one.agent}" if one.is_merged else f"  Not applied: {one.agent}: {one.reason}"
        for one in summary.applied
    ]
    return [*told, "", f"Results: {place}"]
