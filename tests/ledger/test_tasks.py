from __future__ import annotations

from pathlib import Path

import pytest
from tests.ledger.support import Board

from maestro.errors import Conflict, DependencyCycle, IllegalTransition, InvalidInput, NotFound
from maestro.ledger.facts import NewProject, NewTask
from maestro.ledger.projects import add_project, all_projects, project_of_directory, remove_project
from maestro.ledger.roles import HUMAN
from maestro.ledger.tasks import children, create_task, list_tasks


def test_a_report_moves_the_task_and_says_why(board: Board) -> None:
    task_id = board.create("Fix login", assignee="Frontend Dev")
    assert board.report(task_id, "progress", "reading").status == "in_progress"
    blocked = board.report(task_id, "blocked", "no serde")
    assert (blocked.status, blocked.blocked_reason) == ("blocked", "no serde")
    done = board.report(task_id, "complete", "fixed")
    assert (done.status, done.blocked_reason, done.last_report) == ("completed", None, "fixed")
    assert done.ended_at
    assert done.started_at


def test_completing_a_pending_task_tells_both_steps(board: Board) -> None:
    task_id = board.create("quick")
    board.report(task_id, "complete", "done")
    steps = [e.data["changes"]["status"] for e in board.journal.events_since("2")[0]]
    assert steps == ["in_progress", "completed"]


def test_a_dependency_holds_a_task_back(board: Board) -> None:
    first = board.create("first")
    second = board.create("second", depends_on=(first,))
    with pytest.raises(Conflict, match="waits for “first”"):
        board.report(second, "progress")
    board.report(first, "complete")
    assert board.report(second, "progress").status == "in_progress"


def test_dropping_a_dependency_frees_the_task(board: Board) -> None:
    first = board.create("first")
    second = board.create("second", depends_on=(first,))
    assert board.update(second, remove_depends_on=(first,)).depends_on == ()
    assert board.report(second, "progress").status == "in_progress"


def test_cycles_are_refused_and_nothing_changes(board: Board) -> None:
    a = board.create("a")
    b = board.create("b", depends_on=(a,))
    before = board.journal.cursor()
    with pytest.raises(DependencyCycle):
        board.update(a, add_depends_on=(b,))
    with pytest.raises(DependencyCycle):
        board.update(a, parent_id=b, add_depends_on=(b,))
    assert board.journal.cursor() == before
    assert board.task(a).depends_on == ()


def test_progress_and_children_of_a_tree(board: Board) -> None:
    root = board.create("root")
    left, right = board.create("left", parent_id=root), board.create("right", parent_id=root)
    leaf = board.create("leaf", parent_id=left)
    board.report(leaf, "complete")
    assert board.task(root).progress.model_dump() == {"completed": 1, "total": 2}
    direct = board.journal.read(lambda c: children(c, root, recursive=False))
    assert [t.title for t in direct] == ["left", "right"]
    below = board.journal.read(lambda c: children(c, root, recursive=True))
    assert [t.title for t in below] == ["left", "leaf", "right"]
    assert right


def test_an_update_clears_what_is_given_empty(board: Board) -> None:
    parent = board.create("parent")
    child = board.create("child", parent_id=parent, assignee="Ann")
    cleared = board.update(child, parent_id="", assignee="")
    assert (cleared.parent_id, cleared.assignee) == (None, None)


def test_illegal_moves_and_empty_titles_are_refused(board: Board) -> None:
    task_id = board.create("a")
    with pytest.raises(IllegalTransition, match="pending cannot become completed"):
        board.update(task_id, status="completed")
    with pytest.raises(InvalidInput, match="needs a title"):
        board.update(task_id, title="   ")
    with pytest.raises(InvalidInput, match="Only a blocked task"):
        board.update(task_id, blocked_reason="why not")


def test_ids_are_found_by_their_short_form_and_near_misses_are_suggested(board: Board) -> None:
    task_id = board.create("Fix login")
    assert board.task(f"task_{task_id[-6:]}").id == task_id
    assert board.task(task_id[-6:].lower()).id == task_id
    assert board.task("Fix login").id == task_id
    with pytest.raises(NotFound) as caught:
        board.task("Fix logn")
    assert task_id in caught.value.hint


def test_the_project_of_a_folder_is_the_nearest_above(board: Board, place: Path) -> None:
    inner = place / "project" / "inner"
    (inner / "deep").mkdir(parents=True)
    (place / "project-x").mkdir()
    made = board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=str(inner))))
    found = board.journal.read(lambda c: project_of_directory(c, str(inner / "deep")))
    assert found.id == made
    assert board.journal.read(lambda c: project_of_directory(c, f"{place}/project")).id == board.project_id
    with pytest.raises(NotFound, match="in no project"):
        board.journal.read(lambda c: project_of_directory(c, str(place / "project-x")))


def test_adding_a_folder_twice_is_harmless(board: Board) -> None:
    again = board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=board.directory + "/")))
    assert again == board.project_id
    with pytest.raises(Conflict, match="is already the project"):
        board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=board.directory, name="x")))


def test_two_folders_of_one_name_get_two_names(board: Board, place: Path) -> None:
    (place / "b" / "project").mkdir(parents=True)
    board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=f"{place}/b/project")))
    assert [p.name for p in board.journal.read(all_projects)] == ["project", "project-2"]


def test_a_removed_project_takes_its_tasks_off_the_board(board: Board, place: Path) -> None:
    board.create("gone")
    board.journal.write(HUMAN, lambda c: remove_project(c, "project"))
    assert board.journal.read(list_tasks) == []
    with pytest.raises(NotFound):
        board.task("gone")


def test_parents_and_dependencies_stay_in_their_project(board: Board, place: Path) -> None:
    (place / "other").mkdir()
    other = board.journal.write(HUMAN, lambda c: add_project(c, NewProject(directory=f"{place}/other")))
    mine = board.create("mine")
    with pytest.raises(InvalidInput, match="another project"):
        board.journal.write(
            HUMAN, lambda c: create_task(c, NewTask(title="x", project_id=other, depends_on=(mine,)))
        )
