"""Decides past questions again, under another policy or with another brain, and compares. Nothing is ever typed.

What matters most is `contradicted`: answers that would have been given, and that the human gave otherwise.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Literal

import msgspec

from maestro.agents.questions import Question
from maestro.coordinate import Brain, Case, GateVerdict, History, Policy, Spent, Verdict
from maestro.coordinate.precedent import same_answer
from maestro.coordinate.verdict import decide, proposed

Gate = Callable[[Question, Policy, str], GateVerdict]


class Recorded(msgspec.Struct, frozen=True, rename="camel"):
    """A question of the past, and what was done about it."""

    case: Case
    action: Literal["answer", "probe", "escalate"]  # what the engine did then
    by: str = ""
    answer: str = ""  # what it was answered with in the end; empty: nobody answered it
    answered_by: Literal["human", "engine", ""] = ""


class Replayed(msgspec.Struct, frozen=True, rename="camel"):
    """What would be decided now."""

    question_id: str
    version: int
    verdict: Verdict
    spent: Spent = Spent()


class Difference(msgspec.Struct, frozen=True, rename="camel"):
    question_id: str
    session_name: str
    question: str
    then: str
    now: str
    by: str
    confidence: float
    reasons: tuple[str, ...]


class ReplayReport(msgspec.Struct, frozen=True, rename="camel"):
    total: int
    answered: int  # would be
    escalated: int
    probed: int
    compared: int  # of the answered: those that were answered then
    agreed: int  # with whoever answered then
    agreement_rate: float | None
    contradicted: tuple[Difference, ...]  # the human answered otherwise
    changed: tuple[Difference, ...]  # the engine answered otherwise
    newly_escalated: tuple[Difference, ...]  # answered without the human then
    newly_answered: tuple[Difference, ...]  # escalated then
    needless: int  # would be escalated, and the human answered just what was proposed
    spent: Spent


async def replay(cases: Iterable[Case], policy: Policy, brain: Brain, gate: Gate, now: int) -> list[Replayed]:
    """Decide each again, one after the other."""
    return [one async for one in replaying(cases, policy, brain, gate, now)]


async def replaying(
    cases: Iterable[Case], policy: Policy, brain: Brain, gate: Gate, now: int
) -> AsyncIterator[Replayed]:
    """The same, as each is decided."""
    for case in cases:
        verdict, spent = await _decide_again(_as_new(case, policy, gate), policy, brain, gate, now)
        yield Replayed(case.question_id, case.version, verdict, spent)


def compare(past: Sequence[Recorded], replayed: Sequence[Replayed]) -> ReplayReport:
    """By question and version; what was not decided again is left out."""
    again = {(one.question_id, one.version): one for one in replayed}
    pairs = [(one, again[key]) for one in past if (key := _key(one.case)) in again]
    answers = [(one, new) for one, new in pairs if new.verdict.action == "answer"]
    known = [(one, new) for one, new in answers if one.answer]
    agreed = [_is_same(one, new) for one, new in known]
    others = [pair for pair, same in zip(known, agreed, strict=True) if not same]
    escalated = [(one, new) for one, new in pairs if new.verdict.action == "escalate"]
    return ReplayReport(
        total=len(pairs),
        answered=len(answers),
        escalated=len(escalated),
        probed=sum(new.verdict.action == "probe" for _, new in pairs),
        compared=len(known),
        agreed=sum(agreed),
        agreement_rate=sum(agreed) / len(known) if known else None,
        contradicted=tuple(_difference(*pair) for pair in others if pair[0].answered_by == "human"),
        changed=tuple(_difference(*pair) for pair in others if pair[0].answered_by != "human"),
        newly_escalated=tuple(_difference(*pair) for pair in escalated if pair[0].action == "answer"),
        newly_answered=tuple(_difference(*pair) for pair in answers if pair[0].action == "escalate"),
        needless=sum(one.answered_by == "human" and _is_same(one, new) for one, new in escalated),
        spent=_sum(new.spent for _, new in pairs),
    )


def _as_new(case: Case, policy: Policy, gate: Gate) -> Case:
    """As it was before anything was done about it, in front of this policy's gate."""
    history = History(answered_before=case.history.answered_before, probed=case.history.probed)
    return msgspec.structs.replace(
        case, gate=gate(case.asked, policy, ""), history=history, over_budget="", principles=policy.principles
    )


async def _decide_again(
    case: Case, policy: Policy, brain: Brain, gate: Gate, now: int
) -> tuple[Verdict, Spent]:
    first = proposed(case, policy, None)
    verdict = decide(case, policy, None, gate(case.asked, policy, first) if first else None, now)
    if verdict is not None:
        return verdict, Spent()
    assessment = await brain.assess(case, policy)
    text = proposed(case, policy, assessment)
    verdict = decide(case, policy, assessment, gate(case.asked, policy, text) if text else None, now)
    assert verdict is not None, "with an assessment there is always a verdict"
    return verdict, assessment.spent


def _is_same(one: Recorded, new: Replayed) -> bool:
    return bool(new.verdict.text) and same_answer(one.case.asked, one.answer, new.verdict.text)


def _key(case: Case) -> tuple[str, int]:
    return case.question_id, case.version


def _difference(one: Recorded, new: Replayed) -> Difference:
    return Difference(
        question_id=one.case.question_id,
        session_name=one.case.session_name,
        question=one.case.asked.text or one.case.asked.detail,
        then=one.answer or one.action,
        now=new.verdict.text if new.verdict.action == "answer" else new.verdict.action,
        by=new.verdict.by,
        confidence=new.verdict.confidence,
        reasons=new.verdict.reasons,
    )


def _sum(spent: Iterable[Spent]) -> Spent:
    every = tuple(spent)
    return Spent(
        calls=sum(one.calls for one in every),
        tokens=sum(one.tokens for one in every),
        cost_usd=sum(one.cost_usd for one in every),
        milliseconds=sum(one.milliseconds for one in every),
    )
