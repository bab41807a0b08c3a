"""Tokens and cost of a session, and what reading its digest saves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from maestro.agents import Agent, Usage
from maestro.errors import InvalidInput
from maestro.observe.context import estimated_tokens
from maestro.observe.tail import LONGEST_LINE
from maestro.observe.transcript import read_recent

_BLOCK: Final = 1024 * 1024


class Price(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    as_of: str
    models: dict[str, Price]  # by name; dated variants (name-…) cost the same

    def of(self, model: str) -> Price | None:
        fitting = [name for name in self.models if model == name or model.startswith(f"{name}-")]
        return self.models[max(fitting, key=len)] if fitting else None


class ModelTokens(msgspec.Struct, frozen=True, rename="camel"):
    model: str
    input: int = 0  # not cached
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    messages: int = 0
    cost_usd: float | None = None  # nothing when the model's price is not known


class Saving(msgspec.Struct, frozen=True, rename="camel"):
    """Estimated tokens of a digest, and of the part of the transcript that it was read from."""

    digest_tokens: int
    raw_tokens: int

    @property
    def ratio(self) -> float:
        return self.digest_tokens / self.raw_tokens if self.raw_tokens else 0.0


class ContextCost(msgspec.Struct, frozen=True, rename="camel"):
    """Estimated tokens that Maestro itself put before the model: the context of each turn, and what it had forgotten."""

    turns: int
    tokens: int
    per_turn: int
    rehydrations: int
    rehydrated_tokens: int


class SessionStats(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str
    models: tuple[ModelTokens, ...]
    cost_usd: float | None  # nothing where it is unknown which transcript is its own
    unpriced: tuple[str, ...]  # models whose price is not known
    prices_as_of: str
    saving: Saving | None = None
    context: ContextCost | None = None  # nothing where it was told nothing
    unknown_transcript: str = ""  # why nothing is counted


def session_stats(
    agent: Agent, path: str | Path, session_id: str, prices: Prices, *, saving: Saving | None = None
) -> SessionStats:
    """Tokens by model of a session and its subagents, each message counted once. OSError if it is gone."""
    totals: dict[str, ModelTokens] = {}
    for transcript in [Path(path), *agent.companions(Path(path))]:
        usages = [usage for line in whole_lines(transcript) if (usage := agent.usage(line)) is not None]
        for model, usage, messages in count_once(usages):
            totals[model] = _added(totals.get(model, ModelTokens(model)), usage, messages)
    models = tuple([_priced(totals[model], prices) for model in sorted(totals)])
    return SessionStats(
        session_id=session_id,
        models=models,
        cost_usd=round(sum(model.cost_usd or 0.0 for model in models), 6),
        unpriced=tuple([model.model for model in models if model.cost_usd is None]),
        prices_as_of=prices.as_of,
        saving=saving,
    )


def with_context(
    stats: SessionStats, turns: int, tokens: int, rehydrations: int, rehydrated_tokens: int
) -> SessionStats:
    """The same, with what Maestro itself put before the model."""
    if not turns and not rehydrations:
        return stats
    per_turn = round(tokens / turns) if turns else 0
    cost = ContextCost(turns, tokens, per_turn, rehydrations, rehydrated_tokens)
    return msgspec.structs.replace(stats, context=cost)


def count_once(usages: Iterable[Usage]) -> Iterator[tuple[str, Usage, int]]:
    """Per model what was used and in how many messages: of a repeated id the last, of running totals what they grew."""
    by_id: dict[tuple[str, str], Usage] = {}
    anonymous = 0
    model, before = "", Usage("", "")
    for usage in usages:
        if usage.running_total:
            model = usage.model or model
            if usage.id:
                grown = _growth(usage, before)
                before = usage
                if grown != Usage("", ""):
                    anonymous += 1
                    by_id[model, f"#{anonymous}"] = grown
        else:
            anonymous += not usage.id
            by_id[usage.model, usage.id or f"#{anonymous}"] = usage
    totals: dict[str, tuple[Usage, int]] = {}
    for (name, _), usage in by_id.items():
        total, messages = totals.get(name, (Usage(name, ""), 0))
        totals[name] = (_sum(total, usage), messages + 1)
    for name, (total, messages) in totals.items():
        yield name or "unknown", total, messages


def digest_saving(agent: Agent, path: str | Path, shown: str, last: int) -> Saving:
    """What it costs to read `shown` instead of the raw end of the transcript that it came from."""
    return Saving(estimated_tokens(len(shown)), estimated_tokens(read_recent(agent, path, last).bytes_read))


def whole_lines(path: Path) -> Iterator[bytes]:
    """Every line of a file that is not too long, in order, with little memory."""
    pending = bytearray()
    skipping = False
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            *lines, rest = block.split(b"\n")
            for line in lines:
                if pending:
                    line = bytes(pending) + line  # noqa: PLW2901  # the line's beginning came with blocks before
                    pending.clear()
                if 0 < len(line) <= LONGEST_LINE and not skipping:
                    yield line
                skipping = False
            if len(pending) + len(rest) > LONGEST_LINE:
                skipping = True
                pending.clear()
            elif not skipping:
                pending += rest
    if pending:
        yield bytes(pending)


@cache
def built_in_prices() -> Prices:
    """The price table that ships with Maestro."""
    return parse_prices((files("maestro.observe") / "prices.json").read_bytes(), "the built-in price table")


def load_prices(env: Mapping[str, str], home: Path | None = None) -> Prices:
    """The built-in table, with the user's on top: `MAESTRO_PRICES`, else `prices.json` in Maestro's folder."""
    named = env.get("MAESTRO_PRICES")
    path = Path(named) if named else home / "prices.json" if home is not None else None
    if path is None or (not named and not path.exists()):
        return built_in_prices()
    try:
        own = parse_prices(path.read_bytes(), os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"the price table {path} cannot be read: {error.strerror}") from error
    return Prices(as_of=own.as_of, models={**built_in_prices().models, **own.models})


def parse_prices(table: bytes, name: str) -> Prices:
    try:
        return msgspec.json.decode(table, type=Prices)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidInput(f"{name} is not a price table: {error}") from error


def _growth(now: Usage, before: Usage) -> Usage:
    if now.fresh < before.fresh or now.output < before.output:
        before = Usage("", "")  # the total began anew
    return Usage(
        "",
        "",
        fresh=now.fresh - before.fresh,
        cache_read=max(0, now.cache_read - before.cache_read),
        cache_write=max(0, now.cache_write - before.cache_write),
        output=now.output - before.output,
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.model,
        "",
        fresh=one.fresh + other.fresh,
        cache_read=one.cache_read + other.cache_read,
        cache_write=one.cache_write + other.cache_write,
        output=one.output + other.output,
    )


def _added(tokens: ModelTokens, usage: Usage, messages: int) -> ModelTokens:
    return ModelTokens(
        tokens.model,
        input=tokens.input + usage.fresh,
        cache_read=tokens.cache_read + usage.cache_read,
        cache_write=tokens.cache_write + usage.cache_write,
        output=tokens.output + usage.output,
        messages=tokens.messages + messages,
    )


def _priced(tokens: ModelTokens, prices: Prices) -> ModelTokens:
    price = prices.of(tokens.model)
    if price is None:
        return tokens
    cost = (
        tokens.input * price.input
        + tokens.output * price.output
        + tokens.cache_read * price.cache_read
        + tokens.cache_write * price.cache_write
    ) / 1_000_000
    return msgspec.structs.replace(tokens, cost_usd=round(cost, 6))
