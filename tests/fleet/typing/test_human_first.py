"""A person at a real terminal comes first: what they type is theirs, where they look nobody types."""

from __future__ import annotations

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import patience, until

from maestro.errors import Conflict, Uncertain

COLOURS = {
    "ask": {
        "question": "Which colour?",
        "header": "Colour",
        "options": ["Red", "Blue"],
        "answers": {"*": [{"say": "It is ${answer}."}]},
    }
}


def test_a_draft_is_never_merged(stage: Stage) -> None:
    session = stage.spawn("drafted")
    stage.in_pane(session, "send-keys", "-l", "half a thought")
    stage.see(session, "half a thought")
    waiting = stage.queued(session, "from elsewhere")
    stage.held(session, waiting, "half a thought")
    stage.in_pane(session, "send-keys", "-l", " and the rest")
    stage.held(session, waiting, "and the rest")
    assert stage.heard(session) == []
    stage.in_pane(session, "send-keys", "Enter")
    assert stage.settled(session, waiting)["state"] == "submitted"
    # Its hook may have told of the prompt before it is in the log.
    until(lambda: stage.heard(session) == ["half a thought and the rest", "from elsewhere"])


def test_where_a_human_looks_nobody_types(stage: Stage) -> None:
    session = stage.spawn("watched")
    human = stage.human(session)
    stage.times_out(session, "when you have gone", "human looks")
    human.press("mine first\r")
    until(lambda: stage.heard(session) == ["mine first"])
    human.leave()
    until(lambda: stage.heard(session) == ["mine first", "when you have gone"])


def test_in_the_users_own_tmux_as_well(stage: Stage) -> None:
    session = stage.adopt("watched-too")
    human = stage.human(session)
    waiting = stage.queued(session, "when you have gone")
    stage.held(session, waiting, "human looks")
    human.press("a draft")
    stage.see(session, "a draft")
    human.leave()
    stage.held(session, waiting, "a draft")
    stage.in_pane(session, "send-keys", "C-u")
    assert stage.settled(session, waiting)["state"] == "submitted"
    until(lambda: stage.heard(session) == ["when you have gone"])


def test_the_human_answers_first(stage: Stage) -> None:
    """Ours was on its way, and held; none of its keys reaches the next screen."""
    for make in (stage.spawn, stage.adopt):
        session = make(f"asked-{make.__name__}", COLOURS, COLOURS)
        stage.see(session, "Which colour?")
        human = stage.human(session)
        waiting = stage.queued(session, "Choose 2")
        stage.held(session, waiting, "human looks")
        human.press("1")
        stage.until_said(session, "It is Red.")
        human.leave()
        over = stage.settled(session, waiting)
        assert (over["state"], over["evidence"]) == ("failed", []), over
        # The next dialog, in equal words, may be drawn only after the last look that still finds the first one open.
        assert "no longer" in over["reason"] or "has changed since" in over["reason"], over
        assert stage.said(session) == ["It is Red."], "its second question has no answer yet"
        done = stage.prompt(session, "Choose 2")
        assert done.returncode == 0, done.stderr
        stage.until_said(session, "It is Red.", "It is Blue.")


def test_an_answer_to_a_question_that_is_over_is_refused(stage: Stage) -> None:
    session = stage.spawn("asks-twice", COLOURS, COLOURS)
    stage.see(session, "Which colour?")
    first = stage.explain(session)["question"]
    stage.in_pane(session, "send-keys", "1")
    stage.until_said(session, "It is Red.")
    second = until(lambda: (q := stage.explain(session)["question"]) and q["id"] != first["id"] and q)
    assert second["text"] == first["text"], "the same words, asked twice, are two questions"
    late = stage.prompt(session, "Choose 2", "--question", first["id"])
    assert (late.returncode, "no longer open" in late.stderr) == (Conflict.exit_code, True), late.stderr
    assert stage.prompt(session, "Choose 2", "--question", second["id"]).returncode == 0
    stage.until_said(session, "It is Red.", "It is Blue.")


def test_a_human_comes_between_paste_and_enter(stage: Stage) -> None:
    session = stage.adopt("interrupted", keeper=True)
    desk = stage.adopt("desk")
    human = stage.human(desk)
    # An agent that does not read: what is pasted waits in its terminal, and its box stays empty.
    with stage.frozen(session):
        sent = stage.queued(session, "pasted and no more")
        until(lambda: stage.receipt(session, sent)["state"] == "pasted")
        stage.in_pane(session, "select-window")
        over = stage.settled(session, sent)
    assert over["state"] == "uncertain", over
    assert "pasted and not sent. A human looks at its pane" in over["reason"], over
    stage.see(session, "pasted and no more")
    assert stage.heard(session) == [], "Enter is the human's to press"
    human.press("\r")
    until(lambda: stage.heard(session) == ["pasted and no more"])
    human.leave()


@pytest.mark.more
def test_uncertain_has_a_code_of_its_own(stage: Stage) -> None:
    session = stage.adopt("deaf", keeper=True)
    with stage.frozen(session):
        done = stage.prompt(session, "can you hear me", "--timeout", str(patience(60)), timeout=90)
    assert (done.returncode, "nothing proves" in done.stderr) == (Uncertain.exit_code, True), done.stderr
    assert "pasted and not sent" in done.stderr
    stage.see(session, "can you hear me")
    again = stage.queued(session, "and me")
    assert stage.settled(session, again)["state"] == "submitted", "our own text does not stand in its way"
    assert stage.heard(session)[-1] == "and me"
