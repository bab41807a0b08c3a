"""What assesses cases: rules, a headless run of the person's own CLI, or a model by its API."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from maestro.coordinate import Assessment, Brain, BrainSettings, Case, Policy, Spent
from maestro.coordinate.assessment import failed

_HOUR: Final = 3_600.0


class RulesFirst:
    """The person's own rules, and a model where none of them matches."""

    def __init__(self, rules: Brain, model: Brain) -> None:
        self.name: str = model.name
        self._rules = rules
        self._model = model

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        told = await self._rules.assess(case, policy)
        return told if told.answer or told.failed else await self._model.assess(case, policy)


def brain_named(settings: BrainSettings, env: Mapping[str, str], folder: str) -> Brain:
    """The brain that the policy names, behind its rules. `folder` is ours alone; headless runs are kept there while
    they last."""
    from maestro.coordinate.brains.rules import Nothing, Rules

    if settings.kind in {"claude", "codex", "gemini"}:
        from maestro.coordinate.brains.headless import HeadlessBrain

        return RulesFirst(Rules(), HeadlessBrain(settings, env, folder))
    if settings.kind == "api":
        from maestro.coordinate.brains.api import ApiBrain

        return RulesFirst(Rules(), ApiBrain(settings, env))
    return Rules() if settings.kind == "rules" else Nothing()


class Metered:
    """A brain that is asked so often an hour at most, and what it has spent so far. `clock` tells seconds."""

    def __init__(
        self, brain: Brain, calls_per_hour: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name: str = brain.name
        self.spent = Spent()
        self._brain = brain
        self._limit = calls_per_hour
        self._clock = clock
        self._calls: deque[float] = deque()

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        now = self._clock()
        while self._calls and self._calls[0] <= now - _HOUR:
            self._calls.popleft()
        if len(self._calls) >= self._limit:
            return failed(self.name, f"The call limit of {self._limit} an hour is reached.")
        self._calls.append(now)
        told = await self._brain.assess(case, policy)
        if not told.spent.calls:
            self._calls.remove(now)  # rules cost nothing
        self.spent = _sum(self.spent, told.spent)
        return told


def _sum(one: Spent, other: Spent) -> Spent:
    return msgspec.structs.replace(
        one,
        calls=one.calls + other.calls,
        tokens=one.tokens + other.tokens,
        cost_usd=one.cost_usd + other.cost_usd,
        milliseconds=one.milliseconds + other.milliseconds,
    )
