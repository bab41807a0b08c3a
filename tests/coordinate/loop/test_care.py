"""Workers that do not get on, on real parts: prompted a bounded number of times, then the human is told."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tests import skips
from tests.coordinate.loop.overseen import Overseen, asks, waits_for
from tests.fleet.typing.stage import Stage, staged
from tests.patience import until

from maestro import processes

pytestmark = pytest.mark.more  # make test-more

SOON = {"interveneAfter": 1}
HELP = "Say what is in the way."
OVER = "Usage limit reached|1700000000"  # it was reset years ago


def is_untouched(stage: Stage, session: str, pid: int) -> bool:
    """Neither ended nor started again."""
    found = stage.show(session)
    return found["endedAt"] is None and stage.pid(session) == pid and processes.exists(pid)


def until_turn_is_over(stage: Stage, session: str) -> None:
    """Until the last record of a turn is written: its duration."""
    until(
        lambda: stage.records(session)[-1].get("subtype") == "turn_duration",
        lambda: stage.records(session)[-1],
    )


def silent_worker(stage: Stage, overseen: Overseen, name: str) -> str:
    """One that has not said a word for five minutes, and runs one tool after the other."""
    steps: tuple[dict[str, Any], ...] = (
        {"say": "I look at the files."},
        {"silent": {"calls": 8, "seconds": 0}},
        waits_for(stage.place / f"{name}-goes-on"),
        {"say": "Now I know what is wrong."},
        {"work": 600},
    )
    session = stage.spawn(name, *steps)
    until(lambda: len(stage.results(session)) >= 8, lambda: stage.screen(session))
    overseen.age(session, minutes=5)
    return session


def test_a_silent_worker_is_prompted_once_and_then_the_human_is_told(
    stage: Stage, overseen: Overseen
) -> None:
    session = silent_worker(stage, overseen, "quiet")
    pid = stage.pid(session)
    settings = SOON | {"helpMessage": HELP}
    overseen.once(of="quiet", stuck=settings)
    assert overseen.done(session) == [("attention", "help", "policy"), ("receipt", "submitted", "policy")]
    [sent] = stage.prompts(session)
    assert (sent["text"], sent["state"]) == (HELP, "submitted")
    assert overseen.inbox(session) == []
    told = overseen.once(of="quiet", stuck=settings).stdout
    assert "quiet: for you: No text output for" in told
    overseen.once(of="quiet", stuck=settings)
    [waits] = overseen.inbox(session)
    assert waits["kind"] == "stuck"
    assert "It was prompted once, and nothing came of it." in waits["reason"]
    assert [action for _, action, _ in overseen.done(session)] == ["help", "submitted", "escalate"], (
        "told once"
    )
    assert is_untouched(stage, session, pid)
    (stage.place / "quiet-goes-on").touch()
    until(lambda: len(stage.said(session)) == 2, lambda: stage.screen(session))
    overseen.once(of="quiet", stuck=settings)
    [over] = overseen.inbox(session, closed=True)
    assert over["closedBy"] == "the worker went on"
    assert len(stage.prompts(session)) == 1
    log = overseen.log("quiet")
    assert log.count("## Autonomous Decision") == log.count("## Escalation to Human") == 1


def test_nothing_is_typed_while_the_human_looks(stage: Stage, overseen: Overseen) -> None:
    session = silent_worker(stage, overseen, "watched")
    human = stage.human(session)
    overseen.once(of="watched", stuck=SOON)
    assert overseen.done(session) == []
    human.leave()
    until(lambda: not stage.explain(session)["focused"])
    overseen.once(of="watched", stuck=SOON)
    assert [action for _, action, _ in overseen.done(session)] == ["help", "submitted"]


def test_in_shadow_it_is_only_said_what_would_be_done(stage: Stage, overseen: Overseen) -> None:
    session = silent_worker(stage, overseen, "shadowed")
    for _ in range(4):
        overseen.once("--shadow", of="shadowed", stuck=SOON)
    made = overseen.decided(session)
    assert [(one["action"], one["shadow"]) for one in made] == [("help", True), ("escalate", True)]
    assert stage.prompts(session) == overseen.inbox(session) == []


@skips.only_soak  # each try takes as long as a receipt is waited for: 20 seconds
def test_what_cannot_be_typed_is_no_help_and_not_tried_for_ever(stage: Stage, overseen: Overseen) -> None:
    session = silent_worker(stage, overseen, "unreachable")
    stage.in_pane(session, "copy-mode")
    body = {"coordinator": "tried", "sessions": [session], "policy": {"stuck": SOON}}
    for _ in range(3):
        stage.maestro.daemon.call("POST", "/api/coordinate/attend", body, timeout=60)
    actions = [action for _, action, _ in overseen.done(session)]
    assert actions == ["help", "withdrawn", "help", "withdrawn", "escalate"]
    assert "could not be prompted" in overseen.inbox(session)[0]["reason"]
    assert stage.heard(session) == []


def test_a_task_left_open_at_the_end_of_a_turn(stage: Stage, overseen: Overseen) -> None:
    task = stage.maestro.json("task", "create", "Mend the parser")["id"]
    session = overseen.spawn_for(
        task, "left", {"say": "I have looked."}, on_prompt=[{"say": "I look again."}]
    )
    until_turn_is_over(stage, session)
    overseen.age(session, minutes=5)
    overseen.once(of="left", stuck=SOON)
    stage.until_said(session, "I have looked.", "I look again.")
    until_turn_is_over(stage, session)
    assert overseen.inbox(session) == []
    overseen.age(session, minutes=5)

    def looked_after() -> list[dict[str, Any]]:
        overseen.once(of="left", stuck=SOON)
        return overseen.inbox(session)

    # The help itself is given a second, and that may not be over yet.
    [waits] = until(looked_after)
    assert (waits["kind"], "prompted once" in waits["reason"]) == ("stuck", True)
    assert len(stage.heard(session)) == 1, "one answer more is no reason to be prompted for ever"


def test_a_worker_at_rest_is_looked_after_again_when_it_is_given_a_task(
    stage: Stage, overseen: Overseen
) -> None:
    session = stage.spawn("resting", {"say": "I have looked."}, on_prompt=[{"say": "I look again."}])
    until_turn_is_over(stage, session)
    overseen.age(session, minutes=5)
    for _ in range(2):
        overseen.once(of="resting", stuck=SOON)
    assert overseen.done(session) == []
    stage.maestro.json("session", "assign", session, stage.maestro.json("task", "create", "Mend it")["id"])
    until_turn_is_over(stage, session)
    stage.until_said(session, "I have looked.", "I look again.")
    overseen.age(session, minutes=5)
    overseen.once(of="resting", stuck=SOON)
    assert ("attention", "help", "policy") in overseen.done(session)


def test_a_limit_is_the_humans(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("limited", {"limit": {"text": OVER}}, on_prompt=[{"say": "Thank you."}])
    until(lambda: stage.explain(session)["status"] == "limited", lambda: stage.explain(session))
    pid = stage.pid(session)
    overseen.once(of="limited")
    [waits] = overseen.inbox(session)
    assert (waits["kind"], OVER in waits["text"]) == ("limit", True)
    assert stage.prompts(session) == []
    assert is_untouched(stage, session, pid)
    stage.sent(session, "I have paid. Go on.")
    stage.until_said(session, OVER, "Thank you.")
    overseen.once(of="limited")
    assert overseen.inbox(session) == []


def test_after_a_limit_it_is_resumed_and_not_for_ever(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("resumed", {"limit": {"text": OVER}}, on_prompt=[{"limit": {"text": OVER}}])
    settings = {"onLimit": "resume", "mostResumes": 2, "resumeMessage": "Go on."}
    until(lambda: stage.explain(session)["status"] == "limited", lambda: stage.explain(session))
    for _ in range(3):
        overseen.once(of="resumed", stuck=settings)
        until(lambda: stage.explain(session)["status"] == "limited", lambda: stage.explain(session))
    [waits] = overseen.inbox(session)
    assert (waits["kind"], "resumed 2 times within a day" in waits["reason"]) == ("limit", True)
    assert stage.heard(session) == ["Go on."] * 2


def test_before_the_reset_nothing_happens(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("patient", {"limit": {"text": "Usage limit reached|4000000000"}})
    until(lambda: stage.explain(session)["status"] == "limited", lambda: stage.explain(session))
    overseen.once(of="patient", stuck={"onLimit": "resume"})
    assert overseen.done(session) == []


def test_a_failed_turn_is_the_humans(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("failing", {"api_error": {"status": 500, "text": "internal"}})
    until(lambda: stage.explain(session)["status"] == "failed", lambda: stage.explain(session))
    overseen.once(of="failing")
    [waits] = overseen.inbox(session)
    assert (waits["kind"], "internal" in waits["text"]) == ("error", True)
    assert stage.prompts(session) == []


def test_a_blocked_task_is_told_after_a_minute(stage: Stage, overseen: Overseen) -> None:
    task = stage.maestro.json("task", "create", "Ask the bank")["id"]
    session = overseen.spawn_for(task, "blocked", {"say": "I need a key."}, {"work": 600})
    stage.maestro.json("task", "report", "blocked", task, "There is no key")
    overseen.once(of="blocked")
    assert overseen.inbox(session) == []
    [ledger] = stage.place.glob("m/*.db")
    with closing(sqlite3.connect(ledger)) as database, database:
        database.execute("UPDATE tasks SET updated_at = updated_at - 60000 WHERE id = ?", (task,))
    overseen.once(of="blocked")
    [waits] = overseen.inbox(session)
    assert (waits["kind"], waits["text"]) == ("blocked", "There is no key")
    stage.maestro.json("task", "update", task, "--status", "in_progress")
    overseen.once(of="blocked")
    assert overseen.inbox(session) == []


# Budgets.

SPENDS = ({"usage": {"input_tokens": 600, "output_tokens": 100}}, {"say": "That was dear."})
RULE = {"pattern": "which colour.*", "answer": "Choose 2"}


def test_below_the_cap_it_is_decided(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("thrifty", *SPENDS, asks("Which colour?", "Red", "Blue"))
    until(lambda: stage.explain(session)["question"])
    overseen.once(of="thrifty", rules=[RULE], budget={"sessionTokens": 10_000, "sessionCostUsd": 100})
    stage.until_said(session, "That was dear.", "It is Blue.")


def test_a_question_at_the_cap_is_escalated(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("capped", *SPENDS, asks("Which colour?", "Red", "Blue"))
    until(lambda: stage.explain(session)["question"])
    overseen.once(of="capped", rules=[RULE], budget={"sessionTokens": 700})
    waits = {one["kind"]: one for one in overseen.inbox(session)}
    assert set(waits) == {"budget", "question"}
    for one in waits.values():
        assert "The session's budget is used up" in one["reason"]
    assert stage.prompts(session) == []
    overseen.once(of="capped", rules=[RULE], budget={"sessionTokens": 700})
    assert len(overseen.inbox(session, closed=True)) == 2, "told once"


def test_a_cap_also_holds_for_a_worker_that_was_seen_at_rest(stage: Stage, overseen: Overseen) -> None:
    session = stage.spawn("restful", *SPENDS)
    until_turn_is_over(stage, session)
    overseen.age(session, minutes=1)
    for _ in range(2):
        overseen.once(of="restful")
    assert overseen.inbox(session) == []
    overseen.once(of="restful", budget={"sessionTokens": 700})
    [waits] = overseen.inbox(session)
    assert waits["kind"] == "budget"


def test_a_fleets_cap_counts_all_of_it_and_is_told_once() -> None:
    with staged() as stage:
        overseen = Overseen(stage)
        one, other = stage.spawn("one", *SPENDS), stage.spawn("other", *SPENDS)
        for session in (one, other):
            stage.until_said(session, "That was dear.")
        total = 1400
        overseen.once(budget={"fleetTokens": total + 1})
        assert overseen.inbox(one) == overseen.inbox(other) == []
        assert stage.maestro("session", "stop", one).returncode == 0
        overseen.once(budget={"fleetTokens": total})
        overseen.once(budget={"fleetTokens": total})
        [waits] = stage.maestro.json("inbox")
        assert waits["kind"] == "budget"
        assert "The fleet's budget is used up: 1,400 of 1,400 tokens." in waits["reason"]
