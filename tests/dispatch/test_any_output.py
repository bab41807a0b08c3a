"""Whatever a CLI prints, and however it ends: an outcome, never an exception; and no success without a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import SOAK

from maestro.agents.headless import Counters, ModelUsage, Output, RunRequest
from maestro.agents.registry import headless_named

AGENTS = ("claude", "codex", "gemini", "scripted")
GOLDEN = {
    agent: [path.read_bytes() for path in (Path(__file__).parent / "golden" / agent).glob("*.stdout")]
    for agent in AGENTS
}
EXAMPLES = 3000 if SOAK else 60
# The words that the adapters look for, with values of every shape.
KEYS = st.sampled_from(
    [
        "type",
        "subtype",
        "result",
        "is_error",
        "num_turns",
        "modelUsage",
        "usage",
        "total_cost_usd",
        "permission_denials",
        "message",
        "content",
        "text",
        "item",
        "error",
        "status",
        "stats",
        "models",
        "tokens",
        "session_id",
        "thread_id",
        "tool_name",
        "tool_id",
        "parameters",
        "role",
        "api_error_status",
    ]
)
WORDS = st.sampled_from(
    [
        "result",
        "assistant",
        "user",
        "turn.completed",
        "turn.failed",
        "item.completed",
        "error",
        "message",
        "success",
        "init",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
CODES = st.none() | st.integers(0, 255)


def check(agent: str, stdout: bytes, stderr: bytes, code: int | None, *, resumed: bool) -> None:
    adapter = headless_named(agent)
    request = RunRequest(
        prompt_path="/p", folder="/f", cwd="/c", env={}, mode="analysis",
        resume="x" if resumed else "", before=Counters((ModelUsage("m", input=3),), 0.1) if resumed else None,
    )  # fmt: skip
    output = Output(
        stdout=stdout, stderr=stderr, exit_code=code, signal=None if code is not None else 9, ended_at=1
    )
    found = adapter.outcome(output, request)
    if found.status == "success":
        assert code == 0
        assert found.text.strip()
        assert not found.error
    else:
        assert found.error
    assert all(count >= 0 for usage in found.usage for count in (usage.input, usage.output, usage.cached))
    adapter.counted(stdout)
    for line in stdout.split(b"\n")[:20]:
        assert isinstance(adapter.spoken(line), str)


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=EXAMPLES)
@given(stdout=st.binary(), stderr=st.binary(), code=CODES, resumed=st.booleans())
def test_any_bytes(agent: str, stdout: bytes, stderr: bytes, code: int | None, *, resumed: bool) -> None:
    check(agent, stdout, stderr, code, resumed=resumed)


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=EXAMPLES)
@given(
    records=st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=5), code=CODES, resumed=st.booleans()
)
def test_any_records(agent: str, records: list[Any], code: int | None, *, resumed: bool) -> None:
    check(agent, "\n".join(map(json.dumps, records)).encode(), b"", code, resumed=resumed)


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if GOLDEN[agent]])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_torn_and_damaged_recordings(agent: str, data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(GOLDEN[agent]))
    cut = data.draw(st.integers(0, len(whole)))
    damaged = bytearray(whole[:cut])
    for _ in range(data.draw(st.integers(0, 5))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    check(agent, bytes(damaged), b"", data.draw(CODES), resumed=data.draw(st.booleans()))
