"""Sessions: listed, shown with what they last said of their work, made, changed; their reports and next tasks."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from pydantic import Field
from sqlalchemy.engine import Connection

from maestro import processes
from maestro.ledger import projects, prompts, reports, sessions, sight
from maestro.ledger.facts import (
    Fact,
    Id,
    NewSession,
    NewSessionResult,
    Prompt,
    Report,
    Session,
    SessionChange,
    Task,
    Text,
)
from maestro.ledger.journal import Change
from maestro.ledger.reports import Refusal, StandingReport
from maestro.server.desk import AtDesk, Calling, KeyOfChange, Seeing, Write

router = APIRouter(tags=["sessions"])

_MOST_SECONDS = 3600.0


class SessionView(Session):
    """A session, with what it last said of its work as long as that stands."""

    report: StandingReport | None = None


class SessionStory(SessionView):
    """And with what it was refused lately, newest first."""

    refusals: tuple[Refusal, ...] = ()


@router.get("/sessions")
def list_sessions(
    desk: AtDesk,
    seeing: Seeing,
    project_id: Annotated[str | None, Query(alias="projectId")] = None,
    directory: str | None = None,
    parent_session_id: Annotated[str | None, Query(alias="parentSessionId")] = None,
    *,
    active: bool | None = None,
) -> list[SessionView]:
    def work(connection: Connection) -> list[SessionView]:
        project = None
        if project_id or directory:
            project = projects.choose_project(connection, project_id, directory).id
        found = sessions.list_sessions(
            connection, project_id=project, parent_session_id=parent_session_id, active=active
        )
        seen = [session for session in found if seeing.has_session(session.id)]
        said = reports.standing_reports(connection, [one.id for one in seen if one.ended_at is None])
        return [SessionView(**one.model_dump(), report=said.get(one.id)) for one in seen]

    return desk.journal.read(work)


@router.post("/sessions", status_code=201)
def create_session(desk: AtDesk, write: Write, actor: Calling, request: NewSession) -> NewSessionResult:
    session_id = write(lambda change: sessions.create_session(change, request))
    token = sessions.new_token()

    def mint(change: Change) -> str:
        sessions.mint_token(change, session_id, token)
        return session_id

    # Not under the request's key: a repeated request gets a new token, for nobody has the first one.
    desk.journal.write(actor, mint)
    return NewSessionResult(session=_show(desk, session_id), token=token)


@router.get("/sessions/{session_id}")
async def show_session(desk: AtDesk, actor: Calling, session_id: str) -> SessionStory:
    """What it reported is held against what is known of its work by now."""

    def work(connection: Connection) -> SessionStory:
        session = sessions.get_session(connection, session_id)
        sight.require_sight(connection, actor, session)
        return SessionStory(
            **session.model_dump(),
            report=reports.standing_report(connection, session.id),
            refusals=tuple(reports.refusals(connection, session.id)),
        )

    story = await asyncio.to_thread(desk.journal.read, work)
    if story.report is None or story.report.kind != "complete" or story.ended_at is not None:
        return story
    session = await desk.crew.session(story.id)
    now = msgspec.to_builtins(await desk.reports.look_again(session, story.report))
    return story.model_copy(update={"report": story.report.model_copy(update={"evidence": now})})


@router.patch("/sessions/{session_id}")
def change_session(desk: AtDesk, write: Write, session_id: str, request: SessionChange) -> Session:
    birth = None
    if request.pid is not None and (started := processes.start_time(request.pid)) is not None:
        birth = (started, processes.boot_id())
    return _show(desk, write(lambda change: sessions.change_session(change, session_id, request, birth)))


@router.post("/sessions/{session_id}/report")
async def report_session(
    desk: AtDesk, actor: Calling, once: KeyOfChange, session_id: str, request: Report
) -> SessionView:
    """Its tasks and its pane follow. What it says to have completed is held against the evidence, and stands anyway."""
    session = await desk.reports.report(actor, session_id, request, once)
    said = await asyncio.to_thread(desk.journal.read, lambda c: reports.standing_report(c, session.id))
    return SessionView(**session.model_dump(), report=said)


class Assignment(Fact):
    """The next task of a session, and what to say with it."""

    task_id: Id
    message: Text = ""
    wait: bool = True
    timeout: Annotated[float, Field(ge=0, le=_MOST_SECONDS, strict=False)] = 15.0


class AssignmentOutcome(Fact):
    task: Task
    prompt: Prompt
    taken_from: tuple[str, ...]


@router.post("/sessions/{session_id}/assign", status_code=202)
async def assign(
    desk: AtDesk, actor: Calling, once: KeyOfChange, session_id: str, request: Assignment
) -> AssignmentOutcome:
    """Give a session a task by a prompt, with a receipt; a live session that had it is told that it has it no more."""
    done = await desk.reports.assign(
        actor,
        session_id,
        request.task_id,
        request.message,
        seconds=request.timeout if request.wait else 0.0,
        once=once,
    )
    return AssignmentOutcome(task=done.task, prompt=prompts.public(done.prompt), taken_from=done.taken_from)


def _show(desk: AtDesk, session_id: str) -> Session:
    return desk.journal.read(lambda connection: sessions.get_session(connection, session_id))
