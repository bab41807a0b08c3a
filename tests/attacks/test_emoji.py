"""Prompts with characters that a terminal drops, joins or widens, and what is left of a prompt that could not be sent.

On a real tmux, with the scripted agent in the look of each CLI. What the real ones show: tests/agents/shown/.
"""

from __future__ import annotations

import pytest
from tests.characters import FAMILY, ODD
from tests.fleet.typing.stage import Stage
from tests.patience import until
from tests.support import some_in_test

pytestmark = pytest.mark.more  # make test-more

LOOKS = some_in_test(["claude", "codex", "gemini"])


def left_in_box(stage: Stage, session: str, text: str) -> str:
    """A prompt that was pasted while a human looked, and is not sent; its id."""
    desk = stage.adopt(f"desk-of-{session[-6:]}")
    human = stage.human(desk)
    with stage.frozen(session):
        sent = stage.queued(session, text)
        until(lambda: stage.receipt(session, sent)["state"] == "pasted")
        stage.in_pane(session, "select-window")
        over = stage.settled(session, sent)
    assert (over["state"], "pasted and not sent" in over["reason"]) == ("uncertain", True), over
    human.leave()
    until(lambda: not stage.explain(session)["focused"])
    return sent


@pytest.mark.parametrize("look", LOOKS)
def test_every_prompt_arrives_and_the_next_one_too(stage: Stage, look: str) -> None:
    session = stage.adopt(f"odd-{look}", imitate=look)
    whole = " ".join(
        ODD[name] for name in ("a family of four", "skin tones", "variation selectors", "soft hyphens")
    )
    texts = (whole, ODD["young emoji"], ODD["many of them"], ODD["zalgo"], "plain words")
    for text in texts:
        receipt = stage.sent(session, text, "--timeout", "60", timeout=90)
        assert receipt["state"] == "submitted", (receipt, stage.screen(session))
    stage.until_heard(session, *texts)


@pytest.mark.parametrize("look", LOOKS)
def test_our_own_draft_is_taken_out_before_the_next_prompt(stage: Stage, look: str) -> None:
    session = stage.adopt(f"left-{look}", imitate=look, keeper=True)
    first = left_in_box(stage, session, f"first line {FAMILY}\n\nthe last line")
    stage.see(session, "the last line")
    after = stage.queued(session, "the next one")
    assert stage.settled(session, after)["state"] == "submitted"
    stage.until_heard(session, "the next one")
    over = stage.receipt(session, first)
    assert (over["state"], "taken out again" in over["reason"]) == ("failed", True), over


def test_what_a_human_changed_is_theirs(stage: Stage) -> None:
    session = stage.adopt("changed", keeper=True)
    first = left_in_box(stage, session, f"ship it {FAMILY}")
    stage.see(session, "ship it")
    stage.in_pane(session, "send-keys", "-l", "!")
    stage.see(session, "!")
    after = stage.queued(session, "not before you")
    stage.held(session, after, "draft stands in its box")
    assert stage.receipt(session, first)["state"] == "uncertain"
    stage.in_pane(session, "send-keys", "Enter")
    assert stage.settled(session, after)["state"] == "submitted"
    stage.until_heard(session, f"ship it {FAMILY}!", "not before you")


def test_a_mark_that_tells_only_lines_is_left_alone_where_nobody_saw_it_before(stage: Stage) -> None:
    """A person may have pasted as many lines since."""
    session = stage.adopt("folded", keeper=True)
    text = "\n".join(f"line {number}" for number in range(30))
    first = left_in_box(stage, session, text)
    stage.see(session, "+29 lines]")
    after = stage.queued(session, "not before you")
    stage.held(session, after, "draft stands in its box")
    assert stage.receipt(session, first)["state"] == "uncertain"
    stage.in_pane(session, "send-keys", "Enter")
    assert stage.settled(session, after)["state"] == "submitted"
    stage.until_heard(session, text, "not before you")


def test_what_a_human_sent_after_all_is_not_taken_out(stage: Stage) -> None:
    session = stage.adopt("sent-after-all", keeper=True)
    left_in_box(stage, session, "by hand then")
    stage.see(session, "by hand then")
    stage.in_pane(session, "send-keys", "Enter")
    stage.until_heard(session, "by hand then")
    assert stage.settled(session, stage.queued(session, "and this"))["state"] == "submitted"
    stage.until_heard(session, "by hand then", "and this")


def test_across_a_kill_of_the_daemon_it_is_sent_once(stage: Stage) -> None:
    session = stage.adopt("killed", keeper=True)
    with stage.frozen(session):
        sent = stage.queued(session, f"across a kill {FAMILY}")
        until(lambda: stage.receipt(session, sent)["state"] == "pasted")
        stage.kill_daemon()
    stage.see(session, "across a kill")
    over = stage.settled(session, sent)
    assert (over["state"], "Enter was pressed" in str(over["evidence"])) == ("submitted", True), over
    stage.until_heard(session, f"across a kill {FAMILY}")
    assert stage.settled(session, stage.queued(session, "goes on"))["state"] == "submitted"
    stage.until_heard(session, f"across a kill {FAMILY}", "goes on")


def test_after_a_restart_an_uncertain_one_is_known_again(stage: Stage) -> None:
    session = stage.adopt("restarted", keeper=True)
    first = left_in_box(stage, session, f"from the last life {FAMILY}")
    stage.see(session, "from the last life")
    stage.kill_daemon()
    after = stage.queued(session, "of this life")
    assert stage.settled(session, after)["state"] == "submitted"
    stage.until_heard(session, "of this life")
    assert stage.receipt(session, first)["state"] == "failed"


@pytest.mark.parametrize("look", LOOKS)
def test_a_draft_of_one_space_is_a_draft(stage: Stage, look: str) -> None:
    session = stage.adopt(f"space-{look}", imitate=look)
    stage.in_pane(session, "send-keys", "Space")
    until(lambda: stage.explain(session)["draft"] == " ", lambda: stage.screen(session))
    waiting = stage.queued(session, "behind a space")
    stage.held(session, waiting, "nothing but spaces")
    stage.in_pane(session, "send-keys", "BSpace")
    assert stage.settled(session, waiting)["state"] == "submitted"
    stage.until_heard(session, "behind a space")
