"""Whether text may go into a terminal, and what the text is that goes: every row."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.typing.sights import sight

from maestro.agents.questions import Question
from maestro.agents.screen import Screen
from maestro.fleet.delivery import READY, Left, may_prompt, may_touch, typable, what_of_left
from maestro.fleet.facts import Sight

# Whatever is true of the pane itself, prompt and answer alike.
UNTOUCHABLE = [
    (None, "refuse", "gone"),
    (sight(dead=True), "refuse", "dead"),
    (sight(in_front=False, front="vim"), "refuse", "“vim”"),
    (sight(focused=True), "hold", "human"),
    (sight(in_mode=True), "hold", "copy mode"),
    (sight(synchronized=True), "hold", "synchronize-panes"),
]
WORDS = Screen("question", question=Question("choice", "Which\x1b[31m\nway?"))
NOT_NOW = [
    (sight(WORDS), "hold", "“Which way?”"),
    (sight(Screen("permission", question=Question("permission", ""), draft="")), "hold", "asks"),
    (sight(Screen("plan")), "hold", "asks"),
    (sight(Screen("dialog")), "hold", "asks"),
    (sight(Screen("exited", evidence="Resume with: x")), "refuse", "“Resume with: x”"),
    (sight(Screen("unknown")), "hold", "explain"),
    (sight(Screen("unknown", draft="")), "hold", "explain"),
    (sight(Screen("working", evidence="Busy")), "hold", "no input box (working: “Busy”)"),
    (sight(Screen("idle", draft="half a thou")), "hold", "“half a thou”"),
    (sight(Screen("working", draft="half")), "hold", "draft"),
    (sight(Screen("idle", draft=" ")), "hold", "nothing but spaces"),
    (sight(Screen("idle", draft="\n")), "hold", "nothing but spaces"),
]
NOW = [
    *(
        sight(Screen(state, draft=""))
        for state in ("idle", "working", "background", "error", "retrying", "limit")
    ),
    # Where the system does not tell who is in front, the screen has to do.
    sight(in_front=None),
]


@pytest.mark.parametrize(("seen", "verdict", "reason"), UNTOUCHABLE)
def test_what_must_not_be_touched(seen: Sight | None, verdict: str, reason: str) -> None:
    for decide in (may_touch, may_prompt):
        decision = decide(seen, "claude")
        assert (decision.verdict, reason in decision.reason) == (verdict, True), decision


@pytest.mark.parametrize(("seen", "verdict", "reason"), NOT_NOW)
def test_what_takes_no_prompt_now(seen: Sight, verdict: str, reason: str) -> None:
    decision = may_prompt(seen, "claude")
    assert (decision.verdict, reason in decision.reason) == (verdict, True), decision
    assert may_touch(seen, "claude") == READY, "an answer may go there"


@pytest.mark.parametrize("seen", NOW)
def test_what_takes_a_prompt(seen: Sight) -> None:
    assert may_prompt(seen, "claude") == READY


def test_the_worst_reason_is_told_first() -> None:
    everything = sight(
        Screen("idle", draft="x"), dead=True, in_front=False, focused=True, in_mode=True, synchronized=True
    )
    assert may_prompt(everything, "claude").verdict == "refuse"
    assert "dead" in may_prompt(everything, "claude").reason


def test_a_reason_is_short_and_keeps_no_secret() -> None:
    secret = "sk-ant-" + "a" * 40
    decision = may_prompt(sight(Screen("idle", draft=f"use {secret} " + "long " * 200)), "claude")
    assert secret not in decision.reason
    assert len(decision.reason) < 120


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ("plain", "plain"),
        ("a\r\nb\rc\x85d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"),
        ("\n\nfirst\n\nlast\n\n", "first\n\nlast"),
        ("a\tb", "a\tb"),
        ("x\x1b[201~; rm -rf /\n", "x[201~; rm -rf /"),
        ("x\x9b201~y", "x201~y"),
        ("nul\0 bell\x07 del\x7f", "nul bell del"),
        ("\x1b\x1b[201~[201~", "[201~[201~"),
        ("lone \ud83d and \udc80", "lone \ufffd and \ufffd"),
        ("  kept  ", "  kept  "),
        ("👩‍👩‍👧 é 漢", "👩‍👩‍👧 é 漢"),
    ],
)
def test_the_text_that_is_typed(given: str, typed: str) -> None:
    assert typable(given) == typed


@given(st.text(st.characters(), max_size=200))
def test_nothing_that_a_terminal_obeys_is_typed(text: str) -> None:
    typed = typable(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", typed)
    typed.encode()
    assert typable(typed) == typed


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({}, "send"),
        ({"is_told": True}, "clear"),
        ({"is_own": False}, "leave"),
        ({"is_own": False, "is_told": True}, "leave"),
        ({"sight": None}, "leave"),
        ({"sight": sight(Screen("idle", draft="ours"), focused=True)}, "leave"),
        ({"sight": sight(Screen("idle", draft="ours"), in_front=False), "is_told": True}, "leave"),
        ({"sight": sight(Screen("idle", draft="ours"), in_mode=True), "is_told": True}, "leave"),
        ({"sight": sight(Screen("unknown", draft="ours")), "is_told": True}, "leave"),
        ({"sight": sight(Screen("permission", draft="ours")), "is_told": True}, "leave"),
        ({"sight": sight(Screen("working", draft="ours")), "is_told": True}, "clear"),
    ],
    ids=str,
)
def test_what_becomes_of_our_own_text_in_a_box(changed: dict[str, Any], what: str) -> None:
    facts: dict[str, Any] = {
        "sight": sight(Screen("idle", draft="ours")),
        "is_own": True,
        "is_told": False,
    } | changed
    assert what_of_left(Left(**facts), "claude") == what
