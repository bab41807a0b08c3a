"""Pure: the brain without a model: the rules that the human wrote, in their order. It never guesses."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate import Assessment, Case, Policy
from maestro.coordinate.assessment import answer_fault, failed
from maestro.coordinate.policy.fitting import fits_question

NAME: Final = "rules"


class Rules:
    name: str = NAME

    async def assess(self, case: Case, policy: Policy) -> Assessment:
        return by_rules(case, policy)


class Nothing:
    """The brain `none`: whatever policy and precedents do not decide is the human's."""

    name: str = "none"

    async def assess(self, case: Case, policy: Policy) -> Assessment:  # noqa: ARG002 - the port's
        return Assessment(brain=self.name, reasoning="There is no brain.")


def by_rules(case: Case, policy: Policy) -> Assessment:
    for place, rule in enumerate(policy.rules, 1):
        named = f"“{rule.name}”" if rule.name else f"number {place}"
        try:
            fits = fits_question(rule, case.asked)
        except re.error as error:
            return failed(NAME, f"The pattern of the rule {named} cannot be read: {error}.")
        if fits:
            answer = rule.answer.strip()
            if not answer:
                return Assessment(brain=NAME, reasoning=f"The rule {named} leaves it to the human.")
            if fault := answer_fault(answer, case):
                return failed(NAME, f"The rule {named} matches, but: {fault}")
            return Assessment(
                brain=NAME, answer=answer, confidence=1.0, reasoning=f"The rule {named} matches."
            )
    return Assessment(brain=NAME, reasoning="No rule matches.")
