"""A pane of the user's own tmux becomes a session's: pane options, reading and typing only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Container, Mapping

from maestro import processes
from maestro.agents import Transcript
from maestro.agents.registry import agent_named, agent_names, terminal_named
from maestro.errors import InvalidInput
from maestro.fleet.crew import Crew
from maestro.fleet.facts import Pane
from maestro.fleet.requests import AdoptPane
from maestro.ledger import sessions
from maestro.ledger.facts import Session
from maestro.ledger.roles import Actor, require


async def adopt_pane(crew: Crew, actor: Actor, request: AdoptPane) -> Session:
    """Make a session of an agent that a person runs in a pane of their own tmux. Only pane options are set there."""
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
    cwd = await asyncio.to_thread(os.path.realpath, f"/proc/{pane.pane_pid}/cwd")
    # Also of those that have ended: a log that it goes on with is found when it takes its first prompt.
    known = await asyncio.to_thread(crew.journal.read, sessions.list_sessions)
    others = {session.transcript_id for session in known}
    newest = await asyncio.to_thread(_newest_transcript, agent, cwd, request.environment, others)
    session_id = await asyncio.to_thread(
        crew.journal.write,
        actor,
        lambda change: sessions.adopt_session(
            change,
            agent=agent,
            # Until its log is known, the pane itself has to do: `%0` is one in every server.
            transcript_id=newest.session_id if newest else f"{pane.pane_id}-{pane.server_pid}",
            transcript_path=str(newest.path) if newest else None,
            cwd=cwd,
            project=request.project_id,
            name=request.name,
        ),
    )
    session = await crew.session(session_id)
    options = {"@session_id": session.id, "@pane_label": session.name, "@pane_notify": "working"}
    await tmux.set_options(pane.ref, options)
    await crew.place(session.id, fleet, session.name, pane)
    return await crew.session(session.id)


def _agent_in_front(pane: Pane) -> str:
    """Which agent has the pane's terminal; some run under another program's name."""
    running = list(processes.in_foreground(pane.pane_pid)) or [(pane.command,)]
    for name in agent_names():
        terminal = terminal_named(name)
        if terminal is not None and any(map(terminal.is_agent, running)):
            return name
    return pane.command


def _newest_transcript(
    agent: str, cwd: str, env: Mapping[str, str], others: Container[str | None]
) -> Transcript | None:
    """What an agent in this folder wrote last, and no session that we know."""
    found = agent_named(agent).transcripts({**os.environ, **env}, cwd)
    return max(
        (one for one in found if one.session_id not in others), key=lambda one: one.modified, default=None
    )
