"""The demo's story: a board, three scripted workers, a coordinator that keeps them going, and a person. A second chapter
has an agent as its coordinator.

`maestro coordinate` answers by the rules of the demo's own policy what is harmless, leaves to the person what is not,
and helps a worker that goes in circles. The person looks into the inbox and answers with `maestro answer`. Everything
happens in a temporary folder with a daemon and a tmux server of its own: nothing of the user's is read or written, and
nothing is left behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final, NamedTuple

from maestro.errors import TimedOut
from maestro.server.client import Daemon
from maestro.testing.demo.audience import Audience, Scene
from maestro.testing.demo.hands import Coordinator, Person
from maestro.testing.demo.lead import Chapter, play_chapter
from maestro.testing.demo.stage import Board, Troupe, fill_board, staged

# It takes less than a minute; on a machine that is busy with other things, some of them.
_SECONDS: Final = 300.0


class Outcome(NamedTuple):
    tasks_completed: int
    tasks_total: int
    events: int
    seconds: float
    digest_tokens: int
    raw_tokens: int
    questions_decided: int
    answered_by_rules: int
    escalated: int
    answered_by_you: int
    workers_helped: int
    autonomy_rate: float | None
    proposals_compared: int
    proposals_agreed: int
    decisions_recorded: int
    chain_whole: bool
    debrief: str
    # Of the second chapter, by the log.
    agent_workers_started: int
    agent_prompts_arrived: int
    agent_reports_checked: int
    agent_reports_disputed: int
    agent_context_turns: int
    agent_context_tokens: int
    agent_report: str
    agent_seconds: float


def play(show: Callable[[Scene], None], env: Mapping[str, str]) -> Outcome:
    """Play the story; `show` gets a scene at the start and whenever there is news."""
    began = time.monotonic()
    with ExitStack() as stack:
        daemon, place = stack.enter_context(staged(env))
        project = daemon.call("POST", "/api/projects", {"directory": place, "name": "demo"})
        board = fill_board(daemon, project["id"])
        troupe = Troupe(daemon, place, board.ids)
        stack.callback(troupe.dismiss)
        person = Person(daemon.env, place)
        told = Audience(daemon, show)
        told.speakers.append(person)
        told.look()
        troupe.start_free(())
        coordinator = Coordinator(daemon.env, place)
        stack.callback(coordinator.end)
        told.speakers.append(coordinator)
        _until_the_end(told, troupe, person, coordinator, began + _SECONDS)
        _close(daemon, board, person, told)
        chapter = play_chapter(daemon, person, told, began + _SECONDS)
        with open(coordinator.debrief_path, encoding="utf-8") as file:
            debrief = file.read()
        return _outcome(daemon, project["id"], troupe, told.seen, debrief, chapter, began)


def _until_the_end(
    told: Audience, troupe: Troupe, person: Person, coordinator: Coordinator, deadline: float
) -> None:
    """Until every worker says that it is done, and the coordinator has seen it and written its debrief."""
    completed: set[str] = set()
    done: set[str] = set()
    is_over = False
    while troupe.waiting or done != troupe.sessions or not is_over:
        is_over = coordinator.is_over()
        for event in told.look():
            changes = event["data"].get("changes", {})
            is_report = event["kind"] == "session.reported" and event["data"]["report"] == "complete"
            if (is_report or changes.get("endedAt")) and event["subjectId"] in troupe.sessions:
                done.add(event["subjectId"])
            if changes.get("status") == "completed":
                completed.add(event["subjectId"])
            if event["kind"] == "escalation.opened" and event["data"]["escalation"]["kind"] == "question":
                person.notice(event["data"]["escalation"]["id"])
        person.act()
        troupe.start_free(completed)
        if time.monotonic() > deadline:
            left = len(troupe.waiting) + len(troupe.sessions - done)
            waits_for = f"{left} workers" if left else "its coordinator"
            raise TimedOut(
                f"The demo took too long: it still waits for {waits_for}.",
                hint="Is the machine very busy? Try again.",
            )


def _close(daemon: Daemon, board: Board, person: Person, told: Audience) -> None:
    report = {"kind": "complete", "message": "All parts are done"}
    daemon.call("POST", f"/api/tasks/{board.root}/report", report)
    person.run("coordinate", "audit")
    told.look()


def _outcome(
    daemon: Daemon, project_id: str, troupe: Troupe, events: int, debrief: str, chapter: Chapter, began: float
) -> Outcome:
    tasks = daemon.call("GET", "/api/tasks", query={"projectId": project_id})
    ids = ",".join(sorted(troupe.sessions))
    savings = [one["saving"] for one in daemon.call("GET", "/api/sessions/stats", query={"sessionIds": ids})]
    stats = daemon.call("GET", "/api/decisions/stats")
    audit = daemon.call("GET", "/api/decisions/audit")
    return Outcome(
        tasks_completed=sum(task["status"] == "completed" for task in tasks),
        tasks_total=len(tasks),
        events=events,
        seconds=time.monotonic() - began,
        digest_tokens=sum(saving["digestTokens"] for saving in savings),
        raw_tokens=sum(saving["rawTokens"] for saving in savings),
        questions_decided=stats["decided"],
        answered_by_rules=stats["answered"],
        escalated=stats["escalated"],
        answered_by_you=stats["humanAnswers"],
        workers_helped=stats["helped"],
        autonomy_rate=stats["autonomyRate"],
        proposals_compared=stats["agreement"]["compared"],
        proposals_agreed=stats["agreement"]["agreed"],
        decisions_recorded=audit["links"],
        chain_whole=audit["brokenAt"] is None,
        debrief=debrief,
        **{f"agent_{name}": value for name, value in chapter._asdict().items()},
    )
