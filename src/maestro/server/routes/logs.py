"""What sessions are doing: digests, following, statistics, discovery, the coordinator's context."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.engine import Connection

from maestro.coordinate.below import Below, below, of_project
from maestro.coordinate.digests import is_worth_telling
from maestro.errors import InvalidInput
from maestro.ledger import memory, projects, sessions, sight, tasks
from maestro.ledger.facts import Environment, Fact, Id, Ids, Name, PathText, Session, Task
from maestro.ledger.roles import require
from maestro.observe.digest import Digest, Shape
from maestro.observe.discover import Sighting
from maestro.observe.follow import Cursor
from maestro.observe.observer import News
from maestro.observe.stats import SessionStats, with_context
from maestro.server.desk import AtDesk, Calling, Desk, Write
from maestro.server.growth import wait_for_growth

router = APIRouter(tags=["logs"])

Last = Annotated[int, Query(ge=0, le=1000)]
Since = Annotated[int | None, Query(ge=0)]
MaxLength = Annotated[int | None, Query(alias="maxLength", ge=1, le=100_000)]


def _described(answer: Any) -> dict[int | str, dict[str, Any]]:
    """OpenAPI of an answer that msgspec writes: pydantic would take longer than the digest itself."""
    [schema], components = msgspec.json.schema_components([answer], ref_template="#/$defs/{name}")
    return {200: {"content": {"application/json": {"schema": schema | {"$defs": components}}}}}


def _answer(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


class Chosen:
    """Sessions that a request names, as far as the caller may see them."""

    def __init__(self, desk: Desk, found: list[Session], known: list[Task]) -> None:
        self.desk = desk
        self.sessions = found
        self.tasks = {task.id: task for task in known}


def _choose(
    desk: Desk,
    actor: Calling,
    *,
    ids: Iterable[str] = (),
    parent: str | None = None,
    project: str | None = None,
) -> Chosen:
    def work(connection: Connection) -> Chosen:
        if parent:
            found = sessions.list_sessions(connection, parent_session_id=parent, active=True)
        elif project:
            project_id = projects.get_project(connection, project).id
            found = sessions.list_sessions(connection, project_id=project_id, active=True)
        else:
            found = [sessions.get_session(connection, wanted) for wanted in ids]
        for session in found:
            sight.require_sight(connection, actor, session)
        return Chosen(desk, found, tasks.list_tasks(connection) if found else [])

    return desk.journal.read(work)


@router.get("/sessions/log-digests", responses=_described(list[Digest]))
async def log_digests(
    desk: AtDesk,
    actor: Calling,
    parent_session_id: Annotated[str | None, Query(alias="parentSessionId")] = None,
    session_ids: Annotated[str | None, Query(alias="sessionIds", max_length=10_000)] = None,
    project_id: Annotated[str | None, Query(alias="projectId")] = None,
    last: Last = 5,
    since: Since = None,
    max_length: MaxLength = None,
    *,
    full: bool = False,
) -> Response:
    """Digests of a coordinator's live workers, of the sessions named, or of a project's live ones."""
    ids = [word.strip() for word in (session_ids or "").split(",") if word.strip()]
    if not (parent_session_id or ids or project_id):
        raise InvalidInput("Provide parentSessionId or sessionIds")
    chosen = await asyncio.to_thread(
        _choose, desk, actor, ids=ids, parent=parent_session_id, project=project_id
    )
    shape = Shape(full=full, max_length=max_length)
    return _answer(
        await desk.digests.read(chosen.sessions, chosen.tasks, last=last, since=since, shape=shape)
    )


@router.get("/sessions/{session_id}/log-digest", responses=_described(Digest))
async def log_digest(
    desk: AtDesk,
    actor: Calling,
    session_id: str,
    last: Last = 5,
    since: Since = None,
    max_length: MaxLength = None,
    *,
    full: bool = False,
) -> Response:
    chosen = await asyncio.to_thread(_choose, desk, actor, ids=[session_id])
    shape = Shape(full=full, max_length=max_length)
    [digest] = await desk.digests.read(chosen.sessions, chosen.tasks, last=last, since=since, shape=shape)
    return _answer(digest)


class Following(Fact):
    """Which sessions to follow, and the cursor of the answer before; without one it begins."""

    session_ids: Annotated[Ids, Field(min_length=1)]
    cursor: dict[str, Any] | None = None
    last: Annotated[int, Field(ge=0, le=1000)] = 5
    wait: Annotated[int, Field(ge=0, le=60)] = 25
    full: bool = False
    max_length: Annotated[int, Field(ge=1, le=100_000)] | None = None


@router.post("/sessions/log-follow", responses=_described(News))
async def log_follow(desk: AtDesk, actor: Calling, request: Following) -> Response:
    """New lines of these sessions, as soon as there are some; files are watched only while this waits."""
    shape = Shape(full=request.full, max_length=request.max_length)
    chosen = await asyncio.to_thread(_choose, desk, actor, ids=request.session_ids)
    if request.cursor is None:
        begun = await asyncio.to_thread(
            desk.observer.begin, chosen.sessions, chosen.tasks, request.last, shape
        )
        return _answer(await desk.digests.add_stuck(begun, chosen.sessions, chosen.tasks))
    try:
        cursors = msgspec.convert(request.cursor, dict[str, Cursor])
    except msgspec.ValidationError as error:
        raise InvalidInput("This is not a cursor of an earlier answer.", hint=str(error)) from error
    loop = asyncio.get_running_loop()
    deadline, begun_at = loop.time() + request.wait, desk.journal.clock()
    while True:
        woken = desk.wakeups.next()
        news = await asyncio.to_thread(desk.observer.go_on, chosen.sessions, chosen.tasks, cursors, shape)
        now = await asyncio.to_thread(_choose, desk, actor, ids=request.session_ids)
        news = await desk.digests.add_stuck(news, now.sessions, now.tasks)
        is_over = desk.wakeups.closing or loop.time() >= deadline
        if is_over or is_worth_telling(news, now.sessions, begun_at):
            return _answer(news)
        cursors = news.cursor
        paths = await asyncio.to_thread(desk.observer.transcripts, chosen.sessions)
        await wait_for_growth(paths, woken, deadline - loop.time())


@router.get("/sessions/stats", responses=_described(list[SessionStats]))
def stats(
    desk: AtDesk,
    actor: Calling,
    session_ids: Annotated[str | None, Query(alias="sessionIds", max_length=10_000)] = None,
    project_id: Annotated[str | None, Query(alias="projectId")] = None,
) -> Response:
    ids = [word.strip() for word in (session_ids or "").split(",") if word.strip()]
    if not (ids or project_id):
        raise InvalidInput("Provide sessionIds or projectId")
    chosen = _choose(desk, actor, ids=ids, project=project_id)
    told = desk.journal.read(lambda c: {one.id: memory.told(c, one.id) for one in chosen.sessions})
    counted = desk.observer.stats(chosen.sessions, chosen.tasks)
    return _answer([with_context(one, *told[one.session_id]) for one in counted])


@router.get("/sessions/discover", responses=_described(list[Sighting]))
def discover(
    desk: AtDesk,
    actor: Calling,
    most: Annotated[int, Query(ge=1, le=1000)] = 20,
    directory: Annotated[str, Query(max_length=4096)] = "",
    env: Annotated[list[str] | None, Query(max_length=50)] = None,
) -> Response:
    """Transcripts of all agents on this machine, newest first. `env`: NAME=VALUE of the caller's own."""
    require(actor, "session.adopt")
    return _answer(desk.observer.discover(_environment(env), most=most, cwd=directory))


class Adoption(Fact):
    wanted: PathText
    environment: Environment = Field(default_factory=dict)
    project_id: Id | None = None
    name: Name | None = None


@router.post("/sessions/adopt", status_code=201)
def adopt(desk: AtDesk, write: Write, request: Adoption) -> Session:
    """Make a session of a transcript that an agent wrote without Maestro. Twice is harmless."""
    require(write.actor, "session.adopt")
    found = desk.observer.find(request.environment, request.wanted)
    session_id = write(
        lambda change: sessions.adopt_session(
            change,
            agent=found.agent,
            transcript_id=found.transcript_id,
            transcript_path=found.path,
            cwd=found.cwd,
            project=request.project_id,
            name=request.name,
        )
    )
    return desk.journal.read(lambda connection: sessions.get_session(connection, session_id))


@router.get("/context")
def context(
    desk: AtDesk,
    actor: Calling,
    session_id: Annotated[str | None, Query(alias="sessionId")] = None,
    directory: str | None = None,
) -> dict[str, str]:
    """`<coordinator_context>` of a coordinator, or of the project of a directory; empty when there is nothing."""

    def work(connection: Connection) -> tuple[Below, str]:
        if session_id:
            own = sessions.get_session(connection, session_id)
            sight.require_sight(connection, actor, own)
            return below(connection, own), own.id
        require(actor, "session.read")
        return of_project(connection, projects.choose_project(connection, None, directory).id), ""

    found, coordinator = desk.journal.read(work)
    return {"context": desk.briefing.context_of(found, coordinator=coordinator)}


def _environment(pairs: list[str] | None) -> dict[str, str]:
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs or [])}
