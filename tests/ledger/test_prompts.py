"""Prompts and questions in the ledger: every step is recorded, none goes back, and nothing secret is kept."""

from __future__ import annotations

import pytest
from tests.ledger.support import Board

from maestro.errors import Conflict, NotFound, Refused
from maestro.ids import new_id, time_of
from maestro.ledger import prompts, questions, sessions
from maestro.ledger.facts import NewSession, Prompt, PromptState, Question
from maestro.ledger.journal import Once
from maestro.ledger.roles import HUMAN, Actor, require

SECRET = "sk-ant-" + "q" * 40
WAYS: dict[PromptState, tuple[PromptState, ...]] = {
    "queued": (),
    "typing": ("typing",),
    "pasted": ("typing", "pasted"),
    "submitted": ("typing", "pasted", "submitted"),
    "uncertain": ("typing", "uncertain"),
    "failed": ("failed",),
    "withdrawn": ("withdrawn",),
}
NEXT: dict[PromptState, set[PromptState]] = {
    "queued": {"typing", "failed", "withdrawn"},
    "typing": {"pasted", "submitted", "uncertain", "failed"},
    "pasted": {"submitted", "uncertain"},
}


@pytest.fixture
def worker(board: Board) -> str:
    request = NewSession(agent="scripted", project_id=board.project_id)
    return board.journal.write(HUMAN, lambda c: sessions.create_session(c, request))


def enqueue(board: Board, session_id: str, text: str = "Go on", actor: Actor = HUMAN, **named: object) -> str:
    options: dict[str, object] = {"kind": "prompt", **named}
    return board.journal.write(actor, lambda c: prompts.enqueue(c, session_id, text, **options))  # type: ignore[arg-type]


def move(board: Board, prompt_id: str, state: PromptState, **named: object) -> Prompt:
    board.journal.write(HUMAN, lambda c: prompts.move(c, prompt_id, state, **named))  # type: ignore[arg-type]
    return get(board, prompt_id)


def lose(board: Board, prompt_id: str, reason: str) -> Prompt:
    board.journal.write(HUMAN, lambda c: prompts.lose(c, prompt_id, reason))
    return get(board, prompt_id)


def get(board: Board, prompt_id: str) -> Prompt:
    return board.journal.read(lambda c: prompts.get_prompt(c, prompt_id))


def question(board: Board, question_id: str) -> Question:
    return board.journal.read(lambda c: questions.get_question(c, question_id))


def ask(board: Board, session_id: str, text: str, call_id: str = "") -> str:
    asked = {"kind": "choice", "text": text, "options": []}
    return board.journal.write(
        HUMAN, lambda c: questions.ask(c, session_id, asked, source="hook", call_id=call_id)
    )


def test_every_step(board: Board, worker: str) -> None:
    for state in WAYS:
        for after in WAYS:
            _one_step(board, worker, state, after)


def test_only_what_was_submitted_can_be_lost(board: Board, worker: str) -> None:
    for state, steps in WAYS.items():
        prompt_id = enqueue(board, worker)
        for step in steps:
            move(board, prompt_id, step, reason="as it is", transcript_size=7)
        before, after = get(board, prompt_id), lose(board, prompt_id, f"gone with {SECRET}")
        if state != "submitted":
            assert after == before
            continue
        assert (after.state, after.evidence, after.settled_at) == (
            "failed",
            before.evidence,
            before.settled_at,
        )
        assert after.reason.startswith("gone with ")
        assert SECRET not in after.reason


def _one_step(board: Board, worker: str, state: PromptState, after: PromptState) -> None:
    prompt_id = enqueue(board, worker)
    for step in WAYS[state]:
        move(board, prompt_id, step, reason="as it is", transcript_size=7)
    before = get(board, prompt_id)
    if after in NEXT.get(state, set()):
        moved = move(board, prompt_id, after)
        assert (moved.state, moved.settled_at is not None) == (after, after in prompts.SETTLED)
    elif state in prompts.SETTLED and after in prompts.SETTLED:
        assert move(board, prompt_id, after) == before, "what is over stays as it is"
    else:
        with pytest.raises(Conflict, match=f"is {state} cannot become {after}"):
            move(board, prompt_id, after)
        assert get(board, prompt_id) == before


def test_the_queue_has_the_order_of_acknowledgement_whatever_the_clock_does(
    board: Board, worker: str
) -> None:
    clock = board.journal.clock
    made = [enqueue(board, worker, "first")]
    board.journal.clock = lambda: 1_700_000_000_000  # put back by years, and standing still
    made += [enqueue(board, worker, f"{number}") for number in range(20)]
    board.journal.clock = clock
    made.append(enqueue(board, worker, "last"))
    listed = board.journal.read(lambda c: prompts.list_prompts(c, worker))
    assert [one.id for one in listed] == made == sorted(made)


def test_what_was_typed_last_is_known_whatever_the_clock_does(board: Board, worker: str) -> None:
    clock = board.journal.clock
    first, last = enqueue(board, worker, "first"), enqueue(board, worker, "last")
    answer = enqueue(board, worker, "yes", kind="answer")
    for state in WAYS["submitted"]:
        move(board, first, state)
    for state in WAYS["submitted"]:
        move(board, answer, state)
    board.journal.clock = lambda: clock() - 86_400_000
    for state in WAYS["uncertain"]:
        move(board, last, state)
    found = board.journal.read(lambda c: prompts.last_typed(c, worker))
    assert found is not None
    assert found.id == last


def test_what_is_left_is_what_is_not_settled(board: Board, worker: str) -> None:
    done, held, typed = (enqueue(board, worker, text) for text in ("a", "b", "c"))
    move(board, done, "failed")
    move(board, typed, "typing", transcript_size=3)
    board.journal.write(HUMAN, lambda c: prompts.hold(c, held, "A human looks."))
    left = board.journal.read(lambda c: prompts.left_of(c, worker))
    assert [(one.id, one.state, one.reason) for one in left] == [
        (held, "queued", "A human looks."),
        (typed, "typing", ""),
    ]
    assert board.journal.read(lambda c: prompts.unsettled(c, "host_TEST")) == left
    assert board.journal.read(lambda c: prompts.unsettled(c, "host_OTHER")) == []
    board.journal.write(HUMAN, lambda c: prompts.hold(c, typed, "too late"))
    assert get(board, typed).reason == "", "what is being typed is not held"


def test_a_secret_is_kept_only_until_it_was_typed(board: Board, worker: str) -> None:
    answer = {"choices": [], "text": f"use {SECRET}", "parts": [{"text": SECRET}]}
    prompt_id = enqueue(board, worker, f"use {SECRET}", kind="answer", answer=answer)
    assert get(board, prompt_id).text == f"use {SECRET}"
    move(board, prompt_id, "typing")
    move(board, prompt_id, "uncertain", reason=f"saw {SECRET}\x1b[2J", evidence=(f"typed {SECRET}",))
    kept = get(board, prompt_id)
    assert (kept.text, kept.answer and kept.answer["text"]) == ("use [redacted]", "use [redacted]")
    dump = repr(board.journal.events_since(None)[0]) + repr(
        board.journal.read(lambda c: c.exec_driver_sql("SELECT * FROM prompts").all())
    )
    assert SECRET not in dump
    assert "\\x1b" not in dump


def test_a_prompt_remembers_who_sent_it(board: Board, worker: str) -> None:
    assert get(board, enqueue(board, worker)).sender is None
    assert get(board, enqueue(board, worker, actor=Actor("coordinator", worker))).sender == worker
    with pytest.raises(NotFound, match="There is no prompt prom_X"):
        get(board, "prom_X")


def test_a_repeated_request_is_one_prompt(board: Board, worker: str) -> None:
    once = Once("key", "request")
    assert board.journal.earlier(once) is None
    made = [
        board.journal.write(HUMAN, lambda c: prompts.enqueue(c, worker, "x", kind="prompt"), once)
        for _ in range(2)
    ]
    assert made[0] == made[1] == board.journal.earlier(once)
    assert len(board.journal.read(lambda c: prompts.list_prompts(c, worker))) == 1


def test_a_question_is_open_once_and_closed_once(board: Board, worker: str) -> None:
    first = ask(board, worker, "Which?", "call_1")
    second = ask(board, worker, "Which?", "call_2")
    assert first != second
    assert question(board, first).closed_by == "another question came"
    now_open = board.journal.read(lambda c: questions.open_question(c, worker))
    assert now_open is not None
    assert (now_open.id, now_open.version) == (second, 1)
    board.journal.write(
        HUMAN,
        lambda c: questions.amend(
            c, now_open, {**now_open.asked, "text": "Which one?"}, source="hook", call_id="call_3"
        ),
    )
    changed = question(board, second)
    assert (changed.version, changed.text, changed.call_id) == (2, "Which one?", "call_3")
    for who in ("the human", "the hook"):
        board.journal.write(HUMAN, lambda c, who=who: questions.close(c, second, who))  # type: ignore[misc]
    assert question(board, second).closed_by == "the human"
    assert board.journal.read(lambda c: questions.open_question(c, worker)) is None
    for is_open, count in ((True, 0), (False, 2), (None, 2)):
        found = board.journal.read(
            lambda c, is_open=is_open: questions.list_questions(c, session_id=worker, is_open=is_open)  # type: ignore[misc]
        )
        assert len(found) == count
    kinds = [event.kind for event in board.journal.events_since(None)[0] if event.kind.startswith("question")]
    assert kinds == [
        "question.asked",
        "question.closed",
        "question.asked",
        "question.changed",
        "question.closed",
    ]
    with pytest.raises(NotFound, match="There is no question"):
        question(board, "ques_X")


def test_an_id_tells_its_time() -> None:
    assert time_of(new_id("prom", 1_763_250_000_123)) == 1_763_250_000_123


@pytest.mark.parametrize(
    ("actor", "own", "may"),
    [
        (HUMAN, False, True),
        (HUMAN, True, True),
        (Actor("coordinator", "sess_1"), True, True),
        (Actor("coordinator", "sess_1"), False, False),
        (Actor("worker", "sess_1"), True, False),
        (Actor("worker", "sess_1"), False, False),
    ],
)
def test_who_may_prompt(actor: Actor, own: bool, may: bool) -> None:  # noqa: FBT001 - a table's columns
    if may:
        require(actor, "session.prompt", own=own)
        return
    with pytest.raises(Refused, match="may not prompt this session") as caught:
        require(actor, "session.prompt", own=own)
    assert "human" in caught.value.hint.lower()
