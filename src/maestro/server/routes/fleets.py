"""Sessions in panes: spawn, stop; fleets: up, down, what their panes do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Request
from pydantic import Field

from maestro.errors import InvalidInput, NotFound
from maestro.fleet import adoption, muster
from maestro.fleet.asking import told
from maestro.fleet.checkouts import Checkouts
from maestro.fleet.crew import Crew
from maestro.fleet.meant import meant
from maestro.fleet.panes import manages_words
from maestro.fleet.requests import AdoptPane, Spawn, Up, UpOutcome
from maestro.fleet.wait import coordinate_wait
from maestro.ledger import sessions
from maestro.ledger.facts import Fact, Id, Ids, PathText, Session, Text
from maestro.ledger.roles import require
from maestro.ledger.sight import is_child
from maestro.redact import clean, redact
from maestro.server.desk import AtDesk, Calling, Desk, KeyOfChange, Seeing

router = APIRouter(tags=["fleets"])


@router.post("/sessions/spawn", status_code=201)
async def spawn(desk: AtDesk, actor: Calling, once: KeyOfChange, request: Spawn) -> Session:
    """Start an agent in a pane. Answers when it is ready, or has failed with its last screen."""
    return await desk.crew.spawn(actor, request, once)


@router.post("/fleets/up")
async def up(desk: AtDesk, actor: Calling, request: Up) -> UpOutcome:
    """Make a fleet.yml true: what is alive stays, what is missing starts, what is gone is said or resumed."""
    return await muster.up(desk.crew, actor, request)


@router.post("/fleets/{fleet}/down")
async def down(desk: AtDesk, actor: Calling, fleet: str) -> list[Session]:
    """End every session of a fleet and its tmux server; the sessions that were ended."""
    require(actor, "fleet.control")
    if fleet not in desk.crew.names():
        raise NotFound(
            f"There is no fleet “{fleet}”.", hint="`maestro fleet status` shows those that there are."
        )
    return await muster.down(desk.crew, actor, fleet)


class FleetState(Fact):
    name: str
    socket: str
    running: bool
    is_guest: Annotated[bool, Field(description="a tmux server of the user's own, with adopted panes")]
    sessions: tuple[Session, ...]


@router.get("/fleets")
async def fleets(desk: AtDesk, seeing: Seeing) -> list[FleetState]:
    """Every fleet; for a session, those that one is in which it may read."""
    found = [
        FleetState(
            name=name,
            socket=desk.crew.socket(name),
            running=desk.crew.runs(name),
            is_guest=desk.crew.guests.socket(name) is not None,
            sessions=tuple(
                one for one in await muster.of_fleet(desk.crew, name) if seeing.has_session(one.id)
            ),
        )
        for name in desk.crew.names()
    ]
    return [fleet for fleet in found if seeing.is_all or fleet.sessions]


class PaneFacts(Fact):
    """One pane as `fleet list-panes` shows it."""

    fleet: str
    pane_id: str
    label: str
    location: str
    session_id: str
    notify: str
    coordinator_active: bool
    user_focused: bool
    manages: tuple[str, ...]
    dead: bool


@router.get("/fleets/panes")
async def panes(desk: AtDesk, seeing: Seeing, fleet: str | None = None) -> list[PaneFacts]:
    shown: list[PaneFacts] = []
    for name in desk.crew.names():
        if (fleet and name != fleet) or not desk.crew.runs(name):
            continue
        states = await desk.crew.states(name)
        look = await states.look()
        shown += [
            PaneFacts(
                fleet=name,
                pane_id=pane.pane_id,
                label=pane.label,
                location=pane.location,
                session_id=pane.session_id,
                notify=look.states[pane.pane_id].notify if pane.pane_id in look.states else "",
                coordinator_active=pane.coordinator_active,
                user_focused=pane.user_focused,
                manages=tuple(manages_words(pane.manages)),
                dead=pane.dead,
            )
            for pane in await states.tmux.panes()
            if pane.session_id and seeing.has_session(pane.session_id)
        ]
    return shown


class Notify(Fact):
    pane: PathText
    state: Id
    fleet: Id | None = None


@router.post("/fleets/notify")
async def notify(desk: AtDesk, actor: Calling, request: Notify) -> dict[str, str]:
    """Say what happened in a pane: working, unchecked, error, done or checked. A session speaks for itself."""
    states, pane = await desk.crew.find_pane(request.pane, request.fleet)
    require(actor, "session.report", own=pane.session_id == actor.session_id)
    state = await states.notify(pane.ref, request.state)
    return {"paneId": pane.pane_id, "notify": state.notify}


class Wait(Fact):
    """Who waits, for which panes (default: those that its own pane manages), and how long."""

    coordinator: Id
    fleet: Id | None = None
    managed: Ids | None = None
    own_pane: Id | None = None
    timeout: Annotated[float, Field(ge=0, le=3600, strict=False)] = 300.0
    handled: Annotated[bool, Field(description="the pane that it has is not offered again as it is")] = False


class WaitOutcome(Fact):
    first_line: str
    status: str
    capture: dict[str, Any] | None


@router.post("/fleets/coordinate-wait")
async def wait(
    desk: AtDesk, actor: Calling, http: Request, later: BackgroundTasks, request: Wait
) -> WaitOutcome:
    """Block until a managed pane needs attention; engage and capture it. A coordinator gets its own children's."""
    require(actor, "fleet.coordinate", own=True)
    if request.own_pane and not request.fleet:
        states, _ = await desk.crew.find_pane(request.own_pane)
    else:
        states = await desk.crew.states(request.fleet or the_only(desk.crew))
    if request.managed and actor.session_id is not None:
        named = (await states.scope(request.managed, request.own_pane or "")).managed
        for pane in await states.tmux.panes():
            if pane.pane_id in named:
                await _require_child(desk, actor, pane.session_id)
    waiting = asyncio.create_task(
        coordinate_wait(
            states,
            actor.session_id or request.coordinator,
            timeout=request.timeout,
            managed=request.managed,
            own_pane=request.own_pane or "",
            handled=request.handled,
            among=_children_of(desk, actor),
            told=False,
        )
    )
    leaving = asyncio.create_task(_has_left(http))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            # Nobody is there to be told; the pane stays for the next one who waits.
            waiting.cancel()
        waited = await waiting
    finally:
        leaving.cancel()
    if waited.taken is not None:
        # Only when the answer is out has the coordinator been told.
        later.add_task(states.confirm, waited.taken)
    return WaitOutcome(
        first_line=waited.first_line,
        status=str(waited.status),
        capture=await _with_question(desk, waited.capture) if waited.taken else None,
    )


def _children_of(desk: Desk, actor: Calling) -> Callable[[], Awaitable[Collection[str]]] | None:
    """The caller's own children; None for a human, who may have every pane."""
    if actor.session_id is None:
        return None

    async def own() -> Collection[str]:
        found = await asyncio.to_thread(
            desk.journal.read,
            lambda connection: sessions.list_sessions(connection, parent_session_id=actor.session_id),
        )
        return {session.id for session in found}

    return own


async def _require_child(desk: Desk, actor: Calling, session_id: str) -> None:
    own = bool(session_id) and is_child(await desk.crew.session(session_id), actor)
    require(actor, "fleet.coordinate", own=own)


async def _with_question(desk: Desk, capture: dict[str, Any]) -> dict[str, Any]:
    """A capture, with what its screen says and what is asked there."""
    screen, question, content = None, None, capture["content"]
    if capture["sessionId"]:
        screen, question, content = await desk.lookout.read(capture["sessionId"], content)
    return {
        **capture,
        "content": redact(clean(content)),
        **told(question),
        "status": screen.state if screen else "unknown",
        "evidence": redact(clean(screen.evidence)) if screen else "",
    }


async def _has_left(http: Request) -> None:
    """Returns when the caller hung up: what it waited for must not be given to nobody."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


class Engage(Fact):
    pane: PathText
    coordinator: Id
    fleet: Id | None = None


@router.post("/fleets/coordinator-connect")
async def connect(desk: AtDesk, actor: Calling, request: Engage) -> dict[str, str]:
    states, pane = await desk.crew.find_pane(request.pane, request.fleet)
    await _require_child(desk, actor, pane.session_id)
    await states.connect(pane.ref, actor.session_id or request.coordinator)
    return {"paneId": pane.pane_id}


@router.post("/fleets/coordinator-disconnect")
async def disconnect(desk: AtDesk, actor: Calling, request: Engage) -> dict[str, str]:
    states, pane = await desk.crew.find_pane(request.pane, request.fleet)
    await _require_child(desk, actor, pane.session_id)
    await states.disconnect(pane.ref, actor.session_id or request.coordinator)
    return {"paneId": pane.pane_id}


@router.get("/fleets/capture")
async def capture(desk: AtDesk, actor: Calling, pane: str, fleet: str | None = None) -> dict[str, Any]:
    """A pane's screen, with what is known of the pane, and the question that it shows."""
    states, found = await desk.crew.find_pane(pane, fleet)
    await desk.crew.require_sight(actor, found.session_id)
    capture = {
        "paneId": found.pane_id,
        "paneLabel": found.label,
        "notifyState": found.notify,
        "sessionId": found.session_id,
        "location": found.location,
        "dead": found.dead,
        "content": await states.tmux.capture(found.ref, escapes=True),
    }
    return await _with_question(desk, capture)


def the_only(crew: Crew) -> str:
    """The running fleet that is meant where none is named."""
    running = [name for name in crew.names() if crew.runs(name)]
    found = meant(running, running, crew.guests.names(), dead_too=False)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound("No fleet runs.", hint="`maestro up` and `maestro session spawn` start one.")
    raise InvalidInput(f"Which fleet? {len(found)} run.", hint=f"Name one with --fleet: {', '.join(found)}.")


@router.post("/sessions/adopt-pane", status_code=201)
async def adopt_pane(desk: AtDesk, actor: Calling, request: AdoptPane) -> Session:
    """Make a session of an agent that a person runs in a pane of their own tmux server."""
    return await adoption.adopt_pane(desk.crew, desk.lookout.logs, actor, request)


class Stop(Fact):
    force: Annotated[bool, Field(description="do not ask first")] = False


@router.post("/sessions/{session_id}/stop")
async def stop(desk: AtDesk, actor: Calling, session_id: str, request: Stop) -> Session:
    """End a session's whole process tree; answers when all of it is dead."""
    return await desk.crew.stop(actor, session_id, force=request.force)


@router.get("/sessions/{session_id}/diff")
async def diff(desk: AtDesk, actor: Calling, session_id: str) -> dict[str, str]:
    """Everything that a session changed in its worktree, committed or not, as a patch."""
    return {"diff": await Checkouts(desk.crew).diff(actor, session_id)}


class Merge(Fact):
    message: Text = ""


class MergeOutcome(Fact):
    branch: str
    into: str
    commit: str
    files: tuple[str, ...]


@router.post("/sessions/{session_id}/merge")
async def merge(desk: AtDesk, actor: Calling, session_id: str, request: Merge) -> MergeOutcome:
    merged = await Checkouts(desk.crew).merge(actor, session_id, request.message)
    return MergeOutcome(branch=merged.branch, into=merged.into, commit=merged.commit, files=merged.files)


class RemovalOutcome(Fact):
    branch: str
    branch_kept: bool
    work_saved: bool


@router.delete("/sessions/{session_id}/worktree")
async def remove_worktree(
    desk: AtDesk, actor: Calling, session_id: str, *, force: bool = False
) -> RemovalOutcome:
    """Never while it is dirty or not merged, unless forced; then what it holds stays on its branch."""
    removed = await Checkouts(desk.crew).remove_worktree(actor, session_id, force=force)
    return RemovalOutcome(
        branch=removed.branch, branch_kept=removed.is_branch_kept, work_saved=removed.was_work_saved
    )


class OverlapFacts(Fact):
    repository: str
    file: str
    sessions: tuple[str, ...]


@router.get("/sessions-overlaps")
async def overlaps(desk: AtDesk, seeing: Seeing) -> list[OverlapFacts]:
    """Files that two live sessions have changed; for a session, of those that it may read."""
    found = [
        one for one in await Checkouts(desk.crew).overlaps() if all(map(seeing.has_session, one.sessions))
    ]
    return [OverlapFacts(repository=o.repository, file=o.file, sessions=o.sessions) for o in found]
