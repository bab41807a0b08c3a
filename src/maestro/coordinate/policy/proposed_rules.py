"""Proposes rules for the commands of a project, each with the gate's word on what it runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from maestro.coordinate import AnswerRule, Policy
from maestro.coordinate.gate.check import check_line
from maestro.coordinate.policy.project_commands import ProjectCommand, rule_of

MOST_RULES: Final = 40


class Proposal(NamedTuple):
    found: ProjectCommand
    rule: AnswerRule
    stopped: tuple[
        str, ...
    ]  # why the gate would ask a human about the script's own text; empty: it would not


def proposals(found: Iterable[ProjectCommand], policy: Policy) -> list[Proposal]:
    """Returns at most forty rules. A command that the gate stops by itself is none: no rule could answer it."""
    answered = (one for one in found if not _stopped(one.command, policy))
    return [Proposal(one, rule_of(one), _stopped(one.text, policy)) for one in islice(answered, MOST_RULES)]


def _stopped(command: str, policy: Policy) -> tuple[str, ...]:
    told = check_line({"kind": "permission", "tool": "Bash", "detail": command}, policy)
    reasons: list[str] = told["reasons"] if told["verdict"] == "escalate" else []
    return tuple(dict.fromkeys(reason.removeprefix("detail: ") for reason in reasons))
