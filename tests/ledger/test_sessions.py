from __future__ import annotations

from typing import Any

import pytest
from tests.ledger.support import Board

from maestro.errors import Conflict, IllegalTransition, InvalidInput, Refused
from maestro.ledger import sessions
from maestro.ledger.facts import NewSession, Place, Report, Session, SessionChange, Worktree
from maestro.ledger.journal import Change
from maestro.ledger.projects import remove_project
from maestro.ledger.roles import HUMAN, Actor, require, stricter
from maestro.ledger.tasks import list_tasks


def start(board: Board, actor: Actor = HUMAN, **options: Any) -> str:
    request = NewSession.model_validate({"agent": "scripted", "project_id": board.project_id, **options})
    return board.journal.write(actor, lambda c: sessions.create_session(c, request))


def session(board: Board, session_id: str) -> Session:
    return board.journal.read(lambda c: sessions.get_session(c, session_id))


def change(board: Board, session_id: str, actor: Actor = HUMAN, birth: Any = None, **options: Any) -> Session:
    request = SessionChange.model_validate(options)
    board.journal.write(actor, lambda c: sessions.change_session(c, session_id, request, birth))
    return session(board, session_id)


def report(board: Board, session_id: str, kind: str, actor: Actor = HUMAN) -> Session:
    told = Report.model_validate({"kind": kind, "message": "as it is"})
    board.journal.write(actor, lambda c: sessions.report_session(c, session_id, told))
    return session(board, session_id)


def mint(board: Board, session_id: str, token: str) -> None:
    def work(change: Change) -> str:
        sessions.mint_token(change, session_id, token)
        return session_id

    board.journal.write(HUMAN, work)


def holder(board: Board, token: str) -> Actor | None:
    return board.journal.read(lambda c: sessions.actor_of_token(c, token))


def test_a_session_takes_its_name_and_project_from_its_task(board: Board) -> None:
    task_id = board.create("Fix login")
    made = session(board, start(board, task_ids=(task_id,), project_id=None))
    assert (made.name, made.project_id, made.status) == ("Fix login", board.project_id, "spawning")
    assert made.cwd == board.directory
    assert board.task(task_id).session_ids == (made.id,)


def test_reports_move_a_session_until_it_ends(board: Board) -> None:
    worker = start(board)
    assert report(board, worker, "progress").status == "working"
    assert report(board, worker, "blocked").status == "needs_input"
    ended = report(board, worker, "complete")
    assert ended.status == "completed"
    assert ended.ended_at
    with pytest.raises(IllegalTransition, match="completed cannot become working") as caught:
        report(board, worker, "progress")
    assert "has ended" in caught.value.hint
    assert change(board, worker, status="spawning").ended_at is None


def test_a_token_dies_with_its_session(board: Board) -> None:
    worker = start(board)
    mint(board, worker, "secret-1")
    assert holder(board, "secret-1") == Actor("worker", worker)
    assert holder(board, "secret-2") is None
    mint(board, worker, "secret-2")
    assert holder(board, "secret-1") is None
    report(board, worker, "error")
    assert holder(board, "secret-2") is None


def test_a_token_is_stored_as_a_hash_and_never_in_the_log(board: Board) -> None:
    worker = start(board)
    mint(board, worker, "very-secret")
    report(board, worker, "complete")
    dump = repr(board.journal.events_since(None)[0]) + repr(
        board.journal.read(lambda c: c.exec_driver_sql("SELECT * FROM sessions").all())
    )
    assert "very-secret" not in dump
    assert sessions.hash_token("very-secret") not in repr(board.journal.events_since(None)[0])


def test_active_and_parent_filters(board: Board) -> None:
    parent = start(board, role="coordinator")
    child, ended = start(board, parent_session_id=parent), start(board, parent_session_id=parent)
    report(board, ended, "complete")
    found = board.journal.read(lambda c: sessions.list_sessions(c, parent_session_id=parent, active=True))
    assert [s.id for s in found] == [child]
    assert len(board.journal.read(sessions.list_sessions)) == 3


def test_a_coordinators_tasks_are_those_it_made_and_those_of_its_children(board: Board) -> None:
    coordinator = start(board, role="coordinator")
    actor = Actor("coordinator", coordinator)
    made = board.create("made", actor=actor)
    worked_on = board.create("worked on")
    board.create("foreign")
    start(board, parent_session_id=coordinator, task_ids=(worked_on,))
    found = board.journal.read(lambda c: list_tasks(c, parent_session_id=coordinator))
    assert {t.id for t in found} == {made, worked_on}


def test_roles_reach_only_what_is_their_own(board: Board) -> None:
    mine, other = board.create("mine"), board.create("other")
    coordinator = start(board, role="coordinator")
    worker = start(board, parent_session_id=coordinator, task_ids=(mine,))
    stranger = start(board)
    as_worker, as_coordinator = Actor("worker", worker), Actor("coordinator", coordinator)
    board.report(mine, "progress", actor=as_worker)
    board.report(mine, "progress", actor=as_coordinator)
    report(board, worker, "progress", actor=as_worker)
    change(board, worker, actor=as_coordinator, name="renamed")
    start(board, actor=as_coordinator)
    for refused in (
        lambda: board.report(other, "progress", actor=as_worker),
        lambda: board.report(other, "progress", actor=as_coordinator),
        lambda: board.update(mine, title="x", actor=as_worker),
        lambda: board.create("new", actor=as_worker),
        lambda: start(board, actor=as_worker),
        lambda: start(board, actor=as_coordinator, parent_session_id=stranger),
        lambda: report(board, stranger, "progress", actor=as_worker),
        lambda: report(board, worker, "progress", actor=as_coordinator),
        lambda: change(board, stranger, actor=as_coordinator, name="x"),
        lambda: board.journal.write(as_coordinator, lambda c: remove_project(c, "project")),
    ):
        with pytest.raises(Refused) as caught:
            refused()
        assert "human" in caught.value.hint


def test_the_stricter_role_wins() -> None:
    worker, coordinator = Actor("worker", "w"), Actor("coordinator", "c")
    assert stricter(None, None) == HUMAN
    assert stricter(worker, None) == worker
    assert stricter(coordinator, worker) == worker == stricter(worker, coordinator)
    assert stricter(Actor("worker", "token"), Actor("worker", "process")) == Actor("worker", "process")


def test_refusals_name_the_roles_that_may() -> None:
    with pytest.raises(Refused) as caught:
        require(Actor("worker", "w"), "task.create")
    assert caught.value.message == "A worker may not create tasks."
    assert caught.value.hint == "A human or a coordinator may."


def test_a_sessions_process_is_found_among_the_callers_ancestors(board: Board) -> None:
    worker = start(board)
    change(board, worker, pid=4242, birth=(77, "boot"))
    live = board.journal.read(lambda c: sessions.live_processes(c, "host_TEST"))
    assert sessions.nearest_session([(9, 9), (4242, 77), (1, 1)], live) == Actor("worker", worker)
    assert sessions.nearest_session([(4242, 78)], live) is None
    report(board, worker, "complete")
    assert board.journal.read(lambda c: sessions.live_processes(c, "host_TEST")) == {}


def test_a_project_with_live_sessions_stays(board: Board) -> None:
    start(board)
    with pytest.raises(Conflict, match="1 live session"):
        board.journal.write(HUMAN, lambda c: remove_project(c, "project"))


def test_a_sessions_tasks_are_in_its_project(board: Board) -> None:
    with pytest.raises(InvalidInput, match="Provide projectId or directory"):
        start(board, project_id=None)


def test_a_session_remembers_its_pane_and_its_worktree(board: Board) -> None:
    worker = start(board, mode="plan")
    place = Place(fleet="f", label="Main", pane_id="%3", pane_pid=77, server_pid=5, server_started=6)
    board.journal.write(HUMAN, lambda c: sessions.place_session(c, worker, place, (9, "boot")))
    own = Worktree(project="/p", path="/w", cwd="/w/src", branch="maestro/x")
    board.journal.write(HUMAN, lambda c: sessions.give_worktree(c, worker, own))
    found = session(board, worker)
    assert (found.place, found.worktree, found.cwd, found.pid, found.mode) == (
        place,
        own,
        "/w/src",
        77,
        "plan",
    )
    live = board.journal.read(lambda c: sessions.live_processes(c, "host_TEST"))
    assert live == {(77, 9): Actor("worker", worker)}
    board.journal.write(HUMAN, lambda c: sessions.give_worktree(c, worker, None))
    assert session(board, worker).worktree is None


def test_those_that_live_or_have_just_ended(board: Board) -> None:
    early, lives, late = start(board), start(board), start(board)
    ended_at = report(board, early, "complete").ended_at
    report(board, late, "error")
    assert ended_at is not None
    found = board.journal.read(lambda c: sessions.list_sessions(c, ended_after=ended_at))
    assert [one.id for one in found] == [lives, late]
