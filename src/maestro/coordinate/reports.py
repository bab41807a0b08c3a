"""What sessions report, held against what is known of their work; and the next task, given by a prompt."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

import msgspec
import structlog
from sqlalchemy.engine import Connection

from maestro.coordinate.completion import Completion, Work, check_completion
from maestro.errors import MaestroError
from maestro.fleet.crew import Crew
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.fleet.panes import Notify
from maestro.fleet.prompt import PromptTask, assignment, taken_away
from maestro.ledger import escalations, sessions, sight, tasks
from maestro.ledger.facts import Prompt, Report, Session, Task
from maestro.ledger.journal import Change, Once
from maestro.ledger.reports import StandingReport
from maestro.ledger.roles import HUMAN, Actor, require
from maestro.ledger.sight import is_child
from maestro.observe.digest import Shape
from maestro.observe.observer import Observer
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git import Git

_log = structlog.get_logger("reports")

_GIT_SECONDS: Final = 10.0
_TEXT: Final = 4000
_PANE_SAYS: Final[dict[str, Notify]] = {"complete": "done", "error": "error"}
_SCREEN_SAYS: Final = {
    "idle": "finished",
    "error": "failed",
    "limit": "limited",
    "working": "working",
    "background": "background",
    "retrying": "retrying",
}
_OVER: Final = frozenset({"completed", "cancelled", "error"})
_BUSY: Final = sessions.AT_WORK | {"spawning", "needs_input"}


class Assigned(NamedTuple):
    """A task that a session was given, the prompt that tells it, and whom it was taken from."""

    task: Task
    prompt: Prompt
    taken_from: tuple[str, ...]


class Reports:
    def __init__(self, crew: Crew, lookout: Lookout, outbox: Outbox, observer: Observer) -> None:
        self._crew = crew
        self._lookout = lookout
        self._outbox = outbox
        self._observer = observer

    async def report(self, actor: Actor, wanted: str, report: Report, once: Once | None) -> Session:
        """Record it; its tasks and its pane follow."""
        session = await self._crew.session(wanted)
        is_its_own = session.id == actor.session_id
        require(actor, "session.report", own=is_its_own)
        work = None
        if report.kind == "complete" and session.status not in sessions.ENDED:
            work = await self._work(session, report.message, is_own_word=is_its_own)

        def check(left: list[str]) -> dict[str, Any]:
            assert work is not None
            found: dict[str, Any] = msgspec.to_builtins(
                check_completion(msgspec.structs.replace(work, left=tuple(left)))
            )
            return found

        await asyncio.to_thread(
            self._crew.journal.write,
            actor,
            lambda c: sessions.report_session(c, session.id, report, check if work is not None else None),
            once,
        )
        session = await self._crew.session(session.id)
        if (notify := _PANE_SAYS.get(report.kind)) is not None:
            # Whoever waits for its pane learns of it there.
            await self._lookout.tell(session, notify, None)
        return session

    async def report_task(self, actor: Actor, wanted: str, report: Report, once: Once | None) -> Task:
        """Record it. A session in a pane that has nothing left to do has said so by it."""
        task_id = await asyncio.to_thread(
            self._crew.journal.write, actor, lambda c: tasks.report_task(c, wanted, report), once
        )
        own = await self._crew.session(actor.session_id) if actor.session_id else None
        if (
            own is not None
            and own.place is not None
            and task_id in own.task_ids
            and report.kind in _PANE_SAYS
        ):
            board = [await self._read(lambda c, one=one: tasks.get_task(c, one)) for one in own.task_ids]
            if all(one.status in _OVER for one in board):
                await self.report(actor, own.id, report, None)
        found: Task = await self._read(lambda c: tasks.get_task(c, task_id))
        return found

    async def look_again(self, session: Session, report: StandingReport) -> Completion:
        """What speaks for and against a report that stands, by now."""
        work = await self._work(session, report.message, is_own_word=False)
        return check_completion(msgspec.structs.replace(work, left=report.left))

    async def assign(
        self,
        actor: Actor,
        wanted: str,
        task: str,
        message: str = "",
        *,
        seconds: float = 0.0,
        once: Once | None = None,
    ) -> Assigned:
        """Give a session a task by a prompt; whoever had it is told that it has it no more."""
        session = await self._crew.session(wanted)
        require(actor, "session.prompt", own=is_child(session, actor))
        given = await self._read(lambda c: tasks.get_task(c, task))
        taken: list[str] = []

        def also(change: Change, _prompt_id: str) -> None:
            taken.extend(sessions.assign_task(change, session.id, given.id)[1])

        words = assignment(PromptTask(given.id, given.title, given.description), message)
        prompt = await self._outbox.send(actor, session.id, words, once=once, also=also, as_prompt=True)
        for holder in taken:
            await self._outbox.tell(holder, taken_away(given.id, given.title, session.name))
        if seconds:
            prompt = await self._outbox.settled(prompt.id, seconds)
        if prompt.state in {"failed", "withdrawn"}:
            await self._take_back(given.id, session.id, prompt.reason)
        return Assigned(await self._read(lambda c: tasks.get_task(c, given.id)), prompt, tuple(taken))

    async def _take_back(self, task_id: str, session_id: str, reason: str) -> None:
        """It was never told of it."""

        def work(change: Change) -> str:
            session = sessions.get_session(change.connection, session_id)
            tasks.take_task(change, task_id, session.id)
            told = {"task_id": task_id}
            change.record(
                "session.unassigned", session.id, session.project_id, {"assignment": told, "message": reason}
            )
            return task_id

        await asyncio.to_thread(self._crew.journal.write, HUMAN, work)

    # What is known of a session's work.

    async def _work(self, session: Session, message: str, *, is_own_word: bool) -> Work:
        seen, question = await self._lookout.look(session)
        status, text = await asyncio.to_thread(self._said, session)
        if seen is not None:
            status = _SCREEN_SAYS.get(seen.screen.state, status)

        def read(connection: Connection) -> tuple[int, int]:
            below = {session.id, *sight.sessions_below(connection, session.id)}
            open_ones = escalations.list_escalations(connection, is_open=True)
            children = sessions.list_sessions(connection, parent_session_id=session.id, active=True)
            return (
                sum(one.session_id in below for one in open_ones),
                sum(one.status in _BUSY for one in children),
            )

        waiting, busy = await self._read(read)
        return Work(
            status=status,
            is_own_word=is_own_word,
            question=question.text if question else "",
            waits_for_human=waiting,
            changed=await self._changed(session),
            has_worktree=session.worktree is not None,
            last_text=text,
            message=message,
            busy_children=busy,
        )

    def _said(self, session: Session) -> tuple[str, str]:
        shape = Shape(full=True, max_length=_TEXT)
        [digest] = self._observer.digests([session], {}, last=3, shape=shape)
        said = [entry.text for entry in digest.entries if entry.source == "assistant"]
        return digest.status, said[-1] if said else ""

    async def _changed(self, session: Session) -> tuple[str, ...] | None:
        """The files that are changed where it works; None when that cannot be told, or not soon enough."""
        try:
            async with asyncio.timeout(_GIT_SECONDS):
                return await asyncio.to_thread(_changed_files, session)
        except (MaestroError, OSError, TimeoutError) as error:
            _log.info("changes unknown", session=session.id, error=str(error))
            return None

    async def _read(self, work: Any) -> Any:
        return await asyncio.to_thread(self._crew.journal.read, work)


def _changed_files(session: Session) -> tuple[str, ...]:
    if session.worktree is not None:
        return worktrees.touched_files(session.worktree).files
    git = Git(session.cwd, {"GIT_OPTIONAL_LOCKS": "0"})
    # Each begins with two letters for what happened to it, and a space.
    return tuple(name[3:] for name in git.names("status", "--porcelain", "--no-renames", "-z", "--", "."))
