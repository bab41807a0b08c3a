"""How oversight goes: what was answered without the human, what was not, how often they agree, how long it took. Pure.

A question counts once, by the last thing that was decided about it and meant. What was decided in shadow only counts
as an opinion; an answer that was never typed does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from maestro.agents.questions import Question as Asked
from maestro.coordinate import Spent
from maestro.coordinate.precedent import same_answer
from maestro.ledger.facts import Decision, Question

_NOT_TYPED: Final = frozenset({"failed", "withdrawn"})
_ANSWER_ACTIONS: Final = frozenset({"answer", "escalate"})


class Tally(msgspec.Struct, frozen=True, rename="camel"):
    answered: int = 0
    escalated: int = 0
    probed: int = 0


class Waiting(msgspec.Struct, frozen=True, rename="camel"):
    """From the question to its answer, in milliseconds; none where nothing was answered."""

    count: int = 0
    median: int | None = None
    p90: int | None = None


class Agreement(msgspec.Struct, frozen=True, rename="camel"):
    """How often the human answered what would have been answered: in shadow, or as proposed when it was escalated."""

    compared: int = 0
    agreed: int = 0
    rate: float | None = None


class CoordinateStats(msgspec.Struct, frozen=True, rename="camel"):
    decided: int
    answered: int
    escalated: int
    probed: int
    autonomy_rate: float | None  # of what was decided, what was answered without the human
    escalation_rate: float | None
    shadow: int  # verdicts that were on purpose not carried out
    human_answers: int
    helped: int  # workers that did not get on, and were prompted
    agreement: Agreement
    uncertain_receipts: int
    failed_receipts: int
    by_decider: dict[str, Tally]
    by_category: dict[str, Tally]
    engine_waiting: Waiting
    human_waiting: Waiting
    spent: Spent


def stats(decisions: Iterable[Decision], questions: Iterable[Question] = ()) -> CoordinateStats:
    """From the links of the chain, oldest first, and the questions that they are about."""
    made = tuple(decisions)
    known = {question.id: question for question in questions}
    receipts = {one.follows: one for one in made if one.kind == "receipt" and one.follows}
    meant = [
        one for one in made if one.kind == "verdict" and not one.shadow and not _is_undone(one, receipts)
    ]
    final = {_occasion(one): one for one in meant if one.action in _ANSWER_ACTIONS}.values()
    probes = [one for one in meant if one.action == "probe"]
    answered = [one for one in final if one.action == "answer"]
    escalated = [one for one in final if one.action == "escalate"]
    human = [one for one in made if _is_human_answer(one) and not _is_undone(one, receipts)]
    counted = (*final, *probes)
    return CoordinateStats(
        decided=len(final),
        answered=len(answered),
        escalated=len(escalated),
        probed=len(probes),
        autonomy_rate=_rate(len(answered), len(final)),
        escalation_rate=_rate(len(escalated), len(final)),
        shadow=sum(one.kind == "verdict" and one.shadow for one in made),
        human_answers=len(human),
        helped=sum(_is_help(one) and not _is_undone(one, receipts) for one in made),
        agreement=_agreement(made, human, known),
        uncertain_receipts=sum(one.action == "uncertain" for one in receipts.values()),
        failed_receipts=sum(one.action == "failed" for one in receipts.values()),
        by_decider=_tallies((one.by, one) for one in counted),
        by_category=_tallies((category, one) for one in counted for category in one.categories),
        engine_waiting=_waiting(answered, receipts, known),
        human_waiting=_waiting(human, receipts, known),
        spent=_spent(made),
    )


def asked_by(question: Question | None) -> Asked:
    """What was asked, as far as it can still be read."""
    if question is not None:
        try:
            return msgspec.convert(question.asked, Asked)
        except msgspec.ValidationError:
            return Asked(kind="free_text", text=question.text)
    return Asked(kind="free_text", text="")


def _occasion(decision: Decision) -> str:
    return decision.question_id or decision.id


def _is_undone(decision: Decision, receipts: Mapping[str, Decision]) -> bool:
    receipt = receipts.get(decision.id)
    return receipt is not None and receipt.action in _NOT_TYPED


def _is_human_answer(decision: Decision) -> bool:
    return decision.kind == "resolution" and decision.by == "human" and decision.action == "answer"


def _is_help(decision: Decision) -> bool:
    return decision.kind == "attention" and decision.action in {"help", "resume"} and not decision.shadow


def _agreement(
    made: Sequence[Decision], human: Sequence[Decision], questions: Mapping[str, Question]
) -> Agreement:
    """The last opinion on each question before the human answered it, against what they answered."""
    opinions: dict[str, Decision] = {}
    answers = {one.id for one in human}
    compared = agreed = 0
    for one in made:
        if one.kind == "verdict" and one.text and _is_opinion(one):
            opinions[_occasion(one)] = one
        elif one.id in answers and (opinion := opinions.pop(one.question_id or "", None)) is not None:
            compared += 1
            asked = asked_by(questions.get(one.question_id or ""))
            agreed += opinion.text_hash == one.text_hash or same_answer(asked, opinion.text, one.text)
    return Agreement(compared, agreed, _rate(agreed, compared))


def _is_opinion(decision: Decision) -> bool:
    return decision.action == "escalate" or (decision.shadow and decision.action == "answer")


def _waiting(
    answers: Iterable[Decision], receipts: Mapping[str, Decision], questions: Mapping[str, Question]
) -> Waiting:
    times = sorted(
        max(0, receipts.get(one.id, one).at - question.opened_at)
        for one in answers
        if (question := questions.get(one.question_id or "")) is not None
    )
    return Waiting(len(times), _at_share(times, 50), _at_share(times, 90)) if times else Waiting()


def _at_share(times: Sequence[int], percent: int) -> int:
    """The smallest time that so many of them do not exceed."""
    return times[max(0, -(-len(times) * percent // 100) - 1)]


def _tallies(entries: Iterable[tuple[str, Decision]]) -> dict[str, Tally]:
    counts: dict[str, dict[str, int]] = {}
    for name, one in entries:
        column = {"answer": "answered", "escalate": "escalated"}.get(one.action, "probed")
        counts.setdefault(name, {}).setdefault(column, 0)
        counts[name][column] += 1
    return {name: Tally(**counts[name]) for name in sorted(counts)}


def _spent(made: Iterable[Decision]) -> Spent:
    paid = [one.spent for one in made if one.spent]
    return Spent(
        calls=sum(int(one.get("calls", 0)) for one in paid),
        tokens=sum(int(one.get("tokens", 0)) for one in paid),
        cost_usd=sum(float(one.get("costUsd", 0.0)) for one in paid),
        milliseconds=sum(int(one.get("milliseconds", 0)) for one in paid),
    )


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
