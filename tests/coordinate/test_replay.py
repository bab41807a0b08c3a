"""Past questions decided again: with the rules as brain, and what is told of the difference."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from maestro.agents.questions import Option, Question
from maestro.coordinate import (
    ALLOWED,
    AnswerRule,
    Assessment,
    Case,
    Earlier,
    Finding,
    GateVerdict,
    History,
    Policy,
    Spent,
)
from maestro.coordinate.brains.rules import Rules
from maestro.coordinate.replay import Recorded, Replayed, compare, replay

STOPPED = GateVerdict("escalate", (Finding("git operations", "question", "push", "It changes the remote."),))
RULES = Policy(
    rules=(AnswerRule("tabs or spaces\\?", "Spaces"), AnswerRule("push now\\?", "Choose 1")),
    always_escalate=("git operations",),
)


def case(name: str, text: str = "Tabs or spaces?", **fields: Any) -> Case:
    asked = Question(kind="choice", text=text, options=(Option("Tabs"), Option("Spaces")))
    known: dict[str, Any] = {"gate": ALLOWED, **fields}
    return Case("sess_1", "Main", "claude", name, 1, asked, **known)


def gate(asked: Question, policy: Policy, proposed: str) -> GateVerdict:
    """As the real one: a function of question, policy and answer; this one knows one word."""
    words = f"{asked.text} {proposed}".casefold()
    return STOPPED if "push" in words and "git operations" in policy.always_escalate else ALLOWED


class Counting(Rules):
    """The rules, with a price, and who was asked when."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.now_asked = 0

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        self.now_asked += 1
        assert self.now_asked == 1, "one at a time"
        await asyncio.sleep(0)
        self.asked.append(case.question_id)
        self.now_asked -= 1
        found = await super().assess(case, policy)
        return msgspec.structs.replace(found, spent=Spent(1, 10, 0.5, 3))


def again(cases: list[Case], policy: Policy = RULES, brain: Counting | None = None) -> list[Replayed]:
    return asyncio.run(replay(cases, policy, brain or Counting(), gate, 1))


def test_each_is_decided_as_if_nothing_had_been_done() -> None:
    brain = Counting()
    handled = History(pending="prom_1", escalated="esca_1", failures=9, answered_before=1)
    cases = [
        case("a", history=handled, over_budget="the cap", gate=STOPPED),
        case("b", "Push now?"),
        case("c", "Something else?"),
        case("d", "Else?", precedent=Earlier("prec_1", "Else?", "Choose 1", "human", 1)),
        case("e", "Else?", precedent=Earlier("prec_1", "Else?", "push", "human", 1)),
        case("f", history=History(answered_before=3)),
    ]
    found = again(cases, brain=brain)
    assert [(one.question_id, one.version, one.verdict.action, one.verdict.by) for one in found] == [
        ("a", 1, "answer", "rules"),
        ("b", 1, "escalate", "policy"),
        ("c", 1, "escalate", "rules"),
        ("d", 1, "answer", "precedent"),
        ("e", 1, "escalate", "policy"),
        ("f", 1, "escalate", "history"),
    ]
    assert brain.asked == ["a", "c"], "a brain costs: it is asked only where it decides"
    assert [one.spent.calls for one in found] == [1, 0, 1, 0, 0, 0]


def test_another_policy_decides_otherwise() -> None:
    cases = [case("b", "Push now?")]
    lax = msgspec.structs.replace(RULES, always_escalate=())
    assert [one.verdict.action for one in again(cases)] == ["escalate"]
    assert [one.verdict.action for one in again(cases, lax)] == ["answer"]


def test_what_differs() -> None:
    past = [
        Recorded(case("agrees with the human"), "escalate", "claude", "Choose 2", "human"),
        Recorded(case("contradicts the human"), "escalate", "claude", "Choose 1", "human"),
        Recorded(case("agrees with the engine"), "answer", "claude", "spaces", "engine"),
        Recorded(case("contradicts the engine"), "answer", "claude", "Tabs", "engine"),
        Recorded(case("nobody answered"), "escalate", "policy"),
        Recorded(case("no longer answered", "Push now?"), "answer", "claude", "Choose 1", "engine"),
        Recorded(case("still escalated", "Push now?"), "escalate", "policy", "Choose 1", "human"),
        Recorded(case("not decided again"), "answer", "claude", "Choose 1", "engine"),
    ]
    report = compare(past, again([one.case for one in past[:-1]]))
    assert (report.total, report.answered, report.escalated, report.probed) == (7, 5, 2, 0)
    assert (report.compared, report.agreed, report.agreement_rate) == (4, 2, 0.5)
    assert [one.question_id for one in report.contradicted] == ["contradicts the human"]
    assert [one.question_id for one in report.changed] == ["contradicts the engine"]
    assert [one.question_id for one in report.newly_escalated] == ["no longer answered"]
    assert [one.question_id for one in report.newly_answered] == [
        "agrees with the human",
        "contradicts the human",
        "nobody answered",
    ]
    [told] = report.contradicted
    assert (told.session_name, told.question, told.then, told.now, told.by) == (
        "Main",
        "Tabs or spaces?",
        "Choose 1",
        "Spaces",
        "rules",
    )
    [gone] = report.newly_escalated
    assert (gone.then, gone.now) == ("Choose 1", "escalate")
    assert report.spent == Spent(5, 50, 2.5, 15)


def test_an_escalation_that_proposed_just_what_the_human_answered_was_needless() -> None:
    shy = msgspec.structs.replace(RULES, always_escalate=("tabs",))
    past = [
        Recorded(case("a"), "escalate", "claude", "Choose 2", "human"),
        Recorded(case("b"), "escalate", "claude", "Choose 1", "human"),
    ]

    class Shy(Counting):
        async def assess(self, case: Case, policy: Policy) -> Assessment:
            return msgspec.structs.replace(await super().assess(case, policy), categories=("tabs",))

    report = compare(past, again([one.case for one in past], shy, Shy()))
    assert (report.escalated, report.needless) == (2, 1)


def test_nothing_to_compare() -> None:
    report = compare([], [])
    assert (report.total, report.agreement_rate, report.contradicted) == (0, None, ())
    assert msgspec.json.decode(msgspec.json.encode(report))["newlyEscalated"] == []
