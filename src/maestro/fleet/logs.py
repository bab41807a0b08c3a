"""Which log an adopted agent writes: nobody told us, but the prompt that we typed shows it.

It may write its first line only now, or have begun a new file; the newest of its folder may be another's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from maestro import processes
from maestro.agents import Transcript
from maestro.agents.registry import agent_named
from maestro.agents.terminal import Terminal
from maestro.fleet.crew import Crew
from maestro.fleet.proof import lines_since, taken_since
from maestro.ledger import sessions
from maestro.ledger.facts import Session
from maestro.ledger.roles import HUMAN

Lengths = Mapping[Path, int]

_LATER_SECONDS: Final = 600.0  # a queued prompt is taken when the turn before it ends, or never
_LOOK_SECONDS: Final = 1.0


class Logs:
    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._later: dict[str, asyncio.Task[None]] = {}

    async def lengths(self, session: Session) -> Lengths | None:
        """How long each log that could be its is now; None where it is known which one is."""
        if session.mode is not None:
            return None
        return {log.path: log.size for log in await asyncio.to_thread(self._possible, session)}

    async def follow_taker(
        self, session: Session, terminal: Terminal, before: Lengths, *typed: str
    ) -> Transcript | None:
        """The log that has got this prompt since; from now on it is the session's."""
        taker = await asyncio.to_thread(self._taker, session, terminal, before, *typed)
        if taker is not None:
            await asyncio.to_thread(
                self._crew.journal.write,
                HUMAN,
                lambda c: sessions.follow_transcript(c, session.id, taker.session_id, str(taker.path)),
            )
        return taker

    def follow_later(self, session: Session, terminal: Terminal, before: Lengths, *typed: str) -> None:
        """The agent has queued this prompt: its log shows it only when the agent takes it."""
        if session.id not in self._later:
            waiting = asyncio.create_task(self._until_taken(session, terminal, before, *typed))
            self._later[session.id] = waiting
            waiting.add_done_callback(lambda _: self._later.pop(session.id))

    async def _until_taken(self, session: Session, terminal: Terminal, before: Lengths, *typed: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _LATER_SECONDS
        while loop.time() < deadline and (await self._crew.session(session.id)).ended_at is None:
            if await self.follow_taker(session, terminal, before, *typed) is not None:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def _taker(self, session: Session, terminal: Terminal, before: Lengths, *typed: str) -> Transcript | None:
        for log in self._possible(session):
            length = before.get(log.path, 0)
            if log.size > length and taken_since(terminal, lines_since(log.path, length), *typed):
                return log
        return None

    def _possible(self, session: Session) -> list[Transcript]:
        """Every log of its folder that is no other live session's."""
        agent = agent_named(session.agent)
        env = {**os.environ, **session.environment}
        if session.place is not None:
            for name in ("HOME", *agent.home_variables):
                value = processes.variable(session.place.pane_pid, name)
                if value is not None:
                    env[name] = value
        live = self._crew.journal.read(lambda c: sessions.list_sessions(c, active=True))
        others = {one.transcript_id for one in live if one.id != session.id}
        return [log for log in agent.transcripts(env, session.cwd) if log.session_id not in others]
