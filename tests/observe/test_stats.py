"""Tokens, cost and the saving."""

import json
import shutil
from pathlib import Path

import pytest

from maestro.agents import Usage
from maestro.agents.registry import agent_named
from maestro.errors import InvalidInput
from maestro.observe.digest import Subject
from maestro.observe.stats import (
    Price,
    Prices,
    Saving,
    built_in_prices,
    count_once,
    digest_saving,
    load_prices,
    session_stats,
    whole_lines,
)
from maestro.observe.tail import LONGEST_LINE
from maestro.observe.transcript import digest_transcript

GOLDEN = Path(__file__).parents[1] / "agents" / "golden"
CLAUDE = agent_named("claude")
PRICES = Prices(
    "2026-01-01", {"claude-opus-5": Price(4, 20, 0.4, 5), "claude-opus-5-5": Price(2, 10, 0.2, 3)}
)


def test_a_message_in_several_records_counts_once() -> None:
    stats = session_stats(CLAUDE, GOLDEN / "claude" / "tool_2.1.325.jsonl", "s", PRICES)
    (model,) = stats.models
    assert (model.model, model.messages) == ("claude-opus-5-5", 2)
    assert (model.input, model.cache_read, model.cache_write, model.output) == (2500, 700, 87, 70)
    assert stats.cost_usd == pytest.approx((2500 * 2 + 700 * 0.2 + 87 * 3 + 70 * 10) / 1e6)


def test_subagents_are_part_of_the_session(place: Path) -> None:
    path = place / "s.jsonl"
    shutil.copy(GOLDEN / "claude" / "tool_2.1.325.jsonl", path)
    (place / "s" / "subagents").mkdir(parents=True)
    shutil.copy(GOLDEN / "claude" / "subagent_2.1.325.jsonl", place / "s" / "subagents" / "agent-1.jsonl")
    assert session_stats(CLAUDE, path, "s", PRICES).models[0].input == 2700


def test_running_totals_are_counted_by_what_they_grow() -> None:
    def total(fresh: int, output: int) -> Usage:
        return Usage("", "total", fresh=fresh, output=output, running_total=True)

    model = Usage("one", "", running_total=True)
    other = Usage("two", "", running_total=True)
    usages = [model, total(100, 10), total(100, 10), other, total(150, 30), total(20, 5)]
    counted = {name: (usage.fresh, usage.output, messages) for name, usage, messages in count_once(usages)}
    assert counted == {"one": (100, 10, 1), "two": (70, 25, 2)}


def test_a_model_without_a_price_is_named() -> None:
    stats = session_stats(CLAUDE, GOLDEN / "claude" / "headless_2.1.197.jsonl", "s", PRICES)
    assert stats.unpriced == ("claude-opus-4-8",)
    assert stats.models[0].cost_usd is None


def test_prices_can_be_overridden(place: Path) -> None:
    assert load_prices({}, place) == built_in_prices()
    table = {
        "as_of": "2027-01-01",
        "models": {"mine": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}},
    }
    (place / "prices.json").write_text(json.dumps(table))
    prices = load_prices({}, place)
    assert prices.as_of == "2027-01-01"
    assert prices.of("mine-20270101") == Price(1, 2, 3, 4)
    assert prices.of("mineral") is None
    assert prices.of("claude-sonnet-4-5-20250929") is not None
    (place / "prices.json").write_text("{")
    with pytest.raises(InvalidInput):
        load_prices({}, place)
    with pytest.raises(InvalidInput):
        load_prices({"MAESTRO_PRICES": str(place / "missing.json")}, None)


def test_lines_come_whole_and_too_long_ones_not_at_all(place: Path) -> None:
    path = place / "f"
    lines = [b"a" * 10, b"b" * (3 << 20), b"c" * (LONGEST_LINE + 1), b"d" * 10, b"", b"e"]
    path.write_bytes(b"\n".join(lines))
    assert list(whole_lines(path)) == [lines[0], lines[1], lines[3], lines[5]]


def test_the_saving_compares_with_the_raw_end() -> None:
    path = GOLDEN / "claude" / "plan_and_errors_2.1.325.jsonl"
    digest = digest_transcript(CLAUDE, path, Subject("s"), now=0)
    saving = digest_saving(CLAUDE, path, "\n".join(entry.text for entry in digest.entries), 5)
    assert 0 < saving.ratio < 0.05
    assert Saving(0, 0).ratio == 0
