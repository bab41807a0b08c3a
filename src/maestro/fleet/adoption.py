"""A pane of the user's own tmux becomes a session's: pane options, reading and typing only."""

from __future__ import annotations

import asyncio
import os

from maestro import processes
from maestro.agents.registry import agent_names, terminal_named
from maestro.errors import InvalidInput
from maestro.fleet.crew import Crew
from maestro.fleet.facts import Pane
from maestro.fleet.logs import Logs
from maestro.fleet.requests import AdoptPane
from maestro.ledger import sessions
from maestro.ledger.facts import Session
from maestro.ledger.roles import Actor, require


async def adopt_pane(crew: Crew, logs: Logs, actor: Actor, request: AdoptPane) -> Session:
    """Makes a session of an agent that a person runs in a pane of their own tmux. Only pane options are set there."""
    require(actor, "session.adopt")
    fleet = await asyncio.to_thread(crew.guests.add, request.socket)
    tmux = await crew.open(fleet)
    pane = await tmux.pane(request.pane_id)
    if pane.session_id:
        return await crew.session(pane.session_id)
    agent = request.agent or await asyncio.to_thread(_agent_in_front, pane)
    if agent not in agent_names():
        raise InvalidInput(
            f"{request.pane_id} runs “{pane.command}”.",
            hint=f"Name the agent: --agent {'|'.join(agent_names())}",
        )
    cwd = await asyncio.to_thread(_folder_of, pane, agent)
    session_id = await asyncio.to_thread(
        crew.journal.write,
        actor,
        lambda change: sessions.adopt_session(
            change,
            agent=agent,
            transcript_id=sessions.unknown_transcript(pane.pane_id, pane.server_pid),
            transcript_path=None,
            cwd=cwd,
            project=request.project_id,
            name=request.name,
        ),
    )
    session = await crew.session(session_id)
    options = {"@session_id": session.id, "@pane_label": session.name, "@pane_notify": "working"}
    await tmux.set_options(pane.ref, options)
    await crew.place(session.id, fleet, session.name, pane)
    await asyncio.to_thread(logs.owned, await crew.session(session.id))
    return await crew.session(session.id)


def _agent_in_front(pane: Pane) -> str:
    """Which agent has the pane's terminal; some run under another program's name."""
    running = list(processes.in_foreground(pane.pane_pid)) or [(pane.command,)]
    for name in agent_names():
        terminal = terminal_named(name)
        if terminal is not None and any(map(terminal.is_agent, running)):
            return name
    return pane.command


def _folder_of(pane: Pane, agent: str) -> str:
    """Returns the folder that the agent works in; a shell in front of it may be elsewhere by now."""
    terminal = terminal_named(agent)
    for pid, argv in processes.foreground_group(pane.pane_pid):
        if terminal is not None and terminal.is_agent(argv):
            return os.path.realpath(processes.folder(pid) or f"/proc/{pane.pane_pid}/cwd")
    return os.path.realpath(f"/proc/{pane.pane_pid}/cwd")
