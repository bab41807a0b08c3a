"""Where the human looks the loop types nothing: before it decides, after it has decided, and between paste and Enter."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.coordinate.journey.overseen import Overseen, ask, may, require_whole_log
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

POLICY: dict[str, Any] = {
    "preset": "autonomous",
    "rules": [
        {"pattern": "which colour .*", "answer": "Choose 2"},
        {"pattern": ".*what shall it be called.*", "answer": "Call it ledger"},
        {"pattern": r"npm test -- \S+", "answer": "Choose 1"},
    ],
}
COLOUR = ask("one", "Which colour shall it have?", "Red", "Blue")


def actions(stage: Overseen, session: str) -> list[tuple[str, str]]:
    return [(one["kind"], one["action"]) for one in stage.decisions(sessionId=session)]


def held_back(stage: Overseen, session: str, reason: str) -> dict[str, Any]:
    """The answer that is decided and waits to be typed."""
    until(
        lambda: any(reason in one["reason"] for one in stage.prompts(session)), lambda: stage.prompts(session)
    )
    [one] = stage.prompts(session)
    assert one["state"] == "queued", one
    return one


def test_nothing_is_typed_while_the_human_looks(stage: Overseen) -> None:
    """In a pane of ours by its hook, in the user's own tmux by keys."""
    stage.policy(**POLICY)
    for make in (stage.spawn, stage.adopt):
        session = make(f"watched-{make.__name__}", COLOUR, may("two", "npm test -- all"))
        beside = make(f"beside-{make.__name__}", COLOUR)
        stage.asked(session)
        human = stage.human(session)
        loop = stage.oversee("oversight", "--fleet", "maestro" if make == stage.spawn else stage.guests)
        # It has dealt with the pane beside: this one it saw, and left alone.
        stage.until_said(beside, "one got Blue")
        assert stage.explain(session)["focused"]
        assert (stage.said(session), stage.prompts(session), actions(stage, session)) == ([], [], [])
        human.leave()
        stage.until_said(session, "one got Blue", "two got yes")
        stage.stop(loop)
    require_whole_log(stage)


def test_the_human_comes_between_decision_and_typing(stage: Overseen) -> None:
    """What is decided waits while they look, and is typed once when they have gone."""
    stage.policy(**POLICY)
    session, desk = stage.adopt("late", COLOUR), stage.adopt("desk")
    stage.asked(session)
    stage.in_pane(session, "copy-mode")
    loop = stage.oversee()
    held_back(stage, session, "copy mode")
    assert actions(stage, session) == [("verdict", "answer")], "it is written down before anything is typed"
    human = stage.human(desk)
    stage.in_pane(session, "select-window")
    stage.in_pane(session, "send-keys", "-X", "cancel")
    held_back(stage, session, "human looks")
    assert stage.said(session) == []
    human.leave()
    stage.until_said(session, "one got Blue")
    stage.stop(loop)
    # The worker may have told before its daemon saw that it heard.
    until(lambda: actions(stage, session) == [("verdict", "answer"), ("receipt", "submitted")])
    require_whole_log(stage)


def test_a_human_who_stays_is_not_waited_for(stage: Overseen) -> None:
    """What was decided is taken back; when they leave it open, it is decided anew."""
    before = stage.get("decisions/stats")
    stage.policy(**POLICY)
    session, desk = stage.adopt("stays", COLOUR), stage.adopt("desk")
    stage.asked(session)
    stage.in_pane(session, "copy-mode")
    loop = stage.oversee()
    held_back(stage, session, "copy mode")
    human = stage.human(desk)
    stage.in_pane(session, "select-window")
    stage.in_pane(session, "send-keys", "-X", "cancel")
    until(lambda: ("receipt", "withdrawn") in actions(stage, session), lambda: stage.prompts(session))
    assert (stage.said(session), stage.inbox()) == ([], []), "the human is there: they need no telling"
    human.leave()
    stage.until_said(session, "one got Blue")
    until(lambda: ("receipt", "submitted") in actions(stage, session), lambda: stage.prompts(session))
    stage.stop(loop)
    assert Counter(actions(stage, session)) == {
        ("verdict", "answer"): 2,
        ("receipt", "withdrawn"): 1,
        ("receipt", "submitted"): 1,
    }
    after = stage.get("decisions/stats")
    assert [after[name] - before[name] for name in ("decided", "answered")] == [1, 1]
    require_whole_log(stage)


def test_the_human_comes_between_paste_and_enter(stage: Overseen) -> None:
    """Enter is theirs to press, and they are told what stands there."""
    stage.policy(**POLICY)
    session = stage.adopt("pasted", {"say": "It is ready. What shall it be called?"}, keeper=True)
    desk = stage.adopt("desk")
    until(lambda: stage.explain(session)["status"] == "asking", lambda: stage.explain(session))
    pane = {"fleet": stage.guests, "pane": stage.place_of(session)[1], "state": "unchecked"}
    stage.maestro.daemon.call("POST", "/api/fleets/notify", pane)
    human = stage.human(desk)
    # An agent that does not read: what is pasted waits in its terminal, and its box stays empty.
    with stage.frozen(session):
        loop = stage.oversee()
        until(lambda: [one for one in stage.prompts(session) if one["state"] == "pasted"])
        stage.in_pane(session, "select-window")
        until(lambda: ("receipt", "uncertain") in actions(stage, session), lambda: stage.prompts(session))
        [waiting] = stage.inbox()
        assert "not sent. A human looks at its pane" in waiting["reason"], waiting
    stage.see(session, "Call it ledger")
    assert stage.heard(session) == []
    human.press("\r")
    until(lambda: stage.heard(session) == ["Call it ledger"], lambda: stage.screen(session))
    human.leave()
    assert stage.closed(waiting["id"])["closedBy"]
    stage.stop(loop)
    require_whole_log(stage)
