"""Whatever bytes a transcript holds: no reading fails, and the fast one equals the plain one."""

import copy
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from maestro.agents import ENTRIES, NO_RESULT, Agent, Moment
from maestro.agents.registry import agent_named
from maestro.observe.digest import Digest, Shape, Subject
from maestro.observe.transcript import digest_transcript

NOW = 1_794_772_800_000
AGENTS = ("claude", "codex", "gemini")
COUNT = 10_000 if os.environ.get("MAESTRO_SOAK") == "1" else 400
ODD_VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        "",
        "text",
        "user",
        "assistant",
        "tool_use",
        "tool_result",
        "hello out there",
        "No.",
    ),
    *(
        [],
        {},
        [None],
        [[]],
        {"type": "text", "text": "a text of its own"},
        [{"type": "text", "text": "in a list"}],
    ),
    *([{"tool_use_id": "", "type": "text", "text": "a result"}], {"content": "said twice over"}),
]
ODD_KEYS = [
    *(
        "type",
        "message",
        "content",
        "text",
        "timestamp",
        "attachment",
        "payload",
        "item",
        "isMeta",
        "tool_use_id",
    ),
    *("$set", "messages", "id", "error", "name", "toolCalls", "displayContent", "role", "unheard-of"),
]


def lines_of(agent: str) -> list[bytes]:
    folder = Path(__file__).parent / "golden" / agent
    return sorted({line for path in folder.glob("*.jsonl") for line in path.read_bytes().splitlines()})


WORDS = re.compile(rb'("(?:text|content)":)"(?:[^"\\]|\\.)+"')
LINES = {agent: lines_of(agent) for agent in AGENTS}


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs, so that a key can come twice."""


def pairs_of(line: bytes) -> Pairs:
    pairs: Pairs = json.loads(line, object_pairs_hook=Pairs)
    return pairs


def objects_in(value: Any) -> list[Pairs]:
    if isinstance(value, Pairs):
        return [value, *[one for _, inner in value for one in objects_in(inner)]]
    return [one for inner in value for one in objects_in(inner)] if isinstance(value, list) else []


def odd_value(chance: random.Random, donor: list[Pairs]) -> Any:
    if chance.random() < 0.5:
        return chance.choice(ODD_VALUES)
    taken = copy.deepcopy(chance.choice(donor))
    return chance.choice(taken)[1] if taken and chance.random() < 0.7 else taken


def rearranged(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """A line with keys doubled, moved, replaced, removed and renamed."""
    top = pairs_of(line)
    donor = objects_in(pairs_of(other)) + objects_in(pairs_of(line))
    for _ in range(chance.randint(1, 4)):
        inside = chance.choice(objects_in(top)[:6])
        place = chance.randint(0, len(inside))
        action = chance.randrange(5)
        if action == 0 or not inside:
            inside.insert(place, (chance.choice(ODD_KEYS), odd_value(chance, donor)))
        elif action == 1:
            key, value = chance.choice(inside)
            inside.insert(place, (key, chance.choice((value, odd_value(chance, donor)))))
        elif action == 2:
            inside[place - 1] = (inside[place - 1][0], odd_value(chance, donor))
        elif action == 3:
            inside.pop(place - 1)
        else:
            chance.shuffle(inside)
    return written(chance, top, depth=0).encode("utf-8", "surrogatepass")


def written(chance: random.Random, value: Any, depth: int) -> str:
    if depth > 30:
        return "null"
    if isinstance(value, Pairs | dict):
        pairs = value if isinstance(value, Pairs) else list(value.items())
        return (
            "{"
            + ",".join(f"{quoted(chance, key)}:{written(chance, one, depth + 1)}" for key, one in pairs)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(written(chance, one, depth + 1) for one in value) + "]"
    return quoted(chance, value) if isinstance(value, str) else json.dumps(value)


def quoted(chance: random.Random, text: str) -> str:
    literal = json.dumps(text, ensure_ascii=chance.random() < 0.2)
    if text and text[0].isascii() and text[0].isalpha() and chance.random() < 0.02:
        literal = f'"\\u{ord(text[0]):04x}{literal[2:]}'
    return literal


def damaged(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """A line that was torn, spliced, or holds what no JSON should."""
    place = chance.randrange(len(line) + 1)
    insert = chance.choice(
        [
            b"\xff",
            b"\xed\xa0\x80",
            b'"\\ud800"',
            b"9" * 5000,
            b"[" * 100_000,
            b"\x00",
            b"\x1b[31m",
            b" ",
            b"\\",
            b'"',
        ]
    )
    return chance.choice(
        [
            line[:place],
            line[place:],
            line[:place] + other[chance.randrange(len(other) + 1) :],
            line[:place] + insert + line[place:],
            line[:place] + insert + line[place + 1 :],
            line.replace(b'"', insert, 1),
            b"[" * 100_000,
            b'{"x":' * 100_000,
            line[:-1] + b',"x":' + b"9" * 5000 + b"}",
            line[:-1] + b',"x":"\\ud83d"}',
            line[:-1] + b',"x":"\xff\xfe"}',
            line[:-1] + b',"x":NaN}',
        ]
    )


# What a digest can do without, once it has the last text.
LEFT_OUT = {"tool_call", "tool_result", "question", "thinking", "turn_ended", "background"}


def check(agent_name: str, line: bytes) -> None:
    agent = agent_named(agent_name)
    plain = agent.read_plain(line)
    padded = b"\n" + line + b"\n"
    buffer = bytearray(padded)
    assert agent.read(buffer, 1, len(padded) - 1) == plain
    entries = agent.read(buffer, 1, len(padded) - 1, ENTRIES)
    assert entries == plain or (entries == () and {moment.kind for moment in plain} <= LEFT_OUT)
    without = agent.read(buffer, 1, len(padded) - 1, NO_RESULT)
    assert without == plain or (without == () and {moment.kind for moment in plain} == {"tool_result"})
    if agent.noise.match(buffer, 1, len(padded) - 1):
        assert plain == ()
        assert line[2] == agent.noise_letter
    agent.usage(line)


@pytest.mark.soak
@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck))
@example(seed=39_958_436_162, harm=False)  # Codex: an item, and after it the same key with null
@given(seed=st.integers(0, 2**63), harm=st.booleans())
def test_fast_equals_plain_on_changed_lines(agent: str, seed: int, *, harm: bool) -> None:
    chance = random.Random(seed)
    line, other = chance.choices(LINES[agent], k=2)
    check(agent, damaged(chance, line, other) if harm else rearranged(chance, line, other))


@pytest.mark.soak
@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck))
@given(line=st.binary(max_size=300))
def test_fast_equals_plain_on_any_bytes(agent: str, line: bytes) -> None:
    check(agent, line.replace(b"\n", b""))


class Plain:
    """An agent that reads every line by ordinary JSON parsing."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.noise = re.compile(rb"(?!)")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def read(self, buffer: bytes | bytearray, start: int, end: int, wanted: int = 0) -> tuple[Moment, ...]:  # noqa: ARG002  # everything
        return self._agent.read_plain(bytes(buffer[start:end]))


@pytest.mark.soak
@pytest.mark.parametrize("agent_name", AGENTS)
@settings(max_examples=COUNT // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**63), last=st.integers(0, 6), aged=st.booleans(), full=st.booleans())
def test_a_digest_equals_the_plain_one(
    place: Path, agent_name: str, seed: int, last: int, *, aged: bool, full: bool
) -> None:
    chance = random.Random(seed)
    lines = chance.choices(LINES[agent_name], k=chance.randint(1, 12))
    for number in range(len(lines)):
        if chance.random() < 0.3:
            lines[number] = rearranged(chance, lines[number], chance.choice(LINES[agent_name]))
        if chance.random() < 0.5:
            lines[number] = WORDS.sub(rb'\1"No."', lines[number])
    path = place / "t.jsonl"
    path.write_bytes(b"\n".join(lines) + chance.choice((b"", b"\n", b"\n\n")))
    agent = agent_named(agent_name)
    since = NOW - 3_600_000 if aged else None

    def read_by(reader: Agent) -> Digest:
        return digest_transcript(
            reader, path, Subject("s"), now=NOW, last=last, since=since, shape=Shape(full=full)
        )

    assert read_by(agent) == read_by(Plain(agent))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "more", [b',"x":' + b"9" * 5000, b',"x":"\xff"', b',"x":[[[1]]]', b',"x":"\\u001b[31m"']
)
def test_a_good_line_is_kept_whatever_else_it_holds(agent: str, more: bytes) -> None:
    reader = agent_named(agent)
    for line in LINES[agent]:
        changed = line[:-1] + more + b"}"
        assert reader.read(changed, 0, len(changed)) == reader.read(line, 0, len(line))
