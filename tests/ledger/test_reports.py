"""What sessions said of their work, and whether it still stands; tasks that follow their sessions."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ledger.support import Board
from tests.ledger.test_sessions import change, report, session, start

from maestro.errors import Conflict, InvalidInput, Refused
from maestro.ledger import reports, sessions, sight, tasks
from maestro.ledger.facts import Event, NewProject, Place
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN, Actor

PLACE = Place(fleet="f", label="Main", pane_id="%3", pane_pid=77, server_pid=5, server_started=6)


def in_pane(board: Board, **options: Any) -> str:
    made = start(board, mode="default", **options)
    board.journal.write(HUMAN, lambda c: sessions.place_session(c, made, PLACE, (9, "boot")))
    change(board, made, status="working")
    return made


def assign(board: Board, session_id: str, task_id: str, actor: Actor = HUMAN) -> list[str]:
    taken: list[str] = []

    def work(c: Any) -> str:
        taken.extend(sessions.assign_task(c, session_id, task_id)[1])
        return task_id

    board.journal.write(actor, work)
    return taken


def event(kind: str, at: int, **data: Any) -> Event:
    return Event(
        host="h",
        seq=at,
        at=at,
        kind=kind,
        project_id=None,
        subject_id="s",
        session_id=None,
        role="worker",
        data=data,
    )


def said(at: int, kind: str = "complete") -> Event:
    return event("session.reported", at, report=kind, message="as it is")


@pytest.mark.parametrize(
    ("events", "stands"),
    [
        ([], None),
        ([said(5)], "complete"),
        ([said(5), said(6, "blocked")], "blocked"),
        ([said(5), event("agent.prompted", 9, hook={"toldAt": 8})], None),
        ([said(5), event("agent.prompted", 9, hook={"toldAt": 4})], "complete"),
        ([said(5), event("prompt.typing", 6, prompt={"kind": "prompt"})], None),
        ([said(5), event("prompt.typing", 6, prompt={"kind": "answer"})], "complete"),
        ([said(5), event("session.assigned", 6)], None),
        ([said(5), event("session.assigned", 6), said(7)], "complete"),
    ],
)
def test_a_report_stands_until_something_begins(events: list[Event], stands: str | None) -> None:
    found = reports.standing(events)
    assert (found.kind if found else None) == stands


def test_one_in_a_pane_lives_on_when_it_says_that_it_is_done(board: Board) -> None:
    task_id = board.create("a")
    worker = in_pane(board, task_ids=(task_id,))
    assert board.task(task_id).status == "in_progress", "its session is at work"
    found = report(board, worker, "complete", actor=Actor("worker", worker))
    assert (found.status, found.ended_at) == ("idle", None)
    assert board.task(task_id).status == "completed"
    standing = board.journal.read(lambda c: reports.standing_report(c, worker))
    assert standing is not None
    assert (standing.kind, standing.message) == ("complete", "as it is")
    assert report(board, worker, "error", actor=Actor("worker", worker)).ended_at is None
    assert report(board, worker, "complete").status == "completed", "a human closes it"


def test_a_process_of_ours_stays_its_sessions_when_that_was_closed(board: Board) -> None:
    worker = in_pane(board)
    report(board, worker, "complete")
    live = board.journal.read(lambda c: sessions.live_processes(c, "host_TEST"))
    assert live == {(77, 9): Actor("worker", worker)}
    board.journal.write(HUMAN, lambda c: sessions.leave_place(c, worker))
    assert board.journal.read(lambda c: sessions.live_processes(c, "host_TEST")) == {}


def test_reports_move_what_the_session_is_at(board: Board) -> None:
    one, two = board.create("one"), board.create("two")
    worker = start(board, task_ids=(one, two))
    report(board, worker, "progress")
    assert (board.task(one).status, board.task(two).status) == ("in_progress", "pending")
    report(board, worker, "blocked")
    assert (board.task(one).status, board.task(one).blocked_reason) == ("blocked", "as it is")
    assert board.task(two).status == "pending"
    report(board, worker, "complete")
    assert {board.task(one).status, board.task(two).status} == {"completed"}


def test_what_cannot_follow_is_told_and_left(board: Board) -> None:
    whole = board.create("whole")
    board.create("part", parent_id=whole)
    worker = start(board, task_ids=(whole,))
    report(board, worker, "complete")
    events = board.journal.events_since(None)[0]
    told = [one.data for one in events if one.kind == "session.reported"]
    assert told[0]["left"] == ["“whole” has open subtasks: “part” (pending)."]
    assert board.task(whole).status == "blocked", "its session ended, and it is not done"


@pytest.mark.parametrize(("how", "status"), [("stopped", "blocked"), ("error", "error")])
def test_what_an_ended_session_was_at_says_so(board: Board, how: Any, status: str) -> None:
    task_id, other = board.create("a"), board.create("b")
    worker = in_pane(board, task_ids=(task_id,))
    board.report(other, "progress")
    board.journal.write(HUMAN, lambda c: sessions.end_session(c, worker, how, "It fell over."))
    found = board.task(task_id)
    assert (found.status, found.last_report) == (status, f"Its session “a” has ended ({how}): It fell over.")
    assert board.task(other).status == "in_progress"


def test_a_task_that_another_session_is_at_goes_on(board: Board) -> None:
    task_id = board.create("a")
    one, two = in_pane(board, task_ids=(task_id,)), in_pane(board, task_ids=(task_id,))
    board.journal.write(HUMAN, lambda c: sessions.end_session(c, one, "stopped", "x"))
    assert board.task(task_id).status == "in_progress"
    board.journal.write(HUMAN, lambda c: sessions.end_session(c, two, "stopped", "x"))
    assert board.task(task_id).status == "blocked"


def test_a_task_is_given_and_taken(board: Board) -> None:
    task_id = board.create("a")
    one, two = in_pane(board, task_ids=(task_id,), name="one"), in_pane(board, name="two")
    assert assign(board, two, task_id) == [one]
    found = board.task(task_id)
    assert (found.session_ids, found.assignee, found.status) == ((two,), "two", "in_progress")
    assert session(board, one).task_ids == ()
    assert assign(board, two, task_id) == []

    def back(c: Any) -> str:
        tasks.take_task(c, task_id, two)
        return task_id

    board.journal.write(HUMAN, back)
    found = board.task(task_id)
    assert (found.session_ids, found.assignee, found.status) == ((), None, "pending")


def test_whose_task_it_may_become(board: Board, place: Any) -> None:
    boss = start(board, role="coordinator")
    actor = Actor("coordinator", boss)
    own, other = in_pane(board, parent_session_id=boss), in_pane(board)
    made, foreign = board.create("made", actor=actor), board.create("foreign")
    assert assign(board, own, made, actor) == []
    with pytest.raises(Refused):
        assign(board, own, foreign, actor)
    assign(board, other, made)
    with pytest.raises(Refused, match="prompt this session"):
        assign(board, own, made, actor)
    assert board.task(made).session_ids == (other,), "nothing is taken from a stranger"
    board.report(foreign, "complete")
    with pytest.raises(Conflict, match="is completed"):
        assign(board, own, foreign)
    (place / "other").mkdir()
    board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=str(place / "other"))))
    elsewhere = start(board, project_id=None, directory=str(place / "other"))
    with pytest.raises(InvalidInput, match="in its own project"):
        assign(board, elsewhere, board.create("here"))


def test_a_coordinator_has_what_is_below_its_own_task(board: Board) -> None:
    whole = board.create("whole")
    part = board.create("part", parent_id=whole)
    boss = start(board, role="coordinator", task_ids=(whole,))
    actor = Actor("coordinator", boss)
    assert board.update(part, actor=actor, priority="high").priority == "high"
    child = start(board, actor=actor, task_ids=(part,))
    assert session(board, child).parent_session_id == boss
    with pytest.raises(Refused):
        start(board, actor=actor, task_ids=(board.create("foreign"),))


def test_a_fleets_coordinator_becomes_a_parent_once(board: Board) -> None:
    boss, other, worker = start(board, role="coordinator"), start(board, role="coordinator"), start(board)
    board.journal.write(HUMAN, lambda c: sessions.give_parent(c, worker, boss))
    board.journal.write(HUMAN, lambda c: sessions.give_parent(c, worker, other))
    assert session(board, worker).parent_session_id == boss
    board.journal.write(HUMAN, lambda c: sessions.give_parent(c, boss, worker))
    assert session(board, boss).parent_session_id is None, "nobody is above themselves"
    assert board.journal.read(lambda c: sight.is_below(c, worker, boss))
