"""Decides about questions in the daemon, records, and only then acts.

The gate stands here, in front of every answer that is not a human's own. A decision and the prompt that carries it out
are one transaction: after a crash either both are there, and the prompt is delivered, or neither.
"""

from __future__ import annotations

import asyncio
from typing import Final, Literal

import msgspec

from maestro.coordinate import Assessment, Case, Policy, Spent, Verdict
from maestro.coordinate.cases import Cases, Open
from maestro.coordinate.precedent import question_hash
from maestro.coordinate.verdict import decide, proposed
from maestro.errors import Conflict, InvalidInput
from maestro.fleet.crew import Crew
from maestro.fleet.facts import Sight
from maestro.fleet.lookout import Lookout
from maestro.fleet.outbox import Outbox
from maestro.ledger import decisions, escalations, precedents, questions
from maestro.ledger.facts import Decision, Prompt, Session
from maestro.ledger.journal import Change
from maestro.ledger.roles import Actor, require
from maestro.ledger.sight import is_child

RECEIPT_SECONDS: Final = 20.0

Outcome = Literal["answer", "probe", "escalate", "ignore", "yield", "stale"]


class Engagement(msgspec.Struct, frozen=True, rename="camel"):
    """Which occurrence of which question is meant, by whom, and whether anything is to be done."""

    session_id: str
    coordinator: str
    question_id: str = ""
    version: int = 0
    shadow: bool = False


class Considered(msgspec.Struct, frozen=True, rename="camel"):
    """A case, and the verdict where none but the policy and precedent is needed for it."""

    case: Case | None
    verdict: Verdict | None


class Done(msgspec.Struct, frozen=True, rename="camel"):
    outcome: Outcome
    verdict: Verdict | None = None
    decision_id: str = ""
    prompt_id: str = ""
    prompt_state: str = ""
    escalation_id: str = ""
    reason: str = ""


class Oversight:
    def __init__(self, crew: Crew, lookout: Lookout, outbox: Outbox, cases: Cases) -> None:
        self._crew = crew
        self._lookout = lookout
        self._outbox = outbox
        self._cases = cases
        self._turns: dict[str, asyncio.Lock] = {}

    # Questions.

    async def consider(self, actor: Actor, engagement: Engagement, policy: Policy) -> Considered:
        """What a session waits for, with all that is known of it."""
        session = await self.session(actor, engagement.session_id)
        waits, _ = await self.waits(session)
        if waits is None:
            return Considered(None, None)
        case = await self._cases.gather(session, waits, policy)
        return Considered(case, self._verdict(case, policy, None))

    async def decide(
        self, actor: Actor, engagement: Engagement, policy: Policy, assessment: Assessment | None
    ) -> Done:
        """Decide about what is open, if it is still what was assessed, record it, and do it."""
        session = await self.session(actor, engagement.session_id)
        async with self.turn(session):
            waits, sight = await self.waits(session)
            if waits is None or not _is_meant(waits, engagement):
                return Done("stale", reason="The question is over, or is another one now.")
            if sight is None or sight.focused:
                return Done("yield", reason="The human is there." if sight else "Its pane is gone.")
            case = await self._cases.gather(session, waits, policy)
            verdict = self._verdict(case, policy, assessment)
            if verdict is None:
                raise InvalidInput(
                    "This question needs an assessment.", hint="Ask a brain first, and send what it says."
                )
            spent = assessment.spent if assessment else Spent()
            if verdict.action == "ignore":
                return Done("ignore", verdict, reason="; ".join(verdict.reasons))
            if engagement.shadow or verdict.action == "escalate":
                return await self._escalate(actor, engagement, session, waits, verdict, spent)
            return await self._answer(actor, engagement, session, waits, verdict, spent)

    async def waits(self, session: Session) -> tuple[Open | None, Sight | None]:
        """What the session waits for now: a dialog, or a question in words."""
        sight, question = await self._lookout.look(session)
        if question is not None:
            return Open(question), sight
        if sight is None or sight.screen.state != "idle":
            return None, sight
        return await self._cases.turn(session), sight

    def _verdict(self, case: Case, policy: Policy, assessment: Assessment | None) -> Verdict | None:
        # Its words take a while to be read, which a daemon that nothing is asked of need not spend.
        from maestro.coordinate.gate.judge import gate

        text = proposed(case, policy, assessment)
        after = gate(case.asked, policy, text) if text else None
        return decide(case, policy, assessment, after, self._crew.journal.clock())

    async def _answer(
        self,
        actor: Actor,
        engagement: Engagement,
        session: Session,
        waits: Open,
        verdict: Verdict,
        spent: Spent,
    ) -> Done:
        question = waits.question

        def also(change: Change, prompt_id: str) -> None:
            answered = decisions.answer_of(change.connection, question.id, question.version)
            if answered is not None:
                raise Conflict(f"Question {question.id} is answered already: {answered.id}.")
            require_as_judged(change, waits)
            _record(change, engagement, session, waits, verdict, spent, prompt_id=prompt_id)
            if verdict.precedent_id:
                precedents.use(change, verdict.precedent_id)

        try:
            if waits.is_turn:
                sent = await self._outbox.send(actor, session.id, verdict.text, also=also, as_prompt=True)
            else:
                sent = await self._outbox.send(
                    actor,
                    session.id,
                    verdict.text,
                    question_id=question.id,
                    version=question.version,
                    also=also,
                )
        except Conflict as error:
            return Done("stale", verdict, reason=error.message)
        except InvalidInput as error:
            refused = msgspec.structs.replace(
                verdict, action="escalate", reasons=(*verdict.reasons, error.message)
            )
            return await self._escalate(actor, engagement, session, waits, refused, spent)
        prompt, held, by_human = await self.delivered(actor, sent)
        decision = await self.decision_of(prompt.id)
        done = Done(
            "answer" if verdict.action == "answer" else "probe",
            verdict,
            decision_id=decision.id if decision else "",
            prompt_id=prompt.id,
            prompt_state=prompt.state,
            reason=prompt.reason,
        )
        if prompt.state != "withdrawn":
            return done
        sight = await self._lookout.see(session)
        if sight is None or sight.focused or by_human:
            return msgspec.structs.replace(done, outcome="yield", reason=held)
        blocked = msgspec.structs.replace(
            verdict, action="escalate", by="history", reasons=(f"It could not be typed: {held}",)
        )
        return await self._escalate(actor, engagement, session, waits, blocked, Spent())

    async def delivered(self, actor: Actor, sent: Prompt) -> tuple[Prompt, str, bool]:
        """Returns its receipt, what held it back, and whether that was a human who was there. What is held is taken back:
        it would be stale when it could be typed."""
        prompt = await self._outbox.settled(sent.id, RECEIPT_SECONDS)
        if prompt.state == "queued":
            # Before it is taken back: whoever sees that it was may leave at once.
            sight = await self._lookout.see(await self._crew.session(prompt.session_id))
            by_human = sight is not None and sight.focused
            try:
                taken_back = await self._outbox.withdraw(actor, prompt.session_id, prompt.id)
            except Conflict:
                prompt = await self._outbox.settled(sent.id, RECEIPT_SECONDS)
            else:
                return taken_back, prompt.reason, by_human
        return prompt, prompt.reason, False

    async def _escalate(
        self,
        actor: Actor,
        engagement: Engagement,
        session: Session,
        waits: Open,
        verdict: Verdict,
        spent: Spent,
    ) -> Done:
        """Record it and tell the human; in shadow, record it alone."""
        made: dict[str, str] = {}

        def work(change: Change) -> str:
            if not engagement.shadow:
                made["escalation"] = escalations.open_escalation(
                    change,
                    session_id=session.id,
                    kind="question",
                    subject=waits.question.id,
                    question_id=waits.question.id,
                    version=waits.question.version,
                    text=waits.question.text,
                    reason=" ".join(verdict.reasons),
                    categories=verdict.categories,
                    proposed=verdict.text,
                    confidence=verdict.confidence,
                )
            decision_id = _record(
                change, engagement, session, waits, verdict, spent, escalation_id=made.get("escalation")
            )
            if "escalation" in made:
                escalations.decided(change, made["escalation"], decision_id)
            return decision_id

        decision_id = await asyncio.to_thread(self._crew.journal.write, actor, work)
        return Done(
            verdict.action,
            verdict,
            decision_id=decision_id,
            escalation_id=made.get("escalation", ""),
            reason="; ".join(verdict.reasons),
        )

    def turn(self, session: Session) -> asyncio.Lock:
        """Whoever decides about a session holds this: one at a time."""
        return self._turns.setdefault(session.id, asyncio.Lock())

    async def session(self, actor: Actor, wanted: str) -> Session:
        """The session that is meant, if this actor may prompt it."""
        session = await self._crew.session(wanted)
        require(actor, "session.prompt", own=is_child(session, actor))
        return session

    async def decision_of(self, prompt_id: str) -> Decision | None:
        return await asyncio.to_thread(self._crew.journal.read, lambda c: decisions.of_prompt(c, prompt_id))


def require_as_judged(change: Change, waits: Open) -> None:
    """Raises Conflict where more is known of a question than the gate has read."""
    if not waits.is_turn:
        known = questions.get_question(change.connection, waits.question.id)
        if known.asked != waits.question.asked:
            raise Conflict(f"More is known of question {known.id} than when it was judged.")


def _is_meant(waits: Open, engagement: Engagement) -> bool:
    return (waits.question.id, waits.question.version) == (engagement.question_id, engagement.version)


def _record(
    change: Change,
    engagement: Engagement,
    session: Session,
    waits: Open,
    verdict: Verdict,
    spent: Spent,
    *,
    prompt_id: str | None = None,
    escalation_id: str | None = None,
) -> str:
    if waits.is_turn:
        questions.note_in_words(change, waits.question)
    return decisions.record(
        change,
        kind="verdict",
        session_id=session.id,
        action=verdict.action,
        by=verdict.by,
        question=waits.question,
        question_hash=question_hash(waits.asked),
        coordinator=engagement.coordinator,
        text=verdict.text,
        confidence=verdict.confidence,
        categories=verdict.categories,
        reasons=verdict.reasons,
        shadow=engagement.shadow,
        prompt_id=prompt_id,
        escalation_id=escalation_id,
        pane=pane_of(session),
        spent=msgspec.to_builtins(spent) if spent.calls else None,
    )


def pane_of(session: Session) -> dict[str, object] | None:
    """The one pane that it was decided for."""
    return session.place.model_dump(by_alias=True) if session.place else None
