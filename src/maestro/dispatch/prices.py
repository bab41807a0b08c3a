"""What a run cost, where the CLI tells tokens only: by the price list."""

from __future__ import annotations

import msgspec

from maestro.agents.headless import ModelUsage
from maestro.dispatch.runs import RunResult
from maestro.observe.stats import Price, Prices


def with_cost(result: RunResult, prices: Prices) -> RunResult:
    """The result with an estimate of its cost; as it is, where the CLI told it or a model's price is not known."""
    if result.cost_usd is not None or not result.usage:
        return result
    known = [(usage, prices.of(usage.model)) for usage in result.usage]
    counted = [priced(usage, price) for usage, price in known if price is not None]
    if len(counted) < len(known):
        return result
    cost = round(sum(usage.cost_usd or 0.0 for usage in counted), 6)
    return msgspec.structs.replace(result, usage=tuple(counted), cost_usd=cost, cost_is_estimate=True)


def priced(usage: ModelUsage, price: Price) -> ModelUsage:
    cost = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cached * price.cache_read
        + usage.cache_write * price.cache_write
    ) / 1_000_000
    return msgspec.structs.replace(usage, cost_usd=round(cost, 8))
