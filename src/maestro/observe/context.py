"""`<coordinator_context>`: the task board and the workers' activity, for a coordinator's prompt. Pure.

It is read on every turn, so it is bounded: what is worst comes first, then what is newest; what is done or idle is only
counted, and so is what found no room. Everything that comes from tasks and transcripts is escaped: a title cannot close
a tag, a text cannot pose as the board.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

import msgspec

from maestro.observe.digest import Digest, Entry
from maestro.redact import clean, fold, redact

MOST_TOKENS: Final = 1500
CHARACTERS_PER_TOKEN: Final = 4  # the usual estimate, wherever tokens are not told by a CLI itself

_LONGEST: Final = 240  # of one text; a digest's own are shorter
_IDLE_NAMED: Final = 10
_OVER: Final = frozenset({"completed", "cancelled"})
_TASK_RANKS: Final[Mapping[str, int]] = {"error": 0, "blocked": 0, "in_progress": 2}
_LAST_RANK: Final = 3


class BoardTask(msgspec.Struct, frozen=True):
    """One line of the board."""

    id: str
    title: str
    status: str
    assignee: str = ""
    blocked_reason: str = ""
    updated_at: int = 0


class Watched(msgspec.Struct, frozen=True):
    """One worker: what it says, and what it waits for."""

    digest: Digest
    asks: str = ""  # the question that is open on its screen
    escalation: str = ""  # why that, or something else of it, waits for the human
    under: str = ""  # the session that started it, if that is not the coordinator itself


class _Item(NamedTuple):
    """Something to show: how much it matters, and how it looks with little room and with enough."""

    rank: int
    at: int
    kind: str
    brief: str
    full: str


class _Counted(NamedTuple):
    """What is only counted, and how many there are to show in all."""

    over: Counter[str]
    idle: tuple[str, ...]
    tasks: int
    sessions: int


def coordinator_context(
    tasks: Sequence[BoardTask],
    sessions: Sequence[Watched],
    zone: tzinfo | None = None,
    most_tokens: int = MOST_TOKENS,
) -> str:
    """The block that goes into the prompt; empty when there is nothing to tell, or no room to tell it."""
    left = [task for task in tasks if task.status not in _OVER]
    open_tasks = {task.id for task in left}
    idle = [one for one in sessions if _is_idle(one, open_tasks)]
    busy = [one for one in sessions if not _is_idle(one, open_tasks)]
    items = [_task_item(task) for task in left]
    items += [_session_item(one, zone) for one in busy]
    counted = _Counted(
        Counter(task.status for task in tasks if task.status in _OVER),
        tuple(one.digest.session_id for one in idle),
        tasks=len(left),
        sessions=len(busy),
    )
    if not tasks and not sessions:
        return ""
    return _filled(sorted(items, key=lambda one: (one.rank, -one.at)), counted, most_tokens)


def estimated_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def state_shown(digest: Digest) -> str:
    """The state as people and models read it: how long it has been idle is part of it."""
    idle = digest.metrics.idle_duration_ms // 1000
    return f"idle_{idle}s" if digest.state == "idle" and idle else digest.state


def clock(timestamp: int | None, zone: tzinfo | None = None) -> str:
    """A time of day, in this machine's zone unless told otherwise."""
    if timestamp is None:
        return "--:--:--"
    return datetime.fromtimestamp(timestamp / 1000, UTC).astimezone(zone).strftime("%H:%M:%S")


def _filled(items: Sequence[_Item], counted: _Counted, most_tokens: int) -> str:
    """As many as find room, worst first, none before one that matters more; then more of each, in the same order."""
    chosen: list[_Item] = []
    block = _block((), counted)
    if estimated_tokens(len(block)) > most_tokens:
        return ""
    for item in items:
        longer = _block([(one.kind, one.brief) for one in (*chosen, item)], counted)
        if estimated_tokens(len(longer)) > most_tokens:
            break
        chosen.append(item)
        block = longer
    shown = [(one.kind, one.brief) for one in chosen]
    for place, item in enumerate(chosen):
        candidate = [*shown[:place], (item.kind, item.full), *shown[place + 1 :]]
        longer = _block(candidate, counted)
        if estimated_tokens(len(longer)) > most_tokens:
            break
        shown, block = candidate, longer
    return block


def _block(shown: Sequence[tuple[str, str]], counted: _Counted) -> str:
    tasks = [text for kind, text in shown if kind == "task"]
    workers = [text for kind, text in shown if kind == "session"]
    more_tasks = [(status, str(number)) for status, number in sorted(counted.over.items())]
    more_workers = _idle_attributes(counted.idle)
    lines = ["<coordinator_context>"]
    for tag, texts, more, in_all in (
        ("task_board", tasks, more_tasks, counted.tasks),
        ("session_activity", workers, more_workers, counted.sessions),
    ):
        if in_all > len(texts):
            more.append(("left_out", str(in_all - len(texts))))
        if texts or more:
            counts = [f"    <more {_attributes(more)} />"] if more else []
            lines += [f"  <{tag}>", *texts, *counts, f"  </{tag}>"]
    return "\n".join([*lines, "</coordinator_context>"])


def _idle_attributes(idle: Sequence[str]) -> list[tuple[str, str]]:
    if not idle:
        return []
    named = ",".join(idle[:_IDLE_NAMED]) + (",…" if len(idle) > _IDLE_NAMED else "")
    return [("idle", str(len(idle))), ("idle_sessions", named)]


def _is_idle(one: Watched, open_tasks: set[str]) -> bool:
    """Nothing is to be done about it: its turn and its tasks are over, and it waits for nobody."""
    digest = one.digest
    waits = one.asks or one.escalation or digest.stuck is not None
    return digest.state == "idle" and not waits and not open_tasks.intersection(digest.task_ids)


def _task_item(task: BoardTask) -> _Item:
    attributes = [
        ("id", task.id),
        ("title", task.title),
        ("assignee", task.assignee or "unassigned"),
        ("status", task.status),
        *([("blocked_reason", task.blocked_reason)] if task.blocked_reason else []),
    ]
    line = f"    <task {_attributes(attributes)} />"
    return _Item(_TASK_RANKS.get(task.status, _LAST_RANK), task.updated_at, "task", line, line)


def _session_item(one: Watched, zone: tzinfo | None) -> _Item:
    digest = one.digest
    needs_somebody = digest.stuck is not None or one.asks or one.escalation or digest.state == "needs_input"
    brief = _session(one, digest.entries[-1:], zone)
    full = _session(one, digest.entries, zone)
    return _Item(1 if needs_somebody else 2, digest.last_activity_timestamp or 0, "session", brief, full)


def _session(one: Watched, entries: Iterable[Entry], zone: tzinfo | None) -> str:
    digest = one.digest
    attributes = [("id", digest.session_id), ("worker", digest.worker_name or "unknown")]
    if one.under:
        attributes.append(("under", one.under))
    if digest.task_ids:
        attributes.append(("task", ",".join(digest.task_ids)))
    attributes.append(("state", state_shown(digest)))
    if digest.stuck is not None:
        attributes.append(("stuck", "true"))
    lines = [f"    <session {_attributes(attributes)}>"]
    lines += [f"      [{clock(entry.timestamp, zone)}] {_quoted(entry.text)}" for entry in entries]
    if digest.stuck is not None:
        lines.append(f"      ⚠ {escape(_safe(digest.stuck.warning))}")
    if one.asks:
        lines.append(f"      ? asks: {_quoted(one.asks)}")
    if one.escalation:
        lines.append(f"      ⚑ waits for the human: {_quoted(one.escalation)}")
    return "\n".join([*lines, "    </session>"])


def _quoted(text: str) -> str:
    return escape(json.dumps(_safe(text), ensure_ascii=False))


def _attributes(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f'{name}="{escape(_safe(value), {chr(34): "&quot;"})}"' for name, value in pairs)


def _safe(text: str) -> str:
    line = fold(redact(clean(text)))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
