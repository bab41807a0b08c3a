"""What a batch may spend, and whether the next agent may still start. Pure.

What a run costs is known when it has ended: runs that have begun are not stopped, so a batch ends at most by those
above its budget."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from maestro.dispatch.runs import RunResult


class Caps(msgspec.Struct, frozen=True):
    tokens: int | None = None  # all but those that were read from a cache
    cost_usd: float | None = None


class Spent(msgspec.Struct, frozen=True):
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: tuple[str, ...] = ()  # runs that used tokens of a model without a price


def spent(results: Iterable[RunResult]) -> Spent:
    tokens, cost, unpriced = 0, 0.0, []
    for result in results:
        tokens += sum(usage.input + usage.output + usage.cache_write for usage in result.usage)
        cost += result.cost_usd or 0.0
        if result.usage and result.cost_usd is None:
            unpriced.append(result.id)
    return Spent(tokens, round(cost, 8), tuple(unpriced))


def exhausted(caps: Caps, so_far: Spent) -> str:
    """Why no further agent may start; nothing while one may."""
    if caps.tokens is not None and so_far.tokens >= caps.tokens:
        return f"The batch has used {so_far.tokens} tokens; its budget is {caps.tokens}."
    if caps.cost_usd is None:
        return ""
    if so_far.cost_usd >= caps.cost_usd:
        return f"The batch has cost ${so_far.cost_usd:.2f}; its budget is ${caps.cost_usd:.2f}."
    if so_far.unpriced:
        return f"What {so_far.unpriced[0]} cost is not known, so a budget in dollars cannot be kept."
    return ""
