from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ledger.support import Board, Clock

from maestro.errors import InvalidInput, KeyReused
from maestro.ledger.facts import NewTask
from maestro.ledger.journal import ANSWERS_KEPT_MS, Journal, Once
from maestro.ledger.roles import HUMAN
from maestro.ledger.tasks import create_task, list_tasks


def create(board: Board, title: str, once: Once | None = None) -> str:
    request = NewTask(title=title, project_id=board.project_id)
    return board.journal.write(HUMAN, lambda c: create_task(c, request), once)


def titles(board: Board) -> list[str]:
    return [task.title for task in board.journal.read(list_tasks)]


def test_a_repeated_key_is_answered_and_not_done_again(board: Board) -> None:
    first = create(board, "once", Once("key-1", "request-1"))
    assert create(board, "once", Once("key-1", "request-1")) == first
    assert titles(board) == ["once"]


def test_a_key_with_another_request_is_refused(board: Board) -> None:
    create(board, "once", Once("key-1", "request-1"))
    with pytest.raises(KeyReused):
        create(board, "other", Once("key-1", "request-2"))
    assert titles(board) == ["once"]


def test_a_failed_change_leaves_no_trace_and_its_key_is_free(board: Board) -> None:
    before = board.journal.cursor()
    with pytest.raises(InvalidInput):
        create(board, "   ", Once("key-1", "request-1"))
    assert board.journal.cursor() == before
    create(board, "now", Once("key-1", "request-1"))
    assert titles(board) == ["now"]


def test_old_answers_are_forgotten(board: Board) -> None:
    assert isinstance(board.journal.clock, Clock)
    create(board, "old", Once("key-1", "request-1"))
    board.journal.clock.now += ANSWERS_KEPT_MS
    create(board, "new", Once("key-2", "request-2"))
    board.journal.forget_old_answers()
    create(board, "new", Once("key-2", "request-2"))
    create(board, "again", Once("key-1", "request-1"))
    assert titles(board) == ["old", "new", "again"]


def test_events_are_numbered_without_gaps_in_commit_order(board: Board) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: create(board, f"t{i}"), range(60)))
    events, cursor = board.journal.events_since(None)
    assert [event.seq for event in events] == list(range(1, 62))
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert cursor == "host_TEST:61" == board.journal.cursor()


def test_a_cursor_goes_on_where_it_was(board: Board) -> None:
    create(board, "a")
    _, cursor = board.journal.events_since(None)
    assert board.journal.events_since(cursor) == ([], cursor)
    made = create(board, "b")
    events, _ = board.journal.events_since(cursor)
    assert [event.subject_id for event in events] == [made]
    assert board.journal.events_since("2")[0] == events


def test_a_cursor_moves_past_events_about_others(board: Board) -> None:
    mine, other = create(board, "mine"), create(board, "other")
    events, cursor = board.journal.events_since(None, [mine])
    assert [event.subject_id for event in events] == [mine]
    assert cursor == board.journal.cursor()
    assert board.journal.events_since(None, [other], limit=2) == ([], "host_TEST:2")


@pytest.mark.parametrize("cursor", ["x", "host:", "host:-1", "host:9999999999999999999999", "host:٣"])
def test_a_wrong_cursor_is_explained(journal: Journal, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="not an event cursor"):
        journal.events_since(cursor)


def test_listeners_hear_of_commits_with_events_only(board: Board) -> None:
    heard: list[str] = []
    board.journal.after_commit(lambda: heard.append(board.journal.cursor()))
    made = create(board, "a", Once("key-1", "r"))
    create(board, "a", Once("key-1", "r"))
    board.update(made, title="a")
    assert heard == ["host_TEST:2", "host_TEST:3"]
