"""Escalations in the ledger: one for each subject, told again only with news, gone when nobody waits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ledger.support import Board

from maestro.errors import InvalidInput, NotFound
from maestro.ids import short
from maestro.ledger import escalations, questions, sessions
from maestro.ledger.facts import Escalation, NewSession
from maestro.ledger.roles import HUMAN

SECRET = "sk-ant-" + "q" * 40


@pytest.fixture
def worker(board: Board) -> str:
    return new_worker(board, "Main")


def new_worker(board: Board, name: str) -> str:
    request = NewSession(agent="scripted", project_id=board.project_id, name=name)
    return board.journal.write(HUMAN, lambda c: sessions.create_session(c, request))


def ask(board: Board, session_id: str) -> str:
    asked = {"kind": "choice", "text": "Which?", "options": []}
    return board.journal.write(HUMAN, lambda c: questions.ask(c, session_id, asked, source="hook"))


def escalate(board: Board, session_id: str, subject: str = "ques_1", **named: Any) -> Escalation:
    fields: dict[str, Any] = {"kind": "question", "text": "Push?", "reason": "git operations", **named}
    made = board.journal.write(
        HUMAN,
        lambda c: escalations.open_escalation(c, session_id=session_id, subject=subject, **fields),
    )
    return get(board, made)


def get(board: Board, escalation_id: str) -> Escalation:
    return board.journal.read(lambda c: escalations.get_escalation(c, escalation_id))


def close(board: Board, escalation_id: str, by: str) -> Escalation:
    board.journal.write(HUMAN, lambda c: escalations.close_escalation(c, escalation_id, by))
    return get(board, escalation_id)


def find(board: Board, word: str) -> str:
    return board.journal.read(lambda c: escalations.find_escalation(c, word)).id


def withdraw(board: Board, session_id: str | None) -> list[str]:
    closed: list[str] = []

    def work(change: Any) -> str:
        closed.extend(escalations.withdraw_over(change, session_id=session_id))
        return ""

    board.journal.write(HUMAN, work)
    return closed


def events(board: Board) -> list[str]:
    return [event.kind for event in board.journal.events_since(None)[0] if "escalation" in event.kind]


def test_it_is_opened_once(board: Board, worker: str) -> None:
    made = escalate(
        board,
        worker,
        question_id="ques_1",
        version=2,
        categories=("git operations",),
        proposed="Choose 1",
        confidence=0.4,
        decision_id="deci_1",
    )
    assert made.id.startswith("esca_")
    assert (made.kind, made.subject, made.question_id, made.version) == ("question", "ques_1", "ques_1", 2)
    assert (made.categories, made.proposed, made.confidence) == (("git operations",), "Choose 1", 0.4)
    assert (made.news, made.notified_at, made.closed_at, made.closed_by) == (0, None, None, "")
    again = escalate(board, worker, version=2, proposed="Choose 2", confidence=0.9)
    assert again == made, "the same text, version and reason are no news"
    assert events(board) == ["escalation.opened"]
    event = board.journal.events_since(None)[0][-1]
    assert (event.subject_id, event.project_id) == (worker, board.project_id)
    assert event.data["escalation"]["questionId"] == "ques_1"


@pytest.mark.parametrize("new", [{"text": "Force-push?"}, {"version": 2}, {"reason": "not sure"}])
def test_news_is_told_again(board: Board, worker: str, new: dict[str, Any]) -> None:
    made = escalate(board, worker, version=1)
    board.journal.write(HUMAN, lambda c: escalations.mark_notified(c, made.id))
    assert get(board, made.id).notified_at is not None
    told = escalate(board, worker, **{"version": 1, "proposed": "no", **new})
    assert told.id == made.id
    assert (told.news, told.proposed, told.opened_at) == (1, "no", made.opened_at)
    assert told.updated_at > made.updated_at
    assert told.notified_at is None, "the human was not told of this yet"
    assert events(board) == ["escalation.opened", "escalation.changed"]


def test_nothing_secret_is_kept_and_a_repetition_of_it_is_no_news(board: Board, worker: str) -> None:
    words = {"text": f"Use {SECRET}?\x1b[2J", "reason": f"{SECRET} is a secret", "proposed": SECRET}
    made = escalate(board, worker, **words)
    assert escalate(board, worker, **words).news == 0
    assert made.text == "Use [redacted]?"
    assert SECRET not in repr(made) + repr(board.journal.events_since(None)[0])


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -1.0, 7.0])
def test_a_confidence_that_is_none_is_nothing(board: Board, worker: str, confidence: float) -> None:
    assert escalate(board, worker, confidence=confidence).confidence == 0.0


def test_the_first_who_closes_it_says_why(board: Board, worker: str) -> None:
    made = escalate(board, worker)
    closed = close(board, made.id, "answered by human")
    assert (closed.closed_by, closed.closed_at is not None) == ("answered by human", True)
    assert close(board, made.id, "the worker went on") == closed
    assert events(board) == ["escalation.opened", "escalation.closed"]
    with pytest.raises(NotFound):
        close(board, "esca_none", "x")


def test_what_was_dismissed_stays_so_for_this_version(board: Board, worker: str) -> None:
    made = escalate(board, worker, version=1)
    close(board, made.id, f"{escalations.DISMISSED} by a human: later")
    assert escalate(board, worker, version=1, text="other words").id == made.id
    assert get(board, made.id).closed_at is not None
    newer = escalate(board, worker, version=2)
    assert newer.id != made.id, "what is asked now is something else"
    close(board, newer.id, "answered")
    assert escalate(board, worker, version=2).id not in {made.id, newer.id}, (
        "an answer may have to be repeated"
    )
    assert escalate(board, worker, subject="ques_2", version=1).id != made.id


def test_lists(board: Board, worker: str) -> None:
    other = new_worker(board, "Other")
    one, two, three = (
        escalate(board, worker, "a"),
        escalate(board, other, "b"),
        escalate(board, worker, "c"),
    )
    close(board, one.id, "x")

    def listed(**named: Any) -> list[str]:
        return [e.id for e in board.journal.read(lambda c: escalations.list_escalations(c, **named))]

    assert listed() == [one.id, two.id, three.id]
    assert listed(is_open=True) == [two.id, three.id]
    assert listed(is_open=False) == [one.id]
    assert listed(session_id=worker) == [one.id, three.id]
    assert board.journal.read(lambda c: escalations.open_of(c, "a")) is None
    assert board.journal.read(lambda c: escalations.open_of(c, "b")) == two


def test_what_a_person_means(board: Board, worker: str) -> None:
    other, third = new_worker(board, "Other"), new_worker(board, "Third")
    mine = escalate(board, worker, "ques_1", question_id="ques_1")
    first = escalate(board, other, "x", question_id="ques_2")
    close(board, first.id, "done")
    second = escalate(board, other, "x", question_id="ques_2")
    for word in (
        mine.id,
        short(mine.id),
        mine.id.lower(),
        mine.id[-6:],
        "ques_1",
        worker,
        short(worker),
        "Main",
    ):
        assert find(board, f" {word} ") == mine.id, word
    assert find(board, "ques_2") == find(board, "Other") == second.id, "the open one"
    assert find(board, first.id) == find(board, short(first.id)) == first.id
    extra = escalate(board, worker, "y", kind="stuck")
    for word in ("Main", worker):
        with pytest.raises(InvalidInput, match="2") as several:
            find(board, word)
        assert extra.id in several.value.message
    for word in ("Third", third, "nobody", "", "esca_01JNONE", "sess_01JNONE"):
        with pytest.raises(NotFound) as caught:
            find(board, word)
        assert caught.value.hint, word


def test_what_nobody_waits_for_goes(board: Board, worker: str) -> None:
    other = new_worker(board, "Other")
    over, waits = ask(board, worker), ask(board, other)
    gone = escalate(board, worker, over, question_id=over)
    stays = escalate(board, other, waits, question_id=waits)
    stuck = escalate(board, worker, "stuck", kind="stuck")
    asked_in_words = escalate(board, worker, "turn_1", question_id="turn_1")
    assert withdraw(board, worker) == []
    board.journal.write(HUMAN, lambda c: questions.close(c, over, "it went on"))
    assert withdraw(board, other) == []
    assert withdraw(board, worker) == [gone.id]
    assert get(board, gone.id).closed_by == escalations.WENT_ON
    assert withdraw(board, None) == []
    for one in (stays, stuck, asked_in_words):
        assert get(board, one.id).closed_at is None


def test_an_ended_session_waits_for_nothing(board: Board, worker: str) -> None:
    question = ask(board, worker)
    about = [
        escalate(board, worker, question, question_id=question),
        escalate(board, worker, "stuck", kind="stuck"),
        escalate(board, worker, "turn_1", question_id="turn_1"),
    ]
    news = [escalate(board, worker, kind, kind=kind) for kind in ("error", "budget")]
    board.journal.write(HUMAN, lambda c: sessions.end_session(c, worker, "error", "it crashed"))
    assert withdraw(board, None) == [one.id for one in about]
    assert {get(board, one.id).closed_by for one in about} == {escalations.SESSION_ENDED}
    assert [get(board, one.id).closed_at for one in news] == [None, None]
