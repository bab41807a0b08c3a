"""Every session at a glance: what the live view shows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from fastapi import APIRouter, Response
from sqlalchemy.engine import Connection

from maestro.coordinate import overview as views
from maestro.coordinate.doing import Seat
from maestro.coordinate.overview import FleetView, Overview
from maestro.errors import Conflict, DaemonError, NotFound
from maestro.ledger import escalations, questions, sessions, tasks
from maestro.ledger.facts import Escalation, Question, Session, Task
from maestro.server.desk import AtDesk, Calling, Desk, Seeing

router = APIRouter(tags=["overview"])


class _Kept(NamedTuple):
    """What the ledger knows, at one moment."""

    sessions: list[Session]
    tasks: dict[str, Task]
    questions: list[Question]
    escalations: list[Escalation]


def _described() -> dict[int | str, dict[str, Any]]:
    """OpenAPI of the answer, which msgspec writes."""
    [schema], components = msgspec.json.schema_components([Overview], ref_template="#/$defs/{name}")
    return {200: {"content": {"application/json": {"schema": schema | {"$defs": components}}}}}


@router.get("/overview", responses=_described())
async def overview(desk: AtDesk, actor: Calling, seeing: Seeing) -> Response:
    """One row for each live session and for those that have just ended, by how much it needs the human."""
    now = desk.journal.clock()
    kept = await asyncio.to_thread(desk.journal.read, lambda connection: _read(connection, now))
    if actor.session_id is not None:
        seen = {one.id for one in kept.sessions if seeing.has_session(one.id)}
        kept = kept._replace(
            sessions=[one for one in kept.sessions if one.id in seen],
            questions=[one for one in kept.questions if one.session_id in seen],
            escalations=[one for one in kept.escalations if one.session_id in seen],
        )
    elif kept.questions:
        kept = await _looked_at(desk, kept)
    digests, (fleets, seats) = await asyncio.gather(
        desk.digests.read(kept.sessions, kept.tasks, last=views.LINES), _seats(desk)
    )
    if actor.session_id is not None:
        fleets = [
            fleet for fleet in fleets if any(s.place and s.place.fleet == fleet.name for s in kept.sessions)
        ]
    rows = views.rows(
        kept.sessions,
        {digest.session_id: digest for digest in digests},
        kept.questions,
        kept.escalations,
        seats,
        kept.tasks,
        now,
    )
    whole = views.overview(rows, fleets, now)
    return Response(msgspec.json.encode(whole), media_type="application/json")


def _read(connection: Connection, now: int) -> _Kept:
    inbox = escalations.list_escalations(connection, is_open=True)
    shown = sessions.list_sessions(connection, ended_after=now - views.RECENT_MS)
    # What waits for the human is shown with its session, however long ago that ended.
    gone = {one.session_id for one in inbox} - {one.id for one in shown}
    return _Kept(
        [*shown, *(sessions.get_session(connection, session_id) for session_id in sorted(gone))],
        {task.id: task for task in tasks.list_tasks(connection)},
        questions.list_questions(connection, is_open=True),
        inbox,
    )


async def _looked_at(desk: Desk, kept: _Kept) -> _Kept:
    """With the questions as they are on the screen now. A hook tells of one before its options can be seen, and whoever
    answers shall answer what is there."""
    asking = {one.session_id for one in kept.questions}
    await asyncio.gather(*(_look(desk, one) for one in kept.sessions if one.id in asking))
    found = await asyncio.to_thread(
        desk.journal.read, lambda connection: questions.list_questions(connection, is_open=True)
    )
    return kept._replace(questions=found)


async def _look(desk: Desk, session: Session) -> None:
    try:
        await desk.lookout.look(session)
    except (Conflict, DaemonError, NotFound):
        # Its pane is going away: what is known of it has to do.
        return


async def _seats(desk: Desk) -> tuple[Sequence[FleetView], dict[str, Seat]]:
    """The fleets, and the panes of sessions by session."""
    fleets = [FleetView(name, desk.crew.socket(name), desk.crew.runs(name)) for name in desk.crew.names()]
    looked = await asyncio.gather(*(_seats_of(desk, fleet) for fleet in fleets if fleet.running))
    return fleets, {session_id: seat for found in looked for session_id, seat in found.items()}


async def _seats_of(desk: Desk, fleet: FleetView) -> dict[str, Seat]:
    try:
        states = await desk.crew.states(fleet.name)
        look = await states.look()
        panes = await states.tmux.panes()
    except (Conflict, DaemonError, NotFound):
        # A tmux server that ends right now must not hide the others.
        return {}
    return {
        pane.session_id: Seat(
            fleet.name,
            fleet.socket,
            pane.pane_id,
            pane.session,
            pane.location,
            look.states[pane.pane_id],
            pane.dead,
        )
        for pane in panes
        if pane.session_id and pane.pane_id in look.states
    }
