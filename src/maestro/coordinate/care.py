"""Looks after workers that do not get on: helps, resumes after a limit, tells the human, withdraws what is over."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from sqlalchemy.engine import Connection

from maestro.coordinate import Policy
from maestro.coordinate.attention import DAY, Past, Response, Trouble, has_cap, respond, troubles
from maestro.coordinate.cases import Cases
from maestro.coordinate.oversight import Oversight, pane_of
from maestro.coordinate.resting import Rest, Trace, is_at_rest, needs_look
from maestro.errors import Conflict
from maestro.fleet.crew import Crew
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.ledger import decisions, escalations, sessions, tasks
from maestro.ledger.facts import Decision, Escalation, Session, Task
from maestro.ledger.journal import Change
from maestro.ledger.roles import HUMAN, Actor
from maestro.observe.digest import with_screen

_Note = Callable[[Change, str | None, str | None], str]  # prompt and escalation → the decision's id
PolicyOf = Callable[[str], Awaitable[Policy]]  # by session
_TROUBLES: Final = frozenset({"stuck", "limit", "error", "blocked", "budget"})


class Care:
    def __init__(
        self, crew: Crew, lookout: Lookout, outbox: Outbox, cases: Cases, oversight: Oversight
    ) -> None:
        self._crew = crew
        self._lookout = lookout
        self._outbox = outbox
        self._cases = cases
        self._oversight = oversight
        self._rests: dict[str, Rest] = {}

    def _trace(self, session: Session, board: Mapping[str, Task]) -> Trace:
        own = tuple(board[task] for task in session.task_ids if task in board)
        return Trace(session, own, _stamp(self._crew.transcript_of(session)))

    async def attend(
        self,
        actor: Actor,
        coordinator: str,
        policy_of: PolicyOf,
        wanted: Sequence[str],
        *,
        shadow: bool = False,
        only_restless: bool = False,
    ) -> list[Decision]:
        """Look after these sessions: help, resume, tell the human; withdraw what is over. What was decided."""
        resting = await self._resting(wanted) if only_restless else frozenset()
        made: list[Decision] = []
        for session_id in wanted:
            policy = await policy_of(session_id)
            # What others spend may use up its budget, too.
            if session_id in resting and not has_cap(policy):
                continue
            session = await self._oversight.session(actor, session_id)
            if session.status in sessions.ENDED:
                continue
            async with self._oversight.turn(session):
                made += await self._attend(actor, coordinator, policy, session, shadow=shadow)
        return made

    async def _resting(self, wanted: Sequence[str]) -> frozenset[str]:
        """Those of these sessions that rest and have not changed since."""

        def read(connection: Connection) -> tuple[list[Session], list[Task]]:
            return sessions.list_sessions(connection, active=True), tasks.list_tasks(connection)

        def traced() -> tuple[set[str], dict[str, Trace]]:
            living, found = self._crew.journal.read(read)
            board = {task.id: task for task in found}
            asked = [one for one in living if one.id in wanted]
            return {one.id for one in living}, {one.id: self._trace(one, board) for one in asked}

        living, traces = await asyncio.to_thread(traced)
        now = self._crew.journal.clock()
        for ended in self._rests.keys() - living:
            del self._rests[ended]
        return frozenset(
            one for one, trace in traces.items() if not needs_look(self._rests.get(one), trace, now)
        )

    async def _attend(
        self, actor: Actor, coordinator: str, policy: Policy, session: Session, *, shadow: bool
    ) -> list[Decision]:
        board = await self._cases.board()
        trace = await asyncio.to_thread(self._trace, session, board)
        sight, question = await self._lookout.look(session)
        digest = await self._cases.digest(session, board)
        now = self._crew.journal.clock()
        if sight is not None:
            digest = with_screen(digest, sight.screen, now)
        screen = sight.screen if sight else None
        found = [] if question else troubles(session.id, digest, trace.tasks, now)
        cap = await self._cases.over_budget(session, policy)
        if cap.text:
            found.append(Trouble("budget", cap.subject, cap.text, cap.text, now))
        await self._withdraw(session, [trouble.subject for trouble in found])
        self._rests.pop(session.id, None)
        if sight is not None and sight.focused:
            return []
        if not found and is_at_rest(trace, digest, screen):
            self._rests[session.id] = Rest(now, trace)
        made: list[Decision] = []
        for trouble in found:
            past = await self._past(session, trouble, now, shadow=shadow)
            answer = (
                Response("escalate", reason=trouble.reason)
                if trouble.kind == "budget"
                else respond(trouble, past, policy, now)
            )
            if answer.move != "wait":
                made += await self._intervene(actor, coordinator, session, trouble, answer, shadow=shadow)
        return made

    async def _intervene(
        self,
        actor: Actor,
        coordinator: str,
        session: Session,
        trouble: Trouble,
        answer: Response,
        *,
        shadow: bool,
    ) -> list[Decision]:
        def note(change: Change, prompt_id: str | None, escalation_id: str | None) -> str:
            return decisions.record(
                change,
                kind="attention",
                session_id=session.id,
                action=answer.move,
                by="policy",
                question_hash=decisions.hash_of(trouble.subject),
                coordinator=coordinator,
                text=answer.text,
                reasons=(answer.reason, trouble.text),
                categories=(trouble.kind,),
                shadow=shadow,
                prompt_id=prompt_id,
                escalation_id=escalation_id,
                pane=pane_of(session),
            )

        if answer.move == "escalate" or shadow:
            work = functools.partial(_tell_once, session_id=session.id, trouble=trouble, answer=answer)
            made = await asyncio.to_thread(
                self._crew.journal.write, actor, lambda change: work(change, note, shadow=shadow)
            )
            return [await self._decision(made)] if made else []
        try:
            sent = await self._outbox.send(
                actor,
                session.id,
                answer.text,
                also=lambda change, prompt_id: _discard(note(change, prompt_id, None)),
                as_prompt=True,
            )
        except Conflict:
            # It asks something, or has ended, since we looked.
            return []
        await self._oversight.delivered(actor, sent)
        decision = await self._oversight.decision_of(sent.id)
        return [decision] if decision else []

    async def _past(self, session: Session, trouble: Trouble, now: int, *, shadow: bool) -> Past:
        """What was done, and typed; in shadow, what would have been."""
        subject = decisions.hash_of(trouble.subject)

        def read(connection: Connection) -> Past:
            about = decisions.about(connection, session.id, subject)
            recent = decisions.list_decisions(
                connection, session_id=session.id, kinds=("attention", "receipt"), since_ms=max(1, now - DAY)
            )
            untyped = {
                one.follows
                for one in (*about, *recent)
                if one.kind == "receipt" and one.action in decisions.NOT_TYPED
            }
            done = [one for one in about if one.kind == "attention" and one.shadow == shadow]
            typed = [one for one in done if one.id not in untyped]
            helps = [one.at for one in typed if one.action == "help"]
            resumes = [one.at for one in typed if one.action == "resume"]
            return Past(
                helps=len(helps),
                last_help=helps[-1] if helps else None,
                resumes=sum(
                    one.action == "resume" and one.shadow == shadow and one.id not in untyped
                    for one in recent
                ),
                resumed_at=resumes[-1] if resumes else None,
                failures=len(done) - len(typed),
            )

        return await asyncio.to_thread(self._crew.journal.read, read)

    async def _withdraw(self, session: Session, standing: Sequence[str]) -> None:
        """What the human was told of and what is no longer so."""

        def over(open_ones: Sequence[Escalation]) -> list[Escalation]:
            return [one for one in open_ones if one.kind in _TROUBLES and one.subject not in standing]

        waiting = await asyncio.to_thread(
            self._crew.journal.read,
            lambda c: escalations.list_escalations(c, is_open=True, session_id=session.id),
        )
        for one in over(waiting):
            close = functools.partial(
                escalations.close_escalation, escalation_id=one.id, closed_by=escalations.WENT_ON
            )
            await asyncio.to_thread(self._crew.journal.write, HUMAN, close)

    async def _decision(self, decision_id: str) -> Decision:
        return await asyncio.to_thread(
            self._crew.journal.read, lambda c: decisions.get_decision(c, decision_id)
        )


def _tell_once(
    change: Change, note: _Note, *, session_id: str, trouble: Trouble, answer: Response, shadow: bool
) -> str:
    """Bring it to the human, or in shadow note that it would be; nothing where that was done before."""
    if shadow:
        known = decisions.about(change.connection, session_id, decisions.hash_of(trouble.subject))
        is_known = any(one.shadow and one.action == "escalate" for one in known)
        return "" if is_known and answer.move == "escalate" else note(change, None, None)
    before = escalations.open_of(change.connection, trouble.subject)
    if before or escalations.dismissed(change.connection, trouble.subject, None):
        return ""
    opened = escalations.open_escalation(
        change,
        session_id=session_id,
        kind=trouble.kind,
        subject=trouble.subject,
        text=trouble.text,
        reason=answer.reason,
    )
    decision_id = note(change, None, opened)
    escalations.decided(change, opened, decision_id)
    return decision_id


def _stamp(path: os.PathLike[str] | None) -> tuple[int, int]:
    """A file's size, and when it was written last."""
    try:
        found = os.stat(path) if path is not None else None
    except OSError:
        found = None
    return (found.st_size, found.st_mtime_ns) if found else (0, 0)


def _discard(_: str) -> None:
    """What is recorded beside a prompt needs no answer."""
