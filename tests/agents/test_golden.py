"""Transcripts as the real CLIs write them: what we make of them is written beside each."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from maestro.agents import Agent
from maestro.agents.registry import agent_named
from maestro.observe.digest import Subject
from maestro.observe.stats import Prices, session_stats
from maestro.observe.transcript import digest_transcript

NOW = 1_794_772_800_000
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*/*.jsonl"))
NO_PRICES = Prices(as_of="", models={})


def seen(agent: Agent, path: Path) -> dict[str, Any]:
    digest = json.loads(msgspec.json.encode(digest_transcript(agent, path, Subject("s"), now=NOW, last=100)))
    stats = json.loads(msgspec.json.encode(session_stats(agent, path, "s", NO_PRICES)))
    stuck = digest["stuck"]
    return {
        "state": digest["state"],
        "status": digest["status"],
        "evidence": [evidence["says"] for evidence in digest["evidence"]],
        "stuck": stuck and {key: stuck[key] for key in ("kind", "warning", "evidence")},
        "metrics": digest["metrics"],
        "entries": digest["entries"],
        "tokens": [{key: model[key] for key in model if key != "costUsd"} for model in stats["models"]],
    }


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_transcript_is_read_as_expected(path: Path) -> None:
    agent = agent_named(path.parent.name)
    assert seen(agent, path) == json.loads(path.with_suffix(".json").read_text())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_fast_and_plain_reading_agree_on_every_recorded_line(path: Path) -> None:
    agent = agent_named(path.parent.name)
    for line in path.read_bytes().splitlines():
        assert agent.read(line, 0, len(line)) == agent.read_plain(line)


def test_both_versions_of_claude_code_are_there() -> None:
    names = [path.name for path in GOLDEN]
    assert any("2.1.197" in name for name in names)
    assert any("2.1.325" in name for name in names)


def test_the_scripted_agent_reads_claude_transcripts() -> None:
    path = GOLDEN[0]
    assert path.parent.name == "claude"
    assert seen(agent_named("scripted"), path) == seen(agent_named("claude"), path)
