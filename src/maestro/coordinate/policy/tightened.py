"""Joins a policy that nobody has trusted with the one that counts without it: only what is stricter is taken. Pure."""

from __future__ import annotations

from typing import Final, TypeVar, get_args

import msgspec

from maestro.coordinate import Budget, Policy, Strictness

T = TypeVar("T")
N = TypeVar("N", int, float)
_STRICTNESS: Final[tuple[Strictness, ...]] = get_args(Strictness)


def tightened(base: Policy, brought: Policy) -> Policy:
    """Returns the base, made stricter where the other policy is: more certainty, more that escalates, less that is spent
    or answered. Nothing else of it counts: no rule, no principle, no model, no message, no program, no address."""
    return msgspec.structs.replace(
        base,
        confidence_threshold=max(base.confidence_threshold, brought.confidence_threshold),
        strictness=max(base.strictness, brought.strictness, key=_STRICTNESS.index),
        always_escalate=_both(base.always_escalate, brought.always_escalate),
        always_log=_both(base.always_log, brought.always_log),
        categories=_both(base.categories, brought.categories),
        precedents=msgspec.structs.replace(
            base.precedents,
            enabled=base.precedents.enabled and brought.precedents.enabled,
            expire_days=min(base.precedents.expire_days, brought.precedents.expire_days),
        ),
        stuck=msgspec.structs.replace(
            base.stuck,
            most_helps=min(base.stuck.most_helps, brought.stuck.most_helps),
            most_resumes=min(base.stuck.most_resumes, brought.stuck.most_resumes),
            on_limit=base.stuck.on_limit if brought.stuck.on_limit == "resume" else "escalate",
        ),
        budget=Budget(
            session_tokens=_lower_cap(base.budget.session_tokens, brought.budget.session_tokens),
            session_cost_usd=_lower_cap(base.budget.session_cost_usd, brought.budget.session_cost_usd),
            fleet_tokens=_lower_cap(base.budget.fleet_tokens, brought.budget.fleet_tokens),
            fleet_cost_usd=_lower_cap(base.budget.fleet_cost_usd, brought.budget.fleet_cost_usd),
        ),
        brain=msgspec.structs.replace(
            base.brain,
            kind="none" if brought.brain.kind == "none" else base.brain.kind,
            calls_per_hour=min(base.brain.calls_per_hour, brought.brain.calls_per_hour),
        ),
    )


def _both(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...]:
    return (*one, *(each for each in other if each not in one))


def _lower_cap(one: N, other: N) -> N:
    """The lower of two caps, of which 0 is none."""
    return min(one, other) if one and other else one or other
