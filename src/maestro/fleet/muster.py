"""A fleet.yml made true, and taken down again. Twice is harmless: what is alive stays as it is."""

from __future__ import annotations

import asyncio
import os

from maestro.agents.launch import Launcher
from maestro.agents.registry import agent_named, agent_names
from maestro.errors import MaestroError
from maestro.fleet.crew import Begun, Crew
from maestro.fleet.layout import FleetPlan, PanePlan, parse_fleet
from maestro.fleet.requests import PaneOutcome, Spawn, Up, UpOutcome
from maestro.fleet.roll import may_return
from maestro.ledger import projects, sessions
from maestro.ledger.facts import Session
from maestro.ledger.journal import Change
from maestro.ledger.roles import HUMAN, Actor, require


async def up(crew: Crew, actor: Actor, request: Up) -> UpOutcome:
    """Start what is not there, find again what is, and say what is gone; with `resume`, open that again."""
    require(actor, "fleet.control")
    startable = [name for name in agent_names() if isinstance(agent_named(name), Launcher)]
    home = request.environment.get("HOME") or os.path.expanduser("~")  # noqa: ASYNC240 - reads a variable
    plan = parse_fleet(
        request.text, source=request.source, folder=request.folder, home=home, agents=startable
    )
    tmux = await crew.open(plan.name)
    await crew.settle_fleet(plan.name)
    known = {session.place.label: session for session in await of_fleet(crew, plan.name) if session.place}
    begun: dict[str, Begun] = {}
    outcomes: dict[str, PaneOutcome] = {}
    for pane in plan.panes:
        session = known.get(pane.label)
        if session is not None and session.ended_at is None:
            outcomes[pane.label] = PaneOutcome(label=pane.label, outcome="alive", session=session)
        elif session is not None and may_return(session) and not request.resume:
            note = "`maestro up --resume` opens it again."
            outcomes[pane.label] = PaneOutcome(label=pane.label, outcome="gone", session=session, note=note)
        else:
            gone = session if session is not None and may_return(session) else None
            try:
                begun[pane.label] = await _begin(crew, actor, plan, pane, request, gone)
            except MaestroError as error:
                note = f"{error.message} {error.hint}".strip()
                outcomes[pane.label] = PaneOutcome(
                    label=pane.label, outcome="failed", session=gone, note=note
                )
    ready = await asyncio.gather(*(crew.ready(one) for one in begun.values()))
    for label, session in zip(begun, ready, strict=True):
        again = label in known and may_return(known[label])
        outcome = "failed" if session.status == "error" else "resumed" if again else "started"
        note = (session.last_report or "") if session.status == "error" else ""
        outcomes[label] = PaneOutcome(label=label, outcome=outcome, session=session, note=note)
    await _set_manages(crew, plan)
    return UpOutcome(
        fleet=plan.name,
        socket=tmux.socket,
        panes=tuple(outcomes[pane.label] for pane in plan.panes),
        notes=plan.notes,
    )


async def down(crew: Crew, actor: Actor, fleet: str) -> list[Session]:
    """End every session of a fleet, then its tmux server. The sessions that were ended."""
    require(actor, "fleet.control")
    members = await of_fleet(crew, fleet)
    # Their panes go with the server. One that said that it is done may still sit in its pane: it ends, too.
    stopped = await asyncio.gather(*(crew.stop(actor, session.id, keep_pane=True) for session in members))
    was_live = {session.id for session in members if session.ended_at is None}
    await crew.end_fleet(fleet)

    def leave(change: Change) -> str:
        for session in members:
            sessions.leave_place(change, session.id)
        return fleet

    await asyncio.to_thread(crew.journal.write, actor, leave)
    return [session for session in stopped if session.id in was_live]


async def of_fleet(crew: Crew, fleet: str) -> list[Session]:
    """Sessions that belong to a fleet's panes, ended ones too, oldest first."""
    everything = await asyncio.to_thread(crew.journal.read, sessions.list_sessions)
    return [session for session in everything if session.place and session.place.fleet == fleet]


async def _begin(
    crew: Crew, actor: Actor, plan: FleetPlan, pane: PanePlan, request: Up, gone: Session | None
) -> Begun:
    cwd = pane.cwd or (pane.project if pane.project and os.path.isabs(pane.project) else request.folder)

    def project(change: Change) -> str:
        if pane.project and not os.path.isabs(pane.project):
            return projects.get_project(change.connection, pane.project).id
        return projects.project_for_directory(change, pane.project or cwd)

    spawn = Spawn(
        agent=pane.cli,
        role=pane.role,
        name=pane.label,
        label=pane.label,
        project_id=await asyncio.to_thread(crew.journal.write, actor, project),
        task_ids=(pane.task,) if pane.task else (),
        message=pane.prompt or "",
        cwd=cwd,
        model=pane.model,
        mode=pane.mode,
        worktree=pane.worktree,
        network=pane.network,
        fleet=plan.name,
        window=pane.window,
        environment=request.environment,
    )
    return await (crew.begin_again(gone, spawn) if gone else crew.begin(actor, spawn))


async def _set_manages(crew: Crew, plan: FleetPlan) -> None:
    """`@pane_manages` of a coordinator's pane: the ids of the panes that it looks after."""
    tmux = await crew.open(plan.name)
    panes = {pane.label: pane for pane in await tmux.panes() if pane.session == plan.name}
    for wanted in plan.panes:
        own = panes.get(wanted.label)
        if own is None or not wanted.manages:
            continue
        managed = [panes[label] for label in wanted.manages if label in panes]
        await tmux.set_options(own.ref, {"@pane_manages": ",".join(pane.pane_id for pane in managed)})
        if wanted.role == "coordinator" and own.session_id:
            await _give_children(crew, own.session_id, [pane.session_id for pane in managed])


async def _give_children(crew: Crew, coordinator: str, managed: list[str]) -> None:
    """A coordinator may read and prompt those that it manages, as if it had started them."""

    def work(change: Change) -> str:
        for session_id in managed:
            if session_id and session_id != coordinator:
                sessions.give_parent(change, session_id, coordinator)
        return coordinator

    await asyncio.to_thread(crew.journal.write, HUMAN, work)
