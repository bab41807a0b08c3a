"""What comes next, from the state alone: every combination has an answer, and it leads to an end."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.chains import Context
from maestro.chains.moves import (
    AskFailure,
    AskGate,
    Finish,
    Pause,
    RedoStep,
    RetryStep,
    ReviewStep,
    RunStep,
    again,
    next_move,
    resumed,
    waits,
)
from maestro.chains.state import (
    Analysis,
    ChainState,
    Issue,
    Spent,
    StepRecord,
    as_json,
    parse_state,
    with_step,
)
from maestro.errors import InvalidInput

SESSION = "coord-20260101000000"
CRITICAL = Analysis(
    quality_score=90, assessment="x", issues=(Issue(severity="critical", description="It loses data."),)
)
LOW = Analysis(quality_score=40, assessment="x")


def chain(*steps: dict[str, Any], **more: Any) -> ChainState:
    of_step: dict[str, Any] = {"cmd": "maestro-plan", "command": "plan", "args": ""}
    records = tuple(StepRecord(index=index, **(of_step | step)) for index, step in enumerate(steps))
    told: dict[str, Any] = {
        "session_id": SESSION, "created_at": "2026-01-01T00:00:00Z", "intent": "x", "task_type": "plan",
        "chain_name": "plan", "auto_mode": True, "phase": None, "context": Context(),
    }  # fmt: skip
    return ChainState(**(told | {"steps": records} | more))


DONE: dict[str, Any] = {"status": "completed"}
REVIEWED: dict[str, Any] = {"status": "completed", "review": "reviewed"}


@pytest.mark.parametrize(
    ("state", "move"),
    [
        (chain({}, {}), RunStep(0)),
        (chain(DONE, {}), RunStep(1)),
        (chain({"status": "skipped"}, {}), RunStep(1)),
        (chain(DONE, {}, paused_until=7), Pause(1, 7)),
        (chain(DONE, {}, paused_until=7, review_by="gemini"), Pause(0, 7, review=True)),
        (chain(DONE, DONE), Finish("completed")),
        (chain(DONE, {}, review_by="gemini"), ReviewStep(0)),
        (chain({**DONE, "review": "running"}, {}, review_by="gemini"), ReviewStep(0)),
        (chain(DONE, review_by="gemini"), Finish("completed")),  # one step is not reviewed
        (chain({**DONE, "review": "unreviewed"}, {}, review_by="gemini", min_score=90), RunStep(1)),
        (chain({**REVIEWED, "analysis": LOW}, {}), RunStep(1)),
        (chain({**REVIEWED, "analysis": LOW}, {}, min_score=50), RedoStep(0)),
        (chain({**REVIEWED, "analysis": LOW}, {}, min_score=40), RunStep(1)),
        (chain({**REVIEWED, "analysis": CRITICAL}, {}), RedoStep(0)),
        (chain({**REVIEWED, "analysis": CRITICAL, "gate_passed": True}, {}), RunStep(1)),
        (
            chain({**REVIEWED, "analysis": CRITICAL}, {}, auto_mode=False),
            AskGate(0, "its review found 1 critical issue"),
        ),
        (chain({"status": "failed", "failure_kind": "failure"}, {}), RetryStep(0)),
        (chain({"status": "failed", "failure_kind": "failure"}, {}, auto_mode=False), AskFailure(0)),
        (chain({"status": "failed", "failure_kind": "answer"}, {}, auto_mode=False), RetryStep(0)),
        (chain({"status": "failed", "failure_kind": "blocked"}, {}, auto_mode=False), AskFailure(0)),
        (chain({"status": "failed", "passed_over": True}, {}), RunStep(1)),
    ],
)
def test_next(state: ChainState, move: object) -> None:
    assert next_move(state) == move


@pytest.mark.parametrize("kind", ["blocked", "limit", "cancelled", "setup"])
def test_what_asking_again_does_not_mend_is_not_retried(kind: str) -> None:
    state = chain({"status": "failed", "failure_kind": kind, "failure": "Why."}, {})
    assert next_move(state) == Finish("failed", "Step 1 (maestro-plan) failed: Why.")


def test_nobody_waits_longer_than_six_hours_and_a_person_not_at_all() -> None:
    hours = 3_600_000
    assert waits(chain({}), 6 * hours + 5, 5)
    assert not waits(chain({}), 6 * hours + 6, 5)
    assert not waits(chain({}, auto_mode=False), 6, 5)


def test_a_failed_step_is_never_a_completed_chain() -> None:
    move = next_move(chain({"status": "failed", "passed_over": True}, DONE))
    assert isinstance(move, Finish)
    assert move.status == "failed"


def test_a_spent_budget_lets_a_step_end_and_begins_none() -> None:
    spent: dict[str, Any] = {"spent": Spent(cost_usd=2.0)}
    move = next_move(chain({**DONE, **spent}, {}, budget_usd=2.0))
    assert move == Finish("stopped", "$2.00 of the budget of $2.00 are spent.")
    assert next_move(chain({**spent, "status": "running"}, {}, budget_usd=2.0)) == RunStep(0)
    assert next_move(chain({**DONE, **spent}, {}, budget_usd=2.01)) == RunStep(1)


def test_resumed_gives_what_stopped_it_another_chance() -> None:
    failed = chain(
        DONE,
        {"status": "failed", "failure_kind": "failure", "retried": True, "failure": "Why."},
        status="failed",
    )
    state = resumed(failed)
    assert (state.status, state.steps[1].status, state.steps[1].retried) == ("running", "pending", False)
    assert next_move(state) == RunStep(1)
    gated = chain({**REVIEWED, "analysis": CRITICAL, "redone": True}, {}, status="stopped")
    assert isinstance(next_move(gated), Finish)
    assert next_move(resumed(gated)) == RedoStep(0)


_STEPS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["pending", "running", "completed", "failed", "skipped"]),
        "failure_kind": st.sampled_from(["answer", "failure", "blocked", "limit", "cancelled", "setup"]),
        "retried": st.booleans(),
        "redone": st.booleans(),
        "passed_over": st.booleans(),
        "gate_passed": st.booleans(),
        "review": st.sampled_from(["", "running", "reviewed", "unreviewed"]),
        "analysis": st.sampled_from([None, LOW, CRITICAL]),
    }
)


@given(
    st.lists(_STEPS, min_size=1, max_size=5), st.booleans(), st.sampled_from(["", "gemini"]), st.booleans()
)
def test_every_state_comes_to_an_end(steps: list[Any], auto: bool, by: str, good: bool) -> None:  # noqa: FBT001 - drawn
    """With agents that always fail or always succeed, and a person who always retries nothing."""
    state = chain(*steps, auto_mode=auto, review_by=by, min_score=50)
    for _ in range(60):
        match next_move(state):
            case Finish():
                return
            case RunStep(index):
                after = DONE if good else {"status": "failed", "failure_kind": "answer"}
                state = with_step(state, index, after)
            case RetryStep(index):
                state = again(state, index, "Why.", retried=True)
            case RedoStep(index):
                state = again(state, index, "Why.", redone=True)
            case ReviewStep(index):
                state = with_step(state, index, {"review": "reviewed", "analysis": CRITICAL})
            case AskFailure(index):
                state = with_step(state, index, {"passed_over": True})
            case AskGate(index):
                state = with_step(state, index, {"gate_passed": True})
    pytest.fail("it goes on for ever")


@given(st.lists(_STEPS, min_size=1, max_size=5))
def test_the_file_holds_the_whole_state(steps: list[Any]) -> None:
    state = chain(*steps)
    assert parse_state(as_json(state), SESSION) == state


def test_a_state_of_another_chain_is_refused() -> None:
    with pytest.raises(InvalidInput, match="of another chain"):
        parse_state(as_json(chain({})), "coord-20260101000001")
    mixed = msgspec.structs.replace(chain({}, {}), steps=chain({}, {}).steps[::-1])
    with pytest.raises(InvalidInput, match="numbered"):
        parse_state(as_json(mixed), SESSION)
