"""Pure: the brain without a model: the rules that the human wrote, in their order. It never guesses."""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Question
from maestro.coordinate import AnswerRule, Assessment, Case, Policy
from maestro.coordinate.assessment import answer_fault, failed
from maestro.coordinate.gate.folding import fold_text
from maestro.coordinate.gate.tools import runs_shell

NAME: Final = "rules"
_LONGEST_TEXT: Final = 4_000  # a longer one is like no rule: patterns may take very long on long texts


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
            fits = _fits(rule, case.asked)
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


def _fits(rule: AnswerRule, asked: Question) -> bool:
    pattern = re.compile(rule.pattern, re.DOTALL)
    if rule.kinds and asked.kind not in rule.kinds:
        return False
    if rule.tool and asked.tool != rule.tool:
        return False
    # A script is run by a shell; a file of the same name that is edited or fetched is something else.
    if rule.digest and asked.tool and not runs_shell(asked.tool):
        return False
    if asked.kind == "permission" and asked.detail:
        # The question of a permission is always the same; its command is what is asked. As it is: folded, it would
        # be another command.
        command = asked.detail.strip()
        return len(command) <= _LONGEST_TEXT and pattern.fullmatch(command) is not None
    text = asked.text or "\n".join(part.text for part in asked.parts)
    if len(text) > _LONGEST_TEXT:
        return False
    folded = fold_text(text).strip()
    return re.compile(rule.pattern, re.DOTALL | re.IGNORECASE).fullmatch(folded) is not None
