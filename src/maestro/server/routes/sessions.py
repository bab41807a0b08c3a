from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy.engine import Connection

from maestro import processes
from maestro.ledger import projects, sessions
from maestro.ledger.facts import NewSession, NewSessionResult, Report, Session, SessionChange
from maestro.ledger.journal import Change
from maestro.server.desk import AtDesk, Calling, Write

router = APIRouter(tags=["sessions"])


@router.get("/sessions")
def list_sessions(
    desk: AtDesk,
    project_id: Annotated[str | None, Query(alias="projectId")] = None,
    directory: str | None = None,
    parent_session_id: Annotated[str | None, Query(alias="parentSessionId")] = None,
    *,
    active: bool | None = None,
) -> list[Session]:
    def work(connection: Connection) -> list[Session]:
        project = None
        if project_id or directory:
            project = projects.choose_project(connection, project_id, directory).id
        return sessions.list_sessions(
            connection, project_id=project, parent_session_id=parent_session_id, active=active
        )

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
def show_session(desk: AtDesk, session_id: str) -> Session:
    return _show(desk, session_id)


@router.patch("/sessions/{session_id}")
def change_session(desk: AtDesk, write: Write, session_id: str, request: SessionChange) -> Session:
    birth = None
    if request.pid is not None and (started := processes.start_time(request.pid)) is not None:
        birth = (started, processes.boot_id())
    return _show(desk, write(lambda change: sessions.change_session(change, session_id, request, birth)))


@router.post("/sessions/{session_id}/report")
def report_session(desk: AtDesk, write: Write, session_id: str, request: Report) -> Session:
    return _show(desk, write(lambda change: sessions.report_session(change, session_id, request)))


def _show(desk: AtDesk, session_id: str) -> Session:
    return desk.journal.read(lambda connection: sessions.get_session(connection, session_id))
