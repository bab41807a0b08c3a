"""Proof that a prompt arrived: the agent's own words for it, written after it was typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_keys import made

from maestro.agents.registry import terminal_named
from maestro.fleet.proof import lines_since, mentions, same_prompt, size_of, taken_since


@pytest.mark.parametrize(
    ("told", "same"),
    [
        ("Fix the login", True),
        ("  Fix the\nlogin \n", True),
        ("Fixthelogin", True),
        ("Fix the login now", False),
        ("Fix the", False),
        ("fix the login", False),
        ("", False),
    ],
)
def test_the_same_prompt(told: str, same: bool) -> None:  # noqa: FBT001 - a table's column
    assert same_prompt(told, "Fix the login") is same
    assert same_prompt(told, "other", "Fix the login") is same


def test_a_prompt_that_lay_on_the_disk_without_its_key() -> None:
    """A hook tells of it while no daemon runs."""
    typed = f"Log in with {made('github', 1)} now"
    assert same_prompt("Log in with [redacted] now", "other", typed)
    assert mentions("Before.\nLog in with [redacted] now", typed)
    assert not same_prompt("Log in with [redacted] later", typed)
    assert not same_prompt("Log in with [redacted] now", "Log in with the password now")


@pytest.mark.parametrize(
    ("told", "is_mentioned"),
    [
        ("Fix the login", True),
        ("first this\nFix the\n login", True),
        ("an earlier prompt", False),
        ("Fix the", False),
        ("", False),
    ],
)
def test_a_prompt_that_was_taken_with_another(told: str, is_mentioned: bool) -> None:  # noqa: FBT001 - a table's column
    assert mentions(told, "Fix the login") is is_mentioned


@given(st.text(max_size=60), st.lists(st.sampled_from([" ", "\n", "\t", "\u00a0"]), max_size=5).map("".join))
def test_wrapping_is_no_difference(text: str, space: str) -> None:
    assert same_prompt(space + text.replace(" ", space or " ") + space, text)


def line(text: str, **named: object) -> bytes:
    record = {"type": "user", "message": {"role": "user", "content": text}, **named}
    return json.dumps(record).encode() + b"\n"


def test_only_what_was_written_since_counts(tmp_path: Path) -> None:
    terminal = terminal_named("scripted")
    assert terminal is not None
    path = tmp_path / "log.jsonl"
    assert size_of(path) == size_of(None) == 0
    assert list(lines_since(path, 0)) == []
    path.write_bytes(line("Again") + line("Again"))
    size = size_of(path)

    def taken(*typed: str) -> bool:
        return taken_since(terminal, lines_since(path, size), *typed)

    assert not taken("Again"), "said before, not by this prompt"
    with path.open("ab") as file:
        file.write(b"\xff\0 no record\n" + line("Again")[:-1])
        file.flush()
        assert not taken("Again"), "a torn line proves nothing"
        file.write(b"\n")
        file.flush()
        assert taken("Again")
        assert taken("!x", "Again")
        assert not taken("Agai")
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "Later"}
    path.write_bytes(json.dumps(queued).encode() + b"\n")
    assert taken("Later"), "a log that began anew is read from its beginning"


@given(st.binary(max_size=300))
def test_any_line_may_stand_in_a_transcript(written: bytes) -> None:
    for name in ("claude", "codex", "gemini", "scripted"):
        terminal = terminal_named(name)
        if terminal is not None:
            assert not taken_since(terminal, written.split(b"\n"), "a prompt that nobody wrote")
