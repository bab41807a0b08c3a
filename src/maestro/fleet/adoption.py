"""A pane of the user's own tmux becomes a session's: pane options, reading and typing only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from maestro.agents import Transcript
from maestro.agents.registry import agent_named, agent_names
from maestro.errors import InvalidInput
from maestro.fleet.crew import Crew
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
    agent = request.agent or pane.command
    if agent not in agent_names():
        raise InvalidInput(
            f"{request.pane_id} runs “{pane.command}”.",
            hint=f"Name the agent: --agent {'|'.join(agent_names())}",
        )
    cwd = await asyncio.to_thread(os.path.realpath, f"/proc/{pane.pane_pid}/cwd")
    newest = await asyncio.to_thread(_newest_transcript, agent, cwd, request.environment)
    session_id = await asyncio.to_thread(
        crew.journal.write,
        actor,
        lambda change: sessions.adopt_session(
            change,
            agent=agent,
            transcript_id=newest.session_id if newest else pane.pane_id,
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


def _newest_transcript(agent: str, cwd: str, env: Mapping[str, str]) -> Transcript | None:
    """What an agent in this folder wrote last."""
    found = agent_named(agent).transcripts({**os.environ, **env}, cwd)
    return max(found, key=lambda one: one.modified, default=None)
