"""`<coordinator_context>`: the task board and the workers' activity, for a coordinator's prompt. Pure.

Everything that comes from tasks and transcripts is escaped: a title cannot close a tag, a text cannot pose as
the board.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from xml.sax.saxutils import escape

import msgspec

from maestro.observe.digest import Digest
from maestro.redact import clean, fold, redact


class BoardTask(msgspec.Struct, frozen=True):
    """One line of the board."""

    id: str
    title: str
    status: str
    assignee: str = ""
    blocked_reason: str = ""


def coordinator_context(
    tasks: Sequence[BoardTask], digests: Sequence[Digest], zone: tzinfo | None = None
) -> str:
    """The block that goes into the prompt; empty when there is nothing to tell."""
    if not tasks and not digests:
        return ""
    lines = ["<coordinator_context>"]
    if tasks:
        lines += ["  <task_board>", *[_task(task) for task in tasks], "  </task_board>"]
    if digests:
        lines.append("  <session_activity>")
        for one in digests:
            lines += _session(one, zone)
        lines.append("  </session_activity>")
    lines.append("</coordinator_context>")
    return "\n".join(lines)


def state_shown(digest: Digest) -> str:
    """The state as people and models read it: how long it has been idle is part of it."""
    idle = digest.metrics.idle_duration_ms // 1000
    return f"idle_{idle}s" if digest.state == "idle" and idle else digest.state


def clock(timestamp: int | None, zone: tzinfo | None = None) -> str:
    """A time of day, in this machine's zone unless told otherwise."""
    if timestamp is None:
        return "--:--:--"
    return datetime.fromtimestamp(timestamp / 1000, UTC).astimezone(zone).strftime("%H:%M:%S")


def _task(task: BoardTask) -> str:
    attributes = [
        ("id", task.id),
        ("title", task.title),
        ("assignee", task.assignee or "unassigned"),
        ("status", task.status),
        *([("blocked_reason", task.blocked_reason)] if task.blocked_reason else []),
    ]
    return f"    <task {_attributes(attributes)} />"


def _session(digest: Digest, zone: tzinfo | None) -> list[str]:
    attributes = [("id", digest.session_id), ("worker", digest.worker_name or "unknown")]
    if digest.task_ids:
        attributes.append(("task", ",".join(digest.task_ids)))
    attributes.append(("state", state_shown(digest)))
    if digest.stuck is not None:
        attributes.append(("stuck", "true"))
    lines = [f"    <session {_attributes(attributes)}>"]
    for entry in digest.entries:
        quoted = json.dumps(_safe(entry.text), ensure_ascii=False)
        lines.append(f"      [{clock(entry.timestamp, zone)}] {escape(quoted)}")
    if digest.stuck is not None:
        lines.append(f"      ⚠ {escape(_safe(digest.stuck.warning))}")
    lines.append("    </session>")
    return lines


def _attributes(pairs: list[tuple[str, str]]) -> str:
    return " ".join(f'{name}="{escape(_safe(value), {chr(34): "&quot;"})}"' for name, value in pairs)


def _safe(text: str) -> str:
    return fold(redact(clean(text)))
