"""The human's side, in the daemon: what waits for them, and what they say to it.

What nobody waits for any more is withdrawn by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import structlog
from sqlalchemy.engine import Connection

from maestro.coordinate import AnswerRule, Finding
from maestro.coordinate.admission import Admission
from maestro.coordinate.cases import TURN, Cases
from maestro.coordinate.oversight import pane_of
from maestro.coordinate.precedent import fingerprint, offer
from maestro.errors import Conflict, MaestroError
from maestro.fleet.asking import asked_of
from maestro.fleet.crew import Crew
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Also, Outbox
from maestro.ledger import decisions, escalations, precedents, questions
from maestro.ledger.facts import Decision, Escalation, Precedent, Prompt, Question, Session
from maestro.ledger.journal import Change, Once
from maestro.ledger.roles import HUMAN, Actor, require
from maestro.ledger.sight import sight_of

_log = structlog.get_logger("inbox")
T = TypeVar("T")


class View(NamedTuple):
    """An escalation with all that a person needs to answer it."""

    escalation: Escalation
    session: Session
    question: Question | None
    findings: tuple[Finding, ...]


class Answered(NamedTuple):
    view: View
    prompt: Prompt
    decision: Decision | None
    offer: AnswerRule | None
    times: int


class Inbox:
    def __init__(
        self, crew: Crew, lookout: Lookout, outbox: Outbox, cases: Cases, admission: Admission
    ) -> None:
        self._crew = crew
        self._lookout = lookout
        self._outbox = outbox
        self._cases = cases
        self._admission = admission
        self._withdrawing: asyncio.Task[None] | None = None
        self._again = False

    # What waits.

    async def list(self, actor: Actor, *, every: bool = False) -> list[View]:
        require(actor, "inbox.read", own=True)
        await self._look_again()
        found = await self._read(lambda c: escalations.list_escalations(c, is_open=None if every else True))
        sight = await self._read(lambda c: sight_of(c, actor))
        return [await self._view(one) for one in found if sight.has_session(one.session_id)]

    async def show(self, actor: Actor, word: str) -> View:
        require(actor, "inbox.read", own=True)
        found = await self._read(lambda c: escalations.find_escalation(c, word))
        sight = await self._read(lambda c: sight_of(c, actor))
        require(actor, "inbox.read", own=sight.has_session(found.session_id))
        return await self._view(found)

    async def mark_notified(self, actor: Actor, word: str) -> View:
        require(actor, "inbox.answer")
        found = await self._read(lambda c: escalations.find_escalation(c, word))
        await self._write(actor, lambda c: escalations.mark_notified(c, found.id))
        return await self.show(actor, found.id)

    # What a human says.

    async def answer(
        self,
        actor: Actor,
        word: str,
        message: str,
        *,
        version: int | None = None,
        remember: bool = True,
        seconds: float = 15.0,
        once: Once | None = None,
    ) -> Answered:
        require(actor, "inbox.answer")
        found = await self._read(lambda c: escalations.find_escalation(c, word))
        if found.closed_at is not None:
            raise Conflict(f"It waits no longer: {found.closed_by}.", hint="`maestro inbox` shows what does.")
        if version is not None and version != found.version:
            raise Conflict("What is asked has changed since.", hint="Look at it again before you answer.")
        session = await self._crew.session(found.session_id)
        prompt = await self._send(actor, session, found, message, remember=remember, once=once)
        prompt = await self._outbox.settled(prompt.id, seconds)
        decision = await self._read(lambda c: decisions.of_prompt(c, prompt.id))
        rule, times = await self._offer(session, found)
        return Answered(await self.show(actor, found.id), prompt, decision, rule, times)

    async def _send(
        self,
        actor: Actor,
        session: Session,
        found: Escalation,
        message: str,
        *,
        remember: bool,
        once: Once | None,
    ) -> Prompt:
        question = await self._question_of(found)
        if question is None:
            if found.question_id is not None:
                await self._require_same_turn(session, found.question_id)
            also = self._resolution(actor, session, found, message)
            return await self._outbox.send(actor, session.id, message, also=also, as_prompt=True, once=once)
        try:
            return await self._outbox.send(
                actor,
                session.id,
                message,
                question_id=question.id,
                # A call that a hook named stays what it is: its screen only adds what can be chosen.
                version=None if question.call_id else found.version,
                also=self._admission.human_answer(actor, session, question, message, remember=remember),
                once=once,
            )
        except Conflict:
            # What it asks is not what the human was told: they are told of it as it is now.
            await self._write(actor, lambda c: _refresh(c, found))
            raise

    async def dismiss(self, actor: Actor, word: str, reason: str) -> View:
        """The human does not want to be asked this; the worker waits on, or goes on by itself."""
        require(actor, "inbox.answer")
        found = await self._read(lambda c: escalations.find_escalation(c, word))

        def work(change: Change) -> str:
            decisions.record(
                change,
                kind="resolution",
                session_id=found.session_id,
                action="dismiss",
                by="human",
                question_id=found.question_id,
                version=found.version,
                reasons=(reason,) if reason else (),
                follows=found.decision_id,
                escalation_id=found.id,
            )
            told = f"{escalations.DISMISSED} by a human" + (f": {reason}" if reason else "")
            return escalations.close_escalation(change, found.id, told)

        if found.closed_at is None:
            await self._write(actor, work)
        return await self.show(actor, found.id)

    # In words.

    def _resolution(self, actor: Actor, session: Session, found: Escalation, text: str) -> Also:
        """A human's words about something that is no dialog."""

        def also(change: Change, prompt_id: str) -> None:
            decisions.record(
                change,
                kind="resolution",
                session_id=session.id,
                action="answer",
                by="human",
                actor=actor,
                question_id=found.question_id,
                version=found.version,
                text=text,
                confidence=1.0,
                follows=found.decision_id,
                prompt_id=prompt_id,
                escalation_id=found.id,
                pane=pane_of(session),
            )

        return also

    async def _offer(self, session: Session, found: Escalation) -> tuple[AnswerRule | None, int]:
        """After several equal answers of the human, the rule that would spare them the next."""
        question = await self._question_of(found)
        if question is None:
            return None, 0
        settings = await asyncio.to_thread(self._admission.settings, session)
        now = self._crew.journal.clock()
        known: Precedent | None = await self._read(
            lambda c: precedents.match(c, session.project_id, fingerprint(asked_of(question)), now)
        )
        if known is None:
            return None, 0
        # Its words take a while to be read, which a daemon that nothing is asked of need not spend.
        from maestro.coordinate.gate.judge import gate

        asked = asked_of(question)
        rule = offer(known, settings.precedents, asked.tool)
        # What the gate stops comes to the human whatever the rules say: no rule would spare them the next.
        if rule is None or (await asyncio.to_thread(gate, asked, settings, rule.answer)).findings:
            return None, known.answers
        return rule, known.answers

    # What nobody waits for any more.

    def rouse(self) -> None:
        """Something was written: see whether it ended what the human is asked. From the daemon's loop."""
        if self._withdrawing is not None and not self._withdrawing.done():
            self._again = True
            return
        self._withdrawing = asyncio.get_running_loop().create_task(self._withdraw())

    async def _withdraw(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            try:
                if await self._read(lambda c: escalations.list_escalations(c, is_open=True)):
                    await self._write(HUMAN, lambda c: ",".join(escalations.withdraw_over(c)))
            except MaestroError as error:
                _log.warning("withdraw", error=error.message)

    async def _look_again(self) -> None:
        """Before the human reads: is what they would be asked still asked?"""
        waiting = await self._read(lambda c: escalations.list_escalations(c, is_open=True))
        for session_id in dict.fromkeys(one.session_id for one in waiting):
            session = await self._crew.session(session_id)
            await self._lookout.look(session)
        for one in waiting:
            if one.question_id is None or not one.question_id.startswith(TURN):
                continue
            turn = await self._cases.turn(await self._crew.session(one.session_id))
            if turn is None or turn.question.id != one.question_id:
                await self._write(HUMAN, _closing(one.id))
        await self._write(HUMAN, lambda c: ",".join(escalations.withdraw_over(c)))

    async def _require_same_turn(self, session: Session, turn_id: str) -> None:
        turn = await self._cases.turn(session)
        if turn is None or turn.question.id != turn_id:
            raise Conflict(
                "The worker has gone on since.", hint="`maestro session logs ID` shows what it says now."
            )

    async def _question_of(self, found: Escalation) -> Question | None:
        wanted = found.question_id
        if wanted is None or wanted.startswith(TURN):
            return None
        return await self._read(lambda c: questions.get_question(c, wanted))

    async def _view(self, found: Escalation) -> View:
        # Its words take a while to be read, which a daemon that nothing is asked of need not spend.
        from maestro.coordinate.gate.judge import gate

        session = await self._crew.session(found.session_id)
        question = await self._question_of(found)
        findings: tuple[Finding, ...] = ()
        if question is not None:
            policy = await asyncio.to_thread(self._admission.settings, session)
            findings = gate(asked_of(question), policy, found.proposed).findings
        return View(found, session, question, findings)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._crew.journal.read, work)

    async def _write(self, actor: Actor, work: Callable[[Change], str]) -> str:
        return await asyncio.to_thread(self._crew.journal.write, actor, work)


def _refresh(change: Change, found: Escalation) -> str:
    """The human is told of the question as it is now; nothing, if it is over."""
    if found.question_id is None:
        return found.id
    question = questions.get_question(change.connection, found.question_id)
    if question.closed_at is not None:
        escalations.withdraw_over(change, session_id=found.session_id)
        return found.id
    return escalations.open_escalation(
        change,
        session_id=found.session_id,
        kind=found.kind,
        subject=found.subject,
        question_id=question.id,
        version=question.version,
        text=question.text,
        reason=found.reason,
        categories=found.categories,
        proposed=found.proposed,
        confidence=found.confidence,
        decision_id=found.decision_id,
    )


def _closing(escalation_id: str) -> Callable[[Change], str]:
    return lambda change: escalations.close_escalation(change, escalation_id, escalations.WENT_ON)
