"""A worker that ends its turn with a question in words is answered as if it had asked in a dialog."""

from __future__ import annotations

import pytest
from tests.coordinate.loop.overseen import Overseen
from tests.fleet.typing.stage import Stage
from tests.patience import until

from maestro.errors import Conflict

pytestmark = pytest.mark.more  # make test-more

ENDS = {"say": "I have read the code. Shall I use tabs or spaces for it?"}
HEARS = [{"say": "I heard: ${prompt}"}]
RULE = {"pattern": ".*tabs or spaces.*", "answer": "Use spaces."}


def ended(stage: Stage, name: str) -> str:
    session = stage.spawn(name, ENDS, on_prompt=HEARS)
    until(lambda: stage.explain(session)["status"] == "asking", lambda: stage.explain(session))
    return session


def test_a_rule_answers_it_as_a_prompt(stage: Stage, overseen: Overseen) -> None:
    session = ended(stage, "ruled")
    overseen.once(of="ruled", rules=[RULE])
    stage.until_heard(session, "Use spaces.")
    assert overseen.done(session) == [("verdict", "answer", "rules"), ("receipt", "submitted", "rules")]
    [sent] = stage.prompts(session)
    assert (sent["kind"], sent["state"]) == ("prompt", "submitted")
    assert overseen.inbox(session) == []
    overseen.once(of="ruled", rules=[RULE])
    assert stage.heard(session) == ["Use spaces."], "what it says now is no question"


def test_what_no_rule_answers_is_the_humans(stage: Stage, overseen: Overseen) -> None:
    session = ended(stage, "open")
    overseen.once(of="open")
    overseen.once(of="open")
    [waits] = overseen.inbox(session)
    assert (waits["kind"], waits["text"]) == ("question", ENDS["say"])
    assert stage.prompts(session) == []
    done = stage.maestro("answer", waits["id"], "Tabs,", "please.")
    assert done.returncode == 0, done.stderr
    assert "submitted" in done.stdout
    stage.until_heard(session, "Tabs, please.")
    [over] = overseen.inbox(session, closed=True)
    assert over["closedBy"].startswith("answered by human")
    made = [
        ("verdict", "escalate", "rules"),
        ("resolution", "answer", "human"),
        ("receipt", "submitted", "human"),
    ]
    assert overseen.done(session) == made
    late = stage.maestro("answer", waits["id"], "Spaces.")
    assert (late.returncode, "waits no longer" in late.stderr) == (Conflict.exit_code, True)
    assert stage.heard(session) == ["Tabs, please."]


def test_when_it_has_gone_on_the_answer_is_stale(stage: Stage, overseen: Overseen) -> None:
    session = ended(stage, "gone-on")
    overseen.once(of="gone-on")
    [waits] = overseen.inbox(session)
    stage.sent(session, "Do not ask, decide.")
    stage.until_said(session, ENDS["say"], "I heard: Do not ask, decide.")
    late = stage.maestro("answer", waits["id"], "Tabs.")
    assert late.returncode == Conflict.exit_code, late.stdout
    assert "gone on" in late.stderr or "went on" in late.stderr
    assert overseen.inbox(session) == [], "and it waits no longer"
    assert stage.heard(session) == ["Do not ask, decide."]


def test_the_log_tells_what_was_asked(stage: Stage, overseen: Overseen) -> None:
    session = ended(stage, "logged")
    told = overseen.once(of="logged", rules=[RULE]).stdout
    assert "tabs or spaces" in told
    until(lambda: stage.heard(session))
    assert "Shall I use tabs or spaces for it?" in overseen.log("logged")


def test_the_human_who_looks_is_left_alone(stage: Stage, overseen: Overseen) -> None:
    session = ended(stage, "seen")
    human = stage.human(session)
    overseen.once(of="seen", rules=[RULE])
    assert overseen.done(session) == []
    human.leave()
    until(lambda: not stage.explain(session)["focused"])
