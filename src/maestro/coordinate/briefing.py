"""What an agent is told without being prompted: a coordinator its context on every turn, whoever forgot what it was at.

By the agent's own hooks where they tell of prompts; else behind what is typed into it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from sqlalchemy.engine import Connection

from maestro.agents.hooks import Happening, TellsModel
from maestro.agents.registry import hooked_named
from maestro.coordinate.below import Below, below
from maestro.coordinate.memory.recollection import Recollection
from maestro.fleet.crew import Crew
from maestro.fleet.delivery import typable
from maestro.fleet.outbox import Addition
from maestro.ledger import memory
from maestro.ledger.facts import Session
from maestro.ledger.journal import Change
from maestro.ledger.memory import Way
from maestro.ledger.roles import Actor
from maestro.observe.context import MOST_TOKENS, estimated_tokens
from maestro.observe.observer import Observer

T = TypeVar("T")
# What a hook prints may have this much in all; a CLI puts more than 10,000 characters into a file.
_MOST_IN_ALL: Final = 2_400


class Brief(NamedTuple):
    context: str = ""
    state: str = ""

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.state, self.context) if part)


class Briefing:
    def __init__(self, crew: Crew, observer: Observer, recollection: Recollection) -> None:
        self._crew = crew
        self._observer = observer
        self._recollection = recollection

    async def heard(self, session: Session, happening: Happening, *, listens: bool) -> str:
        """What the model is told at this; empty: nothing. `listens`: the hook is there, and prints it."""
        if happening.kind == "compacting":
            await self._recollection.about_to_forget(session)
        if not listens:
            return ""
        if happening.kind == "prompted":
            brief = await self._of_turn(session)
        elif happening.kind in {"session_started", "compacted"}:
            brief = Brief(state=await self._of_start(session, happening))
        else:
            return ""
        if brief.text:
            await asyncio.to_thread(
                self._crew.journal.write,
                Actor(session.role, session.id),
                lambda change: _record(change, session, brief, way="hook"),
            )
        return brief.text

    async def to_append(self, session: Session) -> Addition:
        """What goes behind a prompt that is typed: all of it, where no hook of the session tells it."""
        can_tell = isinstance(hooked_named(session.agent), TellsModel)
        if can_tell and await self._read(lambda c: memory.has_hooks(c, session.id)):
            return Addition()
        brief = await self._of_turn(session)
        return Addition(
            typable(brief.text), lambda change, _prompt: _record(change, session, brief, way="typed")
        )

    async def _of_turn(self, session: Session) -> Brief:
        """The context; and first what it forgot, where no start told it: not every CLI begins anew by a hook."""
        state = ""
        if await self._read(lambda c: memory.is_owed(c, session.id)):
            state = (await self._recollection.kept(session)).block()
        if session.role != "coordinator":
            return Brief(state=state)
        room = min(MOST_TOKENS, _MOST_IN_ALL - estimated_tokens(len(state)))
        return Brief(await asyncio.to_thread(self._context, session, room), state)

    async def _of_start(self, session: Session, happening: Happening) -> str:
        """A coordinator goes on from what was kept, however it starts again; a worker that forgot gets its task."""
        forgot = happening.kind == "compacted" or happening.source == "clear"
        if session.role == "coordinator":
            forgot = forgot or await self._read(lambda c: memory.has_lived(c, session.id))
        return (await self._recollection.kept(session)).block() if forgot else ""

    def _context(self, session: Session, most_tokens: int) -> str:
        found = self._crew.journal.read(lambda c: below(c, session))
        return self.context_of(found, coordinator=session.id, most_tokens=most_tokens)

    def context_of(self, found: Below, *, coordinator: str, most_tokens: int = MOST_TOKENS) -> str:
        """`<coordinator_context>` of these, for this session; for none, of all."""
        escalated = {
            one.session_id: f"{one.id}: {one.reason or one.text}" for one in reversed(found.escalations)
        }
        return self._observer.context(
            found.sessions,
            found.tasks,
            asks=found.asks,
            escalated=escalated,
            coordinator=coordinator,
            most_tokens=most_tokens,
        )

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._crew.journal.read, work)


def _record(change: Change, session: Session, brief: Brief, *, way: Way) -> str:
    context, state = estimated_tokens(len(brief.context)), estimated_tokens(len(brief.state))
    return memory.record_told(change, session, context=context, state=state, way=way)
