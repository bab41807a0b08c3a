"""Codex where nobody is signed in: its ways in are told, the human chooses among them, and no key is ever typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.test_coordinate import _YES_TO_ALL, rule

_CONFIG = """\
check_for_update_on_startup = false

[analytics]
enabled = false

[tui]
screen_reader_detection_done = true
"""
WAYS = ["Sign in with ChatGPT", "Sign in with Device Code", "Use an OpenAI API key", "Use Amazon Bedrock"]


@pytest.fixture(scope="module")
def cli() -> Cli:
    return CLIS["codex"]


@pytest.fixture
def session_id(fleet: RealFleet) -> Iterator[str]:
    """Codex with a home that holds neither a key nor a login, in the person's own tmux."""
    home = fleet.work.parent / "nobody"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(_CONFIG)
    nobody = ("env", "-u", "OPENAI_API_KEY", f"CODEX_HOME={home}", "codex", "--no-daemon")
    with fleet.own_tmux(*nobody, columns=100) as tmux, fleet.adopted(tmux, "Nobody") as session:
        yield session


def until_text(fleet: RealFleet, session_id: str, text: str) -> dict[str, Any]:
    return fleet.until(
        f"it says {text!r}",
        lambda: fleet.screen(session_id),
        lambda screen: screen["hasQuestion"] and text in screen["questionText"],
    )


def test_the_ways_in_are_the_humans_to_choose(fleet: RealFleet, session_id: str) -> None:
    """All of them are told; a policy that says yes to all takes none; the human takes one, and goes back."""
    rule(fleet, _YES_TO_ALL)
    screen = until_text(fleet, session_id, "Choose how you want to use Codex.")
    assert screen["kind"] == "dialog"
    assert [option["label"] for option in screen["options"]] == WAYS
    place = fleet.json("session", "show", session_id)["place"]
    assert fleet.json("coordinate", "--once", "--fleet", place["fleet"], timeout=120)["ended"] == "once"
    [escalation] = fleet.json("inbox")
    assert "security decisions" in escalation["categories"], escalation
    assert fleet.json("session", "prompts", session_id) == []
    told = fleet.json("answer", escalation["id"], "3", timeout=120)
    assert told["prompt"]["state"] == "submitted", told
    screen = until_text(fleet, session_id, "Paste or type your API key below.")
    assert [option["label"] for option in screen["options"]] == ["Go back (esc)"]
    fleet.tell(session_id, "Choose 1")
    until_text(fleet, session_id, "Choose how you want to use Codex.")


def test_no_key_is_typed(fleet: RealFleet, session_id: str) -> None:
    until_text(fleet, session_id, "Choose how you want to use Codex.")
    fleet.tell(session_id, "Choose 3")
    before = until_text(fleet, session_id, "Paste or type your API key below.")
    done = fleet("session", "prompt", session_id, "--message", "sk-proj-of-somebody", "--timeout", "60")
    assert done.returncode != 0, done
    assert fleet.screen(session_id)["content"] == before["content"]


def test_a_link_and_a_code_are_told_with_the_way_back(fleet: RealFleet, session_id: str) -> None:
    for way, text in ((1, "Finish signing in via your browser"), (2, "Preparing device code login")):
        until_text(fleet, session_id, "Choose how you want to use Codex.")
        fleet.tell(session_id, f"Choose {way}")
        screen = until_text(fleet, session_id, text)
        assert "https://" not in screen["questionText"]
        fleet.tell(session_id, "Go back (esc)")
