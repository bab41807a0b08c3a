"""Prompts that the real CLIs and tmux show otherwise than they were typed, and one that was left in the box."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import Any

import pytest
from tests.characters import ODD
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import says

TEXT = " ".join(
    ODD[name]
    for name in ("a family of four", "skin tones", "variation selectors", "soft hyphens", "vowel signs")
)


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def test_joined_emoji_and_the_next_prompt(fleet: RealFleet) -> None:
    replies = [f"This is reply number {number}." for number in range(4)]
    since = fleet.load(*map(says, replies))
    session = fleet.spawn("Begin with it, please.")
    fleet.until_said(session, replies[0])
    for number, text in enumerate((TEXT, ODD["young emoji"], "and plain words after all"), 1):
        fleet.tell(session, text)
        fleet.until_said(session, replies[number])
    fleet.asked("and plain words after all", since=since)


LEFT = f"first line {ODD['a family of four']}\n\nlast line"


def left_in_box(fleet: RealFleet, state: str) -> tuple[str, str]:
    """A session whose box holds a prompt that a daemon pasted and then died; the prompt as `state`; no daemon runs."""
    session = fleet.spawn("Begin with it, please.")
    fleet.until_said(session, "I am ready to begin now.")
    fleet.press(session, "x")
    fleet.until("its draft is seen", lambda: fleet.explain(session)["draft"], lambda draft: draft == "x")
    sent = fleet.json("session", "prompt", session, "--message", LEFT, "--no-wait")["id"]
    assert fleet("server", "stop", "--force").returncode == 0
    fleet.press(session, "BSpace")
    fleet.paste(session, LEFT)
    now = time.time_ns() // 1_000_000
    with contextlib.closing(sqlite3.connect(f"{fleet.env['MAESTRO_HOME']}/maestro.db")) as ledger, ledger:
        ledger.execute(
            "UPDATE prompts SET state = ?, typed_at = ?, transcript_size = 0, settled_at = ? WHERE id = ?",
            (state, now, now if state == "uncertain" else None, sent),
        )
    return session, sent


def receipt(fleet: RealFleet, session: str, prompt: str) -> dict[str, Any]:
    return next(one for one in fleet.json("session", "prompts", session) if one["id"] == prompt)


def test_own_draft_is_sent_after_a_crash(fleet: RealFleet) -> None:
    since = fleet.load(says("I am ready to begin now."), says("I have got it after all."))
    session, sent = left_in_box(fleet, "pasted")
    over = fleet.until("it is over", lambda: receipt(fleet, session, sent), lambda one: one["settledAt"])
    assert (over["state"], "Enter was pressed" in str(over["evidence"])) == ("submitted", True), over
    fleet.until_said(session, "I have got it after all.")
    fleet.asked("last line", since=since)


def test_own_draft_is_taken_out_before_the_next(fleet: RealFleet) -> None:
    since = fleet.load(says("I am ready to begin now."), says("I have got the next one."))
    session, sent = left_in_box(fleet, "uncertain")
    fleet.until("it stands in the box", lambda: fleet.explain(session)["draft"], bool)
    fleet.tell(session, "the next one")
    fleet.until_said(session, "I have got the next one.")
    asked = fleet.asked("the next one", since=since)
    assert not any("last line" in text for text in asked.user_texts())
    over = receipt(fleet, session, sent)
    assert (over["state"], "taken out again" in over["reason"]) == ("failed", True), over
