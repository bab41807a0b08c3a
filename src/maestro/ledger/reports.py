"""What sessions said of their work, as the log tells it, and whether it still stands; and what they were refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.ages import is_from_before
from maestro.ledger import schema
from maestro.ledger.facts import Event, Fact, ReportKind
from maestro.ledger.journal import Change

_events = schema.events

REPORTED: Final = "session.reported"
REFUSED: Final = "access.refused"
# With any of these a session has something new to do.
_BEGINS: Final = ("agent.prompted", "prompt.typing", "session.assigned")


class StandingReport(Fact):
    """What a session last said, while nobody has told it anything since. `left`: tasks that could not follow."""

    kind: ReportKind
    message: str
    at: int
    left: tuple[str, ...] = ()
    evidence: dict[str, Any] | None = None


class Refusal(Fact):
    """What a session tried and may not."""

    at: int
    method: str
    path: str
    on: str
    message: str


def standing_reports(connection: Connection, session_ids: Iterable[str]) -> dict[str, StandingReport]:
    """By session, of those whose last word still stands."""
    query = (
        sa.select(_events)
        .where(_events.c.subject_id.in_(list(session_ids)), _events.c.kind.in_([REPORTED, *_BEGINS]))
        .order_by(_events.c.seq)
    )
    by_session: dict[str, list[Event]] = {}
    for row in connection.execute(query):
        event = Event(**row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
        by_session.setdefault(event.subject_id, []).append(event)
    found = {session_id: standing(events) for session_id, events in by_session.items()}
    return {session_id: report for session_id, report in found.items() if report is not None}


def standing_report(connection: Connection, session_id: str) -> StandingReport | None:
    return standing_reports(connection, [session_id]).get(session_id)


def standing(events: Iterable[Event]) -> StandingReport | None:
    """The last report in a session's events, if nothing began after it. Pure.

    A hook may be heard after what it told of: its own time counts."""
    report: Event | None = None
    for event in events:
        if event.kind == REPORTED:
            report = event
        elif report is not None and _is_after(event, report):
            report = None
    if report is None:
        return None
    data = report.data
    return StandingReport(
        kind=data["report"],
        message=data.get("message", ""),
        at=report.at,
        left=tuple(data.get("left", ())),
        evidence=data.get("evidence"),
    )


def record_refusal(change: Change, *, method: str, path: str, on: str, message: str) -> str:
    """For the audit: who, what, on whom."""
    who = change.actor.session_id or change.actor.role
    project = change.connection.execute(
        sa.select(schema.sessions.c.project_id).where(schema.sessions.c.id == who)
    ).scalar()
    refusal = {"method": method, "path": path, "on": on}
    change.record(REFUSED, who, project, {"refusal": refusal, "message": message})
    return who


def refusals(connection: Connection, session_id: str, most: int = 5) -> list[Refusal]:
    """The last things that a session was refused, newest first."""
    query = (
        sa.select(_events.c.at, _events.c.data)
        .where(_events.c.subject_id == session_id, _events.c.kind == REFUSED)
        .order_by(_events.c.seq.desc())
        .limit(most)
    )
    return [
        Refusal(at=row.at, message=row.data["message"], **row.data["refusal"])
        for row in connection.execute(query)
    ]


def _is_after(event: Event, report: Event) -> bool:
    """Whether something began with it that came after the report. Where the clock was set back in between, their order
    in the log tells."""
    begins_at = _begins_at(event)
    return begins_at > report.at or (begins_at > 0 and is_from_before(report.at, event.at))


def _begins_at(event: Event) -> int:
    if event.kind == "prompt.typing":
        prompt: Mapping[str, Any] = event.data.get("prompt", {})
        # An answer goes on with the turn that asked.
        return event.at if prompt.get("kind") == "prompt" else 0
    if event.kind == "agent.prompted":
        return int(event.data.get("hook", {}).get("toldAt") or event.at)
    return event.at
