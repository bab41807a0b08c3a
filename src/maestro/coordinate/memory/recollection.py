"""What a session must not forget, in the daemon: kept when its agent says so or is about to forget, and told again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from sqlalchemy.engine import Connection

from maestro.coordinate.below import Below, Decided, below, last_decided
from maestro.coordinate.memory.dehydration import (
    MOST_DECISIONS,
    FileFound,
    Known,
    Note,
    State,
    cut,
    merged,
    parse_state,
)
from maestro.coordinate.memory.rehydration import MOST_TOKENS, Whose, state_block
from maestro.coordinate.policy.config_file import find_policy
from maestro.coordinate.vision.chapters import OVERSIGHT
from maestro.coordinate.vision.current_chapter import current_chapter
from maestro.errors import MaestroError
from maestro.fleet.crew import Crew
from maestro.fleet.panes import manages_words
from maestro.fleet.prompt import PromptTask
from maestro.ledger import memory, projects, sight, tasks
from maestro.ledger.facts import Escalation, Session
from maestro.ledger.roles import Actor, require

T = TypeVar("T")
_VERBS: Final = {
    "answer": "answered",
    "escalate": "left to the human",
    "probe": "asked back",
    "help": "prompted",
}


class Kept(NamedTuple):
    state: State
    at: int | None  # when something was kept; none where all of it is of this moment
    is_automatic: bool
    whose: Whose

    def block(self, most_tokens: int | None = MOST_TOKENS) -> str:
        return state_block(self.whose, self.state, self.at, most_tokens=most_tokens)


class Recollection:
    def __init__(self, crew: Crew, env: Mapping[str, str]) -> None:
        self._crew = crew
        self._env = env

    async def dehydrate(self, actor: Actor, wanted: str, text: str) -> Kept:
        """Keep what the agent says of its state, with all that it left out and the ledger knows."""
        session = await self._crew.session(wanted)
        require(actor, "session.report", own=session.id == actor.session_id)
        roots = await self._roots(session)
        given = await asyncio.to_thread(parse_state, text, lambda path: find_file(session.cwd, roots, path))
        return await self._keep(actor, session, given, automatic=False)

    async def about_to_forget(self, session: Session) -> None:
        """Its agent empties its context: keep what is known, with the words that it gave last."""
        await self._keep(Actor(session.role, session.id), session, State(), automatic=True)

    async def shown(self, actor: Actor, wanted: str) -> Kept:
        """What a session goes on with, for whoever may see it."""
        session = await self._crew.session(wanted)
        await self._read(lambda c: sight.require_sight(c, actor, session))
        return await self.kept(session)

    async def kept(self, session: Session) -> Kept:
        """What was kept last, with what the ledger knows by now."""
        last = await self._read(lambda c: memory.last_dehydrated(c, session.id))
        before = _state_of(last.state) if last else None
        state = merged(State(), before, await self._known(session))
        whose = await self._read(lambda c: _whose(c, session))
        return Kept(state, last.at if last else None, last.is_automatic if last else False, whose)

    async def _keep(self, actor: Actor, session: Session, given: State, *, automatic: bool) -> Kept:
        last = await self._read(lambda c: memory.last_dehydrated(c, session.id))
        before = _state_of(last.state) if last else None
        state = merged(given, before, await self._known(session))
        told = msgspec.to_builtins(state)
        await asyncio.to_thread(
            self._crew.journal.write,
            actor,
            lambda change: memory.record_dehydrated(change, session, told, automatic=automatic),
        )
        whose = await self._read(lambda c: _whose(c, session))
        return Kept(state, self._crew.journal.clock(), automatic, whose)

    async def _known(self, session: Session) -> Known:
        if session.role != "coordinator":
            return Known()

        def read(connection: Connection) -> tuple[Below, list[Decided]]:
            family = below(connection, session)
            return family, last_decided(connection, list(family.names), MOST_DECISIONS)

        family, decided = await self._read(read)
        names = {session.id, session.name, OVERSIGHT}
        chapter = await asyncio.to_thread(current_chapter, session.cwd, self._env, names)
        return Known(
            pending=tuple(_escalation(one, family.names) for one in family.escalations),
            decisions=tuple(_decision(one, family.names) for one in decided),
            config=await asyncio.to_thread(self._policy_path, session),
            vision=chapter.path,
            chapter=chapter.chapter,
            criteria=chapter.criteria,
            panes=await self._panes(session, family),
        )

    def _policy_path(self, session: Session) -> str:
        """Empty: no file says anything, and the defaults hold."""
        try:
            return find_policy(session.id, session.cwd, self._env, self._crew.home.root).path or ""
        except MaestroError as error:
            return f"(cannot be used: {error.message})"

    async def _panes(self, session: Session, family: Below) -> tuple[Note, ...]:
        """Its workers' panes, and those that its own pane's `@pane_manages` names."""
        found = {
            one.place.pane_id: Note(f"{one.name} ({one.id}), {one.status}", one.place.pane_id)
            for one in family.sessions
            if one.place is not None
        }
        tmux = await self._crew.running(session.place.fleet) if session.place else None
        panes = await tmux.panes() if tmux else []
        own = next((pane for pane in panes if pane.session_id == session.id), None)
        words = manages_words(own.manages) if own else []
        for pane in panes:
            if pane.pane_id not in found and {pane.pane_id, pane.label, pane.session_id}.intersection(words):
                found[pane.pane_id] = Note(f"{pane.label} ({pane.session_id}), {pane.notify}", pane.pane_id)
        return tuple(found.values())

    async def _roots(self, session: Session) -> tuple[str, ...]:
        """The folders that its files may be in: its project, and the checkout that it works in."""
        project = await self._read(lambda c: projects.get_project(c, session.project_id))
        return session.cwd, project.directory

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._crew.journal.read, work)


def find_file(cwd: str, roots: tuple[str, ...], path: str) -> FileFound:
    """What a path of the agent means: a file in one of these folders, wherever links lead."""
    if "\0" in path:
        return FileFound(fault="is no name of a file")
    here = os.path.realpath(cwd)
    real = os.path.realpath(os.path.join(here, path))
    if not any(real.startswith(os.path.realpath(root).rstrip("/") + "/") for root in roots):
        return FileFound(fault="is outside of the project")
    if not os.path.isfile(real):
        return FileFound(fault="is no file of the project")
    return FileFound(os.path.relpath(real, here) if real.startswith(here.rstrip("/") + "/") else real)


def _state_of(stored: dict[str, Any]) -> State:
    try:
        return msgspec.convert(stored, State)
    except msgspec.ValidationError:
        # An older Maestro kept it in another form: its words are still those of the agent.
        return State(summary=str(stored.get("summary", "")))


def _whose(connection: Connection, session: Session) -> Whose:
    own = [tasks.get_task(connection, one) for one in session.task_ids]
    told = tuple(PromptTask(task.id, task.title, task.description) for task in own)
    return Whose(session.id, session.name, session.role, told)


def _escalation(one: Escalation, names: Mapping[str, str]) -> Note:
    why = f" ({one.reason})" if one.reason else ""
    return Note(cut(one.text + why), one.id, cut(names[one.session_id], 80), one.opened_at)


def _decision(one: Decided, names: Mapping[str, str]) -> Note:
    asked = f"“{one.question}” " if one.question else ""
    said = f": {one.text}" if one.text else ""
    verb = _VERBS.get(one.action, one.action)
    return Note(cut(f"{asked}{verb} by {one.by}{said}"), one.id, cut(names[one.session_id], 80), one.at)
