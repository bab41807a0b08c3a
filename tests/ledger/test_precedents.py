"""Precedents in the ledger: a human's answers, until they expire, are forgotten, or are given otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.ledger.support import Board

from maestro.errors import NotFound
from maestro.ids import short
from maestro.ledger import precedents
from maestro.ledger.facts import Precedent
from maestro.ledger.roles import HUMAN

SAME = "f" * 64
SECRET = "sk-ant-" + "q" * 40
FAR = 4_000_000_000_000


def remember(board: Board, answer: str = "Choose 1", **named: Any) -> Precedent:
    fields: dict[str, Any] = {
        "project_id": board.project_id,
        "fingerprint": SAME,
        "kind": "choice",
        "question": "Tabs or spaces?",
        "options": ("Tabs", "Spaces"),
        "decision_id": "deci_1",
        "expires_at": FAR,
        **named,
    }
    made = board.journal.write(HUMAN, lambda c: precedents.remember(c, answer=answer, **fields))
    return get(board, made)


def get(board: Board, precedent_id: str) -> Precedent:
    return board.journal.read(lambda c: precedents.get_precedent(c, precedent_id))


def match(board: Board, fingerprint: str = SAME, now: int = 0, project_id: str = "") -> Precedent | None:
    project = project_id or board.project_id
    return board.journal.read(lambda c: precedents.match(c, project, fingerprint, now))


def listed(board: Board, **named: Any) -> list[str]:
    return [one.id for one in board.journal.read(lambda c: precedents.list_precedents(c, **named))]


def test_the_same_answer_makes_it_firmer(board: Board) -> None:
    first = remember(board, expires_at=FAR)
    assert first.id.startswith("prec_")
    assert (first.question, first.options, first.answer) == (
        "Tabs or spaces?",
        ("Tabs", "Spaces"),
        "Choose 1",
    )
    assert (first.answers, first.uses, first.used_at, first.forgotten_at) == (1, 0, None, None)
    again = remember(board, expires_at=FAR + 5, decision_id="deci_2")
    assert again.id == first.id
    assert (again.answers, again.expires_at, again.decision_id) == (2, FAR + 5, "deci_2")
    assert match(board) == again
    kinds = [event.kind for event in board.journal.events_since(None)[0] if "precedent" in event.kind]
    assert kinds == ["precedent.remembered", "precedent.repeated"]


def test_another_answer_takes_its_place(board: Board) -> None:
    first = remember(board)
    remember(board)
    other = remember(board, "Choose 2")
    assert other.id != first.id
    assert other.answers == 1
    assert get(board, first.id).forgotten_at is not None
    assert match(board) == other
    back = remember(board, "Choose 1")
    assert (back.answers, back.id not in {first.id, other.id}) == (1, True)


def test_it_counts_for_this_question_of_this_project_until_it_expires(board: Board, place: Path) -> None:
    other_project = Board(board.journal, place / "other").project_id
    made = remember(board, expires_at=1000)
    assert match(board, now=999) == made
    assert match(board, now=1000) is None
    assert match(board, "e" * 64) is None
    assert match(board, project_id=other_project) is None
    theirs = remember(board, "Choose 2", project_id=other_project)
    assert match(board, now=5) == made
    assert match(board, project_id=other_project) == theirs


@pytest.mark.parametrize(("answer", "fingerprint"), [(f"use {SECRET}", SAME), ("Choose 1", "")])
def test_what_cannot_be_given_again_never_counts(board: Board, answer: str, fingerprint: str) -> None:
    for _ in range(3):
        made = remember(board, answer, fingerprint=fingerprint)
        assert made.forgotten_at is not None
        assert made.answers == 1
    assert match(board, fingerprint) is None
    assert SECRET not in repr(made) + repr(board.journal.events_since(None)[0])


def test_a_secret_answer_still_takes_the_place_of_another(board: Board) -> None:
    remember(board)
    remember(board, f"use {SECRET}")
    assert match(board) is None


def test_use_and_forget(board: Board) -> None:
    made = remember(board)
    for _ in range(2):
        board.journal.write(HUMAN, lambda c: precedents.use(c, made.id))
    used = get(board, made.id)
    assert (used.uses, used.used_at is not None) == (2, True)
    for _ in range(2):
        assert board.journal.write(HUMAN, lambda c: precedents.forget(c, short(made.id))) == made.id
    forgotten = get(board, made.id)
    assert match(board) is None
    events = [event for event in board.journal.events_since(None)[0] if event.kind == "precedent.forgotten"]
    assert [event.at for event in events] == [forgotten.forgotten_at]
    with pytest.raises(NotFound, match="There is no precedent") as caught:
        board.journal.write(HUMAN, lambda c: precedents.forget(c, "prec_none"))
    assert "maestro precedent list" in caught.value.hint


def test_lists(board: Board, place: Path) -> None:
    other_project = Board(board.journal, place / "other").project_id
    old = remember(board, fingerprint="a" * 64, expires_at=1000)
    gone = remember(board, fingerprint="b" * 64)
    board.journal.write(HUMAN, lambda c: precedents.forget(c, gone.id))
    kept = remember(board, fingerprint="c" * 64)
    theirs = remember(board, project_id=other_project)
    assert listed(board) == [old.id, kept.id, theirs.id]
    assert listed(board, now=2000) == [kept.id, theirs.id]
    assert listed(board, now=2000, project_id=board.project_id) == [kept.id]
    assert listed(board, now=2000, all=True) == [old.id, gone.id, kept.id, theirs.id]
