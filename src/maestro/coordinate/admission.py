"""Whose answers a question gets: a human's is recorded and remembered; a coordinator's goes through the gate first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from maestro.agents.questions import Question as Asked
from maestro.coordinate import Finding, Policy
from maestro.coordinate.cases import Open
from maestro.coordinate.oversight import pane_of, require_as_judged
from maestro.coordinate.precedent import fingerprint, question_hash, rule_words
from maestro.errors import InvalidInput, MaestroError, Refused
from maestro.fleet.answers import parse_answer
from maestro.fleet.asking import asked_of
from maestro.fleet.outbox import Also
from maestro.ledger import decisions, escalations, precedents
from maestro.ledger.facts import Question, Session
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import Actor

_DAY_MS: Final = 24 * 3600 * 1000

# The policy in force for a session and a coordinator, found in files; raises where one cannot be read.
FindPolicy = Callable[[Session, str], Policy]


class Admission:
    def __init__(self, journal: Journal, find_policy: FindPolicy) -> None:
        self._journal = journal
        self.find_policy = find_policy

    async def admit(self, actor: Actor, session: Session, question: Question, text: str) -> Also | None:
        """In front of every answer that comes as a prompt: a human's is recorded, another's is judged first."""
        # Its words take a while to be read, which a daemon that nothing is asked of need not spend.
        from maestro.coordinate.gate.judge import gate

        if actor.role == "human":
            return self.human_answer(actor, session, question, text, remember=True)
        asked = asked_of(question)
        waiting = await asyncio.to_thread(self._journal.read, lambda c: escalations.open_of(c, question.id))
        if waiting is not None:
            raise Refused(
                f"This question waits for the human: {waiting.reason}",
                hint=f"A human may answer it: `maestro answer {waiting.id}`.",
                role=actor.role,
            )
        policy = await asyncio.to_thread(self.find_policy, session, actor.session_id or "")
        found = gate(asked, policy, text)
        if found.verdict == "escalate":
            escalation_id = await self._refuse(actor, session, question, text, found.findings)
            why = "; ".join(dict.fromkeys(finding.why for finding in found.findings))
            raise Refused(
                f"The policy leaves this to the human: {why}",
                hint=f"It is in the inbox as {escalation_id}; a human may answer it.",
                role=actor.role,
            )

        def also(change: Change, prompt_id: str) -> None:
            require_as_judged(change, Open(question))
            decisions.record(
                change,
                kind="verdict",
                session_id=session.id,
                action="answer",
                by=actor.role,
                question=question,
                question_hash=question_hash(asked),
                coordinator=actor.session_id or "",
                text=text,
                prompt_id=prompt_id,
                pane=pane_of(session),
            )

        return also

    async def _refuse(
        self,
        actor: Actor,
        session: Session,
        question: Question,
        text: str,
        findings: tuple[Finding, ...],
    ) -> str:
        why = tuple(dict.fromkeys(finding.why for finding in findings))
        categories = tuple(dict.fromkeys(finding.category for finding in findings))
        made: dict[str, str] = {}

        def work(change: Change) -> str:
            made["escalation"] = escalations.open_escalation(
                change,
                session_id=session.id,
                kind="question",
                subject=question.id,
                question_id=question.id,
                version=question.version,
                text=question.text,
                reason=" ".join(why),
                categories=categories,
                proposed=text,
            )
            decision_id = decisions.record(
                change,
                kind="verdict",
                session_id=session.id,
                action="escalate",
                by="policy",
                question=question,
                question_hash=question_hash(asked_of(question)),
                coordinator=actor.session_id or "",
                text=text,
                categories=categories,
                reasons=why,
                escalation_id=made["escalation"],
                pane=pane_of(session),
            )
            return escalations.decided(change, made["escalation"], decision_id)

        await asyncio.to_thread(self._journal.write, actor, work)
        return made["escalation"]

    def human_answer(
        self, actor: Actor, session: Session, question: Question, text: str, *, remember: bool
    ) -> Also:
        asked = asked_of(question)

        def also(change: Change, prompt_id: str) -> None:
            waiting = escalations.open_of(change.connection, question.id)
            decision_id = decisions.record(
                change,
                kind="resolution",
                session_id=session.id,
                action="answer",
                by="human",
                actor=actor,
                question=question,
                question_hash=question_hash(asked),
                text=text,
                confidence=1.0,
                follows=waiting.decision_id if waiting else None,
                prompt_id=prompt_id,
                escalation_id=waiting.id if waiting else None,
                pane=pane_of(session),
            )
            if remember and _may_be_precedent(asked, text):
                precedents.remember(
                    change,
                    project_id=session.project_id,
                    fingerprint=fingerprint(asked),
                    kind=question.kind,
                    question=rule_words(asked),
                    options=[option.label for option in asked.options],
                    answer=text,
                    decision_id=decision_id,
                    expires_at=change.now + self.settings(session).precedents.expire_days * _DAY_MS,
                )

        return also

    def settings(self, session: Session) -> Policy:
        """For what is shown and kept; a broken file must not keep a human from answering."""
        try:
            return self.find_policy(session, "")
        except MaestroError:
            return Policy()


def _may_be_precedent(asked: Asked, text: str) -> bool:
    """What lasts is never chosen for a human, and what belongs to one moment is not repeated."""
    if asked.kind in {"free_text", "dialog", "plan"}:
        return False
    try:
        answer = parse_answer(text, asked)
    except InvalidInput:
        return False
    chosen = [asked.options[number - 1] for number in answer.choices if number <= len(asked.options)]
    return not any(option.is_lasting for option in chosen)
