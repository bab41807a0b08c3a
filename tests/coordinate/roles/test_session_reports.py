"""Reports, evidence, and the next task, on a real daemon with agents in real panes."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

from tests.coordinate.roles.panes import events_of, inside, notify_of, shown_task, spawn, task
from tests.fleet.typing.stage import Stage
from tests.patience import until

from maestro.errors import Refused


def reports(kind: str, words: str) -> dict[str, Any]:
    return {"run": ["maestro", "session", "report", kind, words]}


def until_turn_is_over(stage: Stage, session_id: str) -> None:
    until(lambda: events_of(stage, session_id, "agent.turn_ended"), lambda: stage.screen(session_id))
    until(lambda: stage.explain(session_id)["status"] == "finished", lambda: stage.explain(session_id))


def standing(stage: Stage, session_id: str) -> dict[str, Any]:
    found = stage.show(session_id)["report"]
    assert found is not None
    return dict(found)


def stands(report: dict[str, Any]) -> dict[str, str]:
    return {point["source"]: point["stand"] for point in report["evidence"]["points"]}


def test_done_is_done_and_ready_for_the_next(stage: Stage) -> None:
    first, second = task(stage, "First"), task(stage, "Second", description="Mind the gap")
    answers = [
        {"run": ["maestro", "task", "report", "complete", second, "8 tests pass"]},
        {"say": "Both done."},
    ]
    session = spawn(
        stage,
        "Ann",
        {"say": "I begin."},
        reports("progress", "half way"),
        {"say": "All 12 tests pass."},
        reports("complete", "Fixed; 12 tests pass"),
        {"say": "It is finished."},
        taskIds=[first],
        on_prompt=answers,
    )["id"]
    until(lambda: shown_task(stage, first)["status"] == "completed", lambda: stage.screen(session))
    until_turn_is_over(stage, session)
    found = stage.show(session)
    assert (found["status"], found["endedAt"], found["lastReport"]) == ("idle", None, "Fixed; 12 tests pass")
    until(lambda: notify_of(stage, session) == "done")
    said = standing(stage, session)
    assert (said["kind"], said["evidence"]["agrees"]) == ("complete", True), said
    assert stands(said)["checks"] == "agrees"
    assert shown_task(stage, first)["lastReport"] == "Fixed; 12 tests pass"
    kinds = [
        (one["data"]["report"], one["data"].get("evidence") is not None)
        for one in events_of(stage, session, "session.reported")
    ]
    assert kinds == [("progress", False), ("complete", True)]

    told = stage.maestro.json("session", "assign", "Ann", "Second", "--message", "Before noon")
    assert told["prompt"]["state"] == "submitted"
    assert (told["task"]["status"], told["task"]["assignee"]) == ("in_progress", "Ann")
    assert told["takenFrom"] == []
    [heard] = until(lambda: stage.heard(session))
    assert len(events_of(stage, session, "session.assigned")) == 1
    assert heard.startswith("Your next task:")
    for part in (
        f'<task id="{second}">',
        "<title>Second</title>",
        "Mind the gap",
        "Before noon",
        "maestro task report",
    ):
        assert part in heard
    until(lambda: shown_task(stage, second)["status"] == "completed", lambda: stage.screen(session))
    assert shown_task(stage, second)["sessionIds"] == [session]
    until(lambda: notify_of(stage, session) == "done", lambda: stage.screen(session))
    said = standing(stage, session)
    assert (said["kind"], said["message"]) == ("complete", "8 tests pass"), "it has nothing left to do"


def test_what_speaks_against_it_is_shown_and_blocks_nothing(stage: Stage) -> None:
    folder = stage.place / "repository"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run([*git, *words], check=True, env=stage.maestro.env)
    stage.maestro.json("project", "add", str(folder))
    own = stage.maestro.daemon.call("POST", "/api/tasks", {"title": "Mend", "directory": str(folder)})["id"]
    out = stage.place / "answer.json"
    tells = f"maestro session report complete 'It is done' --json > {out}.new; mv {out}.new {out}"
    session = spawn(
        stage,
        "Bob",
        {"say": "I changed nothing. 2 tests still fail."},
        {"run": ["sh", "-c", tells]},
        directory=str(folder),
        cwd=str(folder),
        worktree=True,
        taskIds=[own],
    )["id"]
    until(out.exists, lambda: stage.screen(session))
    assert shown_task(stage, own)["status"] == "completed"
    [event] = events_of(stage, session, "session.reported")
    points = {one["source"]: one for one in event["data"]["evidence"]["points"]}
    assert event["data"]["evidence"]["agrees"] is False
    assert points["changes"]["says"] == "Nothing is changed in its worktree."
    assert "2 tests still fail" in points["last text"]["says"]
    shown = stage.maestro("session", "show", "Bob").stdout
    assert "against it" in shown
    assert "2 tests still fail" in shown


def test_a_task_is_taken_from_another_who_is_told(stage: Stage) -> None:
    own = task(stage, "Wanted")
    holder = spawn(stage, "Cid", {"say": "I look at it."}, taskIds=[own], on_prompt=[{"say": "I stop."}])[
        "id"
    ]
    taker = spawn(stage, "Dan", {"say": "I have time."}, on_prompt=[{"say": "I take it."}])["id"]
    until(lambda: shown_task(stage, own)["status"] == "in_progress")
    for session in (holder, taker):
        until_turn_is_over(stage, session)
    told = stage.maestro.json("session", "assign", "Dan", own)
    assert (told["takenFrom"], told["task"]["sessionIds"]) == ([holder], [taker])
    [heard] = until(lambda: stage.heard(holder), lambda: stage.screen(holder))
    assert f"Task {own} (“Wanted”) is with “Dan” now." in heard
    refused = stage.maestro("task", "report", "complete", own, "mine", env=inside(stage, holder))
    assert refused.returncode == Refused.exit_code
    assert stage.maestro("task", "report", "progress", own, "on it", env=inside(stage, taker)).returncode == 0


def test_what_cannot_be_assigned_changes_nothing(stage: Stage) -> None:
    before, after, over = task(stage, "Before"), "", task(stage, "Over")
    after = task(stage, "After", dependsOn=[before])
    stage.maestro.json("task", "report", "complete", over, "done")
    session = spawn(stage, "Eve", {"say": "I have time."})["id"]
    until_turn_is_over(stage, session)
    for wanted, words in (
        (after, "waits for “Before”"),
        (over, "is completed"),
        ("task_nope", "There is no task"),
    ):
        done = stage.maestro("session", "assign", "Eve", wanted)
        assert (done.returncode in {3, 4}, words in done.stderr) == (True, True), done.stderr
    assert stage.prompts(session) == []
    assert stage.show(session)["taskIds"] == []
    assert shown_task(stage, after)["status"] == "pending"


def test_a_coordinator_assigns_its_own_tasks_to_its_own_workers(stage: Stage) -> None:
    boss = spawn(stage, "Boss", {"say": "Ready."}, role="coordinator")["id"]
    worker = spawn(stage, "Fay", {"say": "Ready."}, parentSessionId=boss, on_prompt=[{"say": "Yes."}])["id"]
    until_turn_is_over(stage, worker)
    foreign, env = task(stage, "Foreign"), inside(stage, boss)
    refused = stage.maestro("session", "assign", "Fay", foreign, env=env)
    assert (refused.returncode, "change this task" in refused.stderr) == (Refused.exit_code, True)
    assert stage.prompts(worker) == []
    made = stage.maestro.json("task", "create", "Own", env=env)["id"]
    assert stage.maestro.json("session", "assign", "Fay", made, env=env)["prompt"]["state"] == "submitted"
    [heard] = until(lambda: stage.heard(worker))
    assert heard.startswith(f"[From: Boss ({boss})] Your next task:")


def test_a_session_that_ends_without_a_word_leaves_no_task_in_progress(stage: Stage) -> None:
    stopped, crashed = task(stage, "Stopped"), task(stage, "Crashed")
    one = spawn(stage, "Gus", {"say": "I work."}, {"work": 600}, taskIds=[stopped])["id"]
    two = spawn(stage, "Hal", {"say": "I work."}, {"work": 600}, taskIds=[crashed])["id"]
    until(lambda: {shown_task(stage, own)["status"] for own in (stopped, crashed)} == {"in_progress"})
    stage.maestro.json("session", "stop", one)
    found = shown_task(stage, stopped)
    assert (found["status"], found["blockedReason"]) == (
        "blocked",
        "Its session “Gus” has ended (stopped): Stopped by a human.",
    )
    os.kill(stage.pid(two), signal.SIGKILL)
    until(lambda: shown_task(stage, crashed)["status"] == "error", lambda: stage.show(two))
    assert "Its session “Hal” has ended (error)" in shown_task(stage, crashed)["lastReport"]


def test_a_failure_is_told_by_its_pane_and_the_session_lives_on(stage: Stage) -> None:
    own = task(stage, "Impossible")
    session = spawn(stage, "Ida", {"say": "I try."}, reports("error", "There is no compiler"), taskIds=[own])[
        "id"
    ]
    until(lambda: shown_task(stage, own)["status"] == "error", lambda: stage.screen(session))
    until_turn_is_over(stage, session)
    until(lambda: notify_of(stage, session) == "error")
    found = stage.show(session)
    assert (found["endedAt"], found["report"]["kind"]) == (None, "error")


def test_a_task_with_open_parts_stays_open_and_that_is_said(stage: Stage) -> None:
    whole = task(stage, "Whole")
    task(stage, "Part", parentId=whole)
    session = spawn(stage, "Jon", {"say": "I am quick."}, reports("complete", "Done"), taskIds=[whole])["id"]
    until(lambda: events_of(stage, session, "session.reported"), lambda: stage.screen(session))
    assert shown_task(stage, whole)["status"] == "in_progress"
    said = standing(stage, session)
    assert said["left"] == ["“Whole” has open subtasks: “Part” (pending)."]
    assert (said["evidence"]["agrees"], stands(said)["tasks"]) == (False, "disagrees")
