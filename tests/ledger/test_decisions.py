"""Decisions in the ledger: one chain per host that cannot be changed unseen, and what can be asked of it."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ledger.support import Board

from maestro.errors import InvalidInput, NotFound
from maestro.ids import short
from maestro.ledger import decisions, escalations, questions, schema, sessions
from maestro.ledger.facts import Decision, NewSession, Question
from maestro.ledger.roles import HUMAN, Actor

HOST = "host_TEST"
SECRET = "sk-ant-" + "q" * 40
WORDS = "a" * 64


@pytest.fixture
def worker(board: Board) -> str:
    return new_worker(board)


def new_worker(board: Board, name: str | None = None) -> str:
    request = NewSession(agent="scripted", project_id=board.project_id, name=name)
    return board.journal.write(HUMAN, lambda c: sessions.create_session(c, request))


def ask(board: Board, session_id: str, text: str = "Which?") -> Question:
    asked = {"kind": "choice", "text": text, "options": []}
    made = board.journal.write(HUMAN, lambda c: questions.ask(c, session_id, asked, source="hook"))
    return board.journal.read(lambda c: questions.get_question(c, made))


def decide(board: Board, session_id: str, actor: Actor = HUMAN, **named: Any) -> Decision:
    fields: dict[str, Any] = {"kind": "verdict", "action": "answer", "by": "rules", **named}
    made = board.journal.write(actor, lambda c: decisions.record(c, session_id=session_id, **fields))
    return board.journal.read(lambda c: decisions.get_decision(c, made))


def broken(board: Board, host: str = HOST) -> Decision | None:
    return board.journal.read(lambda c: decisions.broken_link(c, host))


def tamper(board: Board, statement: sa.Executable) -> None:
    with board.journal.engine.connect().execution_options(maestro_write=True) as connection:
        connection.execute(statement)
        connection.commit()


def change(decision: Decision, **fields: Any) -> sa.Update:
    return schema.decisions.update().where(schema.decisions.c.id == decision.id).values(**fields)


def test_a_decision_is_kept_whole(board: Board, worker: str) -> None:
    question = ask(board, worker)
    first = decide(board, worker)
    made = decide(
        board,
        worker,
        actor=Actor("coordinator", worker),
        question=question,
        question_hash=WORDS,
        follows=first.id,
        coordinator="loop",
        text="Choose 2",
        confidence=0.75,
        categories=("test strategy",),
        reasons=("It is clear.",),
        shadow=True,
        prompt_id="prom_1",
        escalation_id="esca_1",
        pane={"paneId": "%3", "serverPid": 7},
        spent={"calls": 1, "tokens": 900, "costUsd": 0.25},
    )
    assert made.id.startswith("deci_")
    assert (made.host, made.seq, made.previous) == (HOST, 2, first.hash)
    assert (first.seq, first.previous, first.actor) == (1, "", "human")
    assert (made.question_id, made.version, made.actor) == (question.id, 1, f"coordinator:{worker}")
    assert made.text_hash == hashlib.sha256(b"Choose 2").hexdigest()
    assert made.spent == {"calls": 1, "tokens": 900, "costUsd": 0.25}
    assert made.pane == {"paneId": "%3", "serverPid": 7}
    assert (made.categories, made.reasons, made.shadow) == (("test strategy",), ("It is clear.",), True)
    event = board.journal.events_since(None)[0][-1]
    assert (event.kind, event.subject_id, event.project_id) == (
        "decision.verdict",
        worker,
        board.project_id,
    )
    told = event.data["decision"]
    assert (told["id"], told["action"], told["by"], told["questionId"]) == (
        made.id,
        "answer",
        "rules",
        question.id,
    )


def test_who_decided_may_be_another_than_who_writes(board: Board, worker: str) -> None:
    made = decide(board, worker, actor=HUMAN, by="human", kind="resolution")
    assert made.actor == "human"
    recorded = board.journal.write(
        Actor("coordinator", worker),
        lambda c: decisions.record(
            c, kind="resolution", session_id=worker, action="answer", by="human", actor=HUMAN
        ),
    )
    assert board.journal.read(lambda c: decisions.get_decision(c, recorded)).actor == "human"


def test_nothing_secret_is_kept_and_the_exact_text_is_still_known(board: Board, worker: str) -> None:
    exact = f"use {SECRET}\x1b[2J " + "x" * 3000
    made = decide(board, worker, text=exact, reasons=(f"it said {SECRET}",), pane={"title": SECRET})
    assert len(made.text) == 2000
    assert made.text.startswith("use [redacted]")
    assert made.text_hash == hashlib.sha256(exact.encode()).hexdigest()
    rows = board.journal.read(lambda c: c.execute(sa.select(schema.decisions)).all())
    dump = repr(rows) + repr(board.journal.events_since(None)[0])
    assert SECRET not in dump
    assert "\\x1b" not in dump
    assert broken(board) is None


def test_what_no_database_can_hold_does_not_break_the_chain(board: Board, worker: str) -> None:
    for confidence in (math.nan, math.inf, -0.0):
        assert decide(board, worker, confidence=confidence).confidence == 0.0
    decide(board, worker, text="\ud800 half", by="b" * 80, spent={"costUsd": math.nan}, pane={"a": ("b", 1)})
    assert broken(board) is None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=50),
    reasons=st.lists(st.text(max_size=20), max_size=3),
    pane=st.dictionaries(
        st.text(max_size=5), st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=5), st.none())
    ),
    confidence=st.floats(0, 1),
    cost=st.floats(0, 1e6),
)
def test_whatever_is_written_is_read_as_it_was(
    board: Board, text: str, reasons: list[str], pane: dict[str, Any], confidence: float, cost: float
) -> None:
    worker = new_worker(board)
    decide(
        board, worker, text=text, reasons=reasons, pane=pane, confidence=confidence, spent={"costUsd": cost}
    )
    assert broken(board) is None


def test_a_changed_link_shows_whatever_was_changed(board: Board, worker: str) -> None:
    ask(board, worker)
    made = [decide(board, worker, text=f"{number}", confidence=0.5) for number in range(5)]
    other = new_worker(board)
    changes: dict[str, Any] = {
        "at": 7,
        "kind": "no kind at all",
        "session_id": other,
        "question_id": "ques_9",
        "version": 9,
        "follows": "deci_9",
        "actor": "worker",
        "coordinator": "me",
        "action": "escalate",
        "by": "human",
        "text": "other",
        "confidence": 0.6,
        "categories": ["x"],
        "reasons": ["x"],
        "shadow": True,
        "prompt_id": "prom_9",
        "escalation_id": "esca_9",
        "question_hash": "x",
        "text_hash": "x",
        "pane": {},
        "spent": {"calls": 1},
        "previous": "x",
        "hash": "x",
    }
    assert set(changes) == {column.name for column in schema.decisions.c} - {"id", "host", "seq"}
    target = made[2]
    for name, value in changes.items():
        tamper(board, change(target, **{name: value}))
        found = broken(board)
        assert found is not None, name
        assert found.seq == 3, name
        tamper(board, change(target, **{name: getattr(target, name)}))
        assert broken(board) is None, name


def test_a_link_that_was_taken_out_or_made_up_shows(board: Board, worker: str) -> None:
    made = [decide(board, worker) for _ in range(4)]
    # Whoever writes a link anew can give it a hash that fits, but not one that its successor names.
    fields = {**made[1].model_dump(), "text": "forged"}
    forged = {name: value for name, value in fields.items() if name != "hash"}
    tamper(board, change(made[1], text="forged", hash=decisions._link(forged)))
    found = broken(board)
    assert found is not None
    assert found.id == made[2].id
    tamper(board, schema.decisions.delete().where(schema.decisions.c.id == made[1].id))
    found = broken(board)
    assert found is not None
    assert found.id == made[2].id
    tamper(board, schema.decisions.delete().where(schema.decisions.c.seq < 3))
    found = broken(board)
    assert found is not None
    assert found.seq == 3


def test_a_link_that_was_renumbered_shows_even_with_a_hash_that_fits(board: Board, worker: str) -> None:
    made = [decide(board, worker) for _ in range(2)]
    fields = {**made[1].model_dump(exclude={"hash"}), "seq": 9}
    tamper(board, change(made[1], seq=9, hash=decisions._link(fields)))
    found = broken(board)
    assert found is not None
    assert found.seq == 9


def test_an_end_that_was_taken_off_shows(board: Board, worker: str) -> None:
    made = [decide(board, worker, text=f"{number}", prompt_id="prom_1") for number in range(3)]
    for left in (2, 1, 0):
        tamper(board, schema.decisions.delete().where(schema.decisions.c.seq > left))
        found = broken(board)
        assert found is not None
        assert (found.id, found.seq, found.session_id) == (made[2].id, left + 1, worker)
        assert (found.kind, found.action, found.prompt_id, found.text) == ("verdict", "answer", "prom_1", "2")
    assert broken(board, "host_NONE") is None


def test_a_long_chain_is_read_in_batches(board: Board, worker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_BATCH", 3)
    made = [decide(board, worker) for _ in range(9)]
    assert broken(board) is None
    assert board.journal.read(lambda c: decisions.last_seq(c, HOST)) == 9
    tamper(board, change(made[8], text="x"))
    found = broken(board)
    assert found is not None
    assert found.id == made[8].id


def test_each_host_has_its_own_chain(board: Board, worker: str) -> None:
    first = decide(board, worker)
    board.journal.host = "host_OTHER"
    other = decide(board, worker)
    board.journal.host = HOST
    second = decide(board, worker)
    assert [(one.host, one.seq) for one in (first, other, second)] == [
        (HOST, 1),
        ("host_OTHER", 1),
        (HOST, 2),
    ]
    assert (other.previous, second.previous) == ("", first.hash)
    assert broken(board) is None
    assert broken(board, "host_OTHER") is None
    assert board.journal.read(lambda c: decisions.last_seq(c, "host_NONE")) == 0
    only = board.journal.read(lambda c: decisions.list_decisions(c, host="host_OTHER"))
    assert only == [other]


def test_a_decision_that_was_rolled_back_leaves_no_gap(board: Board, worker: str) -> None:
    def fails(change: Any) -> str:
        decisions.record(change, kind="verdict", session_id=worker, action="answer", by="rules")
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        board.journal.write(HUMAN, fails)
    assert decide(board, worker).seq == 1
    assert broken(board) is None


def test_lists(board: Board, worker: str) -> None:
    question = ask(board, worker)
    other = new_worker(board)
    one = decide(board, worker, question=question)
    two = decide(board, other)
    three = decide(board, worker, kind="receipt", action="submitted", follows=one.id)

    def listed(**named: Any) -> list[Decision]:
        return board.journal.read(lambda c: decisions.list_decisions(c, **named))

    assert listed() == [one, two, three]
    assert listed(session_id=worker) == [one, three]
    assert listed(question_id=question.id) == [one]
    assert listed(since_seq=1) == [two, three]
    assert listed(since_seq=1, limit=1) == [two]
    assert listed(kinds=("receipt", "attention")) == [three]
    assert listed(since_ms=three.at) == [three]
    following = board.journal.read(lambda c: decisions.following(c, one.id))
    assert following == [three]
    assert board.journal.read(lambda c: decisions.following(c, "deci_none")) == []
    with pytest.raises(NotFound, match="There is no decision deci_none"):
        board.journal.read(lambda c: decisions.get_decision(c, "deci_none"))


def test_what_answers_an_occurrence(board: Board, worker: str) -> None:
    question = ask(board, worker)

    def answer(version: int | None = None) -> str | None:
        found = board.journal.read(lambda c: decisions.answer_of(c, question.id, version))
        return found.id if found else None

    assert answer() is None
    decide(board, worker, question=question, action="escalate")
    decide(board, worker, question=question, shadow=True)
    decide(board, worker, question=ask(board, new_worker(board)))
    decide(board, worker, question=question, kind="resolution", by="itself", action="closed")
    assert answer() is None, "escalated, in shadow, another's, or over by itself: not answered"
    probe = decide(board, worker, question=question, action="probe")
    assert answer() == answer(1) == probe.id
    assert answer(2) is None
    human = decide(board, worker, question=question, kind="resolution", by="human")
    assert answer() == human.id, "the latest"
    decide(board, worker, kind="receipt", action="failed", follows=human.id)
    assert answer() == probe.id, "what was not typed is no answer"
    decide(board, worker, kind="receipt", action="uncertain", follows=probe.id)
    assert answer() == probe.id, "what may have been typed is one"
    decide(board, worker, kind="receipt", action="withdrawn", follows=probe.id)
    assert answer() is None


def test_the_same_words_before(board: Board, worker: str) -> None:
    other = new_worker(board)

    def before(question_hash: str = WORDS) -> list[str]:
        found = board.journal.read(lambda c: decisions.same_before(c, worker, question_hash))
        return [one.id for one in found]

    first = decide(board, worker, question_hash=WORDS)
    decide(board, worker, question_hash=WORDS, action="probe")
    decide(board, worker, question_hash=WORDS, shadow=True)
    decide(board, worker, question_hash=WORDS, kind="resolution", by="human")
    decide(board, worker, question_hash="b" * 64)
    decide(board, worker)
    decide(board, other, question_hash=WORDS)
    unsent = decide(board, worker, question_hash=WORDS)
    second = decide(board, worker, question_hash=WORDS)
    decide(board, worker, question_hash=WORDS, kind="receipt", action="failed", follows=unsent.id)
    decide(board, worker, question_hash=WORDS, kind="receipt", action="submitted", follows=second.id)
    assert before() == [first.id, second.id]
    assert before("") == [], "what has no words has no past"


def test_what_was_spent(board: Board, worker: str) -> None:
    other = new_worker(board)
    decide(board, worker)
    early = decide(board, worker, spent={"calls": 1, "tokens": 100, "costUsd": 0.5})
    late = decide(board, other, spent={"calls": 2, "tokens": 10}, shadow=True)

    def spent(since: int, session_id: str | None = None) -> tuple[int, int, float]:
        return board.journal.read(lambda c: decisions.spent_since(c, since, session_id))

    assert spent(0) == (3, 110, 0.5)
    assert spent(early.at) == (3, 110, 0.5)
    assert spent(late.at) == (2, 10, 0.0)
    assert spent(0, worker) == (1, 100, 0.5)
    assert spent(late.at + 1) == (0, 0, 0.0)


def test_why(board: Board) -> None:
    worker, other = new_worker(board, "Main"), new_worker(board, "Other")
    question = ask(board, worker)
    decide(board, worker, question=question, action="probe")
    made = decide(board, worker, question=question, prompt_id="prom_01AAAAAAAAAA")
    decide(board, worker, kind="receipt", action="submitted", follows=made.id, prompt_id="prom_01BBBBBBBBBB")
    escalated = decide(board, other, action="escalate")
    escalation = board.journal.write(
        HUMAN,
        lambda c: escalations.open_escalation(
            c, session_id=other, kind="stuck", subject="s", text="t", reason="r", decision_id=escalated.id
        ),
    )

    def why(word: str) -> str:
        return board.journal.read(lambda c: decisions.find(c, word)).id

    for word in (
        made.id,
        short(made.id),
        made.id.lower(),
        question.id,
        short(question.id),
        "prom_01AAAAAAAAAA",
        "prom_01BBBBBBBBBB",
        worker,
        "Main",
    ):
        assert why(word) == made.id, word
    for word in (escalation, short(escalation), other, "Other"):
        assert why(word) == escalated.id, word
    for word in ("deci_01JNONE", "ques_01JNONE", "nobody", "", "%", "sess_%%%%", "deci_"):
        with pytest.raises(NotFound) as caught:
            why(word)
        assert caught.value.hint


def test_an_escalation_is_explained_by_the_decision_that_names_it(board: Board, worker: str) -> None:
    escalation = board.journal.write(
        HUMAN,
        lambda c: escalations.open_escalation(
            c, session_id=worker, kind="question", subject="q", text="t", reason="r"
        ),
    )
    made = decide(board, worker, action="escalate", escalation_id=escalation)
    decide(board, worker, kind="resolution", by="human", escalation_id=escalation, follows=made.id)
    assert board.journal.read(lambda c: decisions.find(c, escalation)).id == made.id
