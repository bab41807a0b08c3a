"""How often a brain is asked, and what it has cost."""

from __future__ import annotations

import asyncio

from tests.coordinate.brains.support import case

from maestro.coordinate import Assessment, BrainSettings, Case, Policy, Spent
from maestro.coordinate.brains import Metered, brain_named


class Costly:
    """A brain that takes two tokens for each call."""

    name: str = "costly"

    def __init__(self) -> None:
        self.asked = 0

    async def assess(self, case: Case, policy: Policy) -> Assessment:  # noqa: ARG002 - the port's
        self.asked += 1
        return Assessment(brain=self.name, answer="Choose 1", spent=Spent(1, 2, 0.5, 10))


def ask(brain: Metered) -> Assessment:
    return asyncio.run(brain.assess(case(), Policy()))


def test_the_limit_is_of_the_last_hour() -> None:
    now = 1000.0
    costly = Costly()
    brain = Metered(costly, 2, clock=lambda: now)
    assert not ask(brain).failed
    now += 1800
    assert not ask(brain).failed
    now += 1799
    told = ask(brain)
    assert (told.failed, told.answer) == ("The call limit of 2 an hour is reached.", "")
    assert costly.asked == 2
    now += 1
    assert not ask(brain).failed
    assert ask(brain).failed
    assert costly.asked == 3


def test_what_was_spent_is_summed() -> None:
    brain = Metered(Costly(), 10)
    ask(brain)
    ask(brain)
    assert brain.spent == Spent(calls=2, tokens=4, cost_usd=1.0, milliseconds=20)


def test_rules_cost_no_call() -> None:
    brain = Metered(brain_named(BrainSettings(kind="rules"), {}, "/nowhere"), 1)
    assert [ask(brain).failed for _ in range(5)] == [""] * 5
    assert brain.spent == Spent()


def test_no_calls_at_all() -> None:
    assert "call limit of 0" in ask(Metered(Costly(), 0)).failed
