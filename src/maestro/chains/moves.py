"""What a chain does next, from its state alone. Pure and total; to resume is to ask again.

a step is pending or runs        run it (or go on waiting for it); its tool is at a limit: pause
it completed                     review it (a limit pauses that, too), then the gate, then the next step
it failed                        once again by itself, else ask; nobody there: stop
none is left                     finish
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from maestro.chains.state import ChainState, ChainStatus, FailureKind, StepRecord, with_step
from maestro.dispatch.retry import RetryPolicy, can_wait

FailureChoice = Literal["retry", "skip", "abort"]
GateChoice = Literal["redo", "go_on", "stop"]

_MENDED_BY_ASKING_AGAIN: Final[tuple[FailureKind, ...]] = ("answer", "failure")


class RunStep(msgspec.Struct, frozen=True):
    index: int


class Pause(msgspec.Struct, frozen=True):
    """The tool of the step, or of its review, is at a limit. That is no failure: it is run when the limit ends."""

    index: int
    until: int  # milliseconds since 1970
    review: bool = False


class RetryStep(msgspec.Struct, frozen=True):
    """By itself, with what was wrong with the last attempt."""

    index: int


class ReviewStep(msgspec.Struct, frozen=True):
    index: int


class RedoStep(msgspec.Struct, frozen=True):
    """By itself, with what its review said."""

    index: int


class AskFailure(msgspec.Struct, frozen=True):
    index: int


class AskGate(msgspec.Struct, frozen=True):
    index: int
    why: str


class Finish(msgspec.Struct, frozen=True):
    status: ChainStatus
    why: str = ""


Move = RunStep | Pause | RetryStep | ReviewStep | RedoStep | AskFailure | AskGate | Finish


def next_move(state: ChainState) -> Move:
    for step in state.steps:
        move = _of_step(state, step)
        if move is not None:
            return move
    failed = [str(step.number) for step in state.steps if step.status == "failed"]
    if failed:
        return Finish("failed", f"Step {', '.join(failed)} failed, and the chain went on without.")
    return Finish("completed")


def _of_step(state: ChainState, step: StepRecord) -> Move | None:
    match step.status:
        case "running":
            return RunStep(step.index)
        case "pending":
            over = over_budget(state)
            if over:
                return Finish("stopped", over)
            until = state.paused_until
            return RunStep(step.index) if until is None else Pause(step.index, until)
        case "failed":
            return None if step.passed_over else _after_failure(state, step)
        case "completed":
            return _after_success(state, step)
        case "skipped":
            return None


def _after_failure(state: ChainState, step: StepRecord) -> Move:
    # An answer that is no result is asked for once more, whether somebody is there or not.
    unheard = not step.retried and step.failure_kind in _MENDED_BY_ASKING_AGAIN
    if unheard and (state.auto_mode or step.failure_kind == "answer"):
        over = over_budget(state)
        return Finish("stopped", over) if over else RetryStep(step.index)
    if state.auto_mode:
        return Finish("failed", f"Step {step.number} ({step.cmd}) failed: {step.failure}")
    return AskFailure(step.index)


def _after_success(state: ChainState, step: StepRecord) -> Move | None:
    if wants_review(state, step):
        until = state.paused_until
        return ReviewStep(step.index) if until is None else Pause(step.index, until, review=True)
    why = gate(state, step)
    if not why:
        return None
    if not state.auto_mode:
        return AskGate(step.index, why)
    if step.redone:
        return Finish("stopped", f"Step {step.number} ({step.cmd}) was done twice, and still {why}.")
    over = over_budget(state)
    return Finish("stopped", over) if over else RedoStep(step.index)


def wants_review(state: ChainState, step: StepRecord) -> bool:
    return bool(state.review_by) and len(state.steps) > 1 and step.review in ("", "running")


def gate(state: ChainState, step: StepRecord) -> str:
    """Why the chain may not go on behind this step without a word; empty: it may. No review is no gate."""
    if step.analysis is None or step.gate_passed:
        return ""
    critical = sum(issue.severity == "critical" for issue in step.analysis.issues)
    if critical:
        return f"its review found {critical} critical issue{'s' if critical > 1 else ''}"
    score = step.analysis.quality_score
    if state.min_score is not None and score < state.min_score:
        return f"its review gave {score} of 100, under {state.min_score}"
    return ""


def over_budget(state: ChainState) -> str:
    cost = state.spent.cost_usd or 0.0
    if state.budget_usd is None or cost < state.budget_usd:
        return ""
    return f"${cost:.2f} of the budget of ${state.budget_usd:.2f} are spent."


def waits(state: ChainState, until: int, now: int) -> bool:
    """Whether a chain that nobody watches waits for a limit to end, as a batch would; else it ends, to go on later."""
    return state.auto_mode and can_wait(until, now, RetryPolicy())


def ends_pause(state: ChainState, *, other_tool: bool, other_reviewer: bool) -> bool:
    """Whether what a person names now is tried at once, whatever limit the last one was at."""
    match next_move(state):
        case Pause(review=True):
            return other_reviewer
        case Pause():
            return other_tool
    return False


def again(state: ChainState, index: int, complaint: str, **more: Any) -> ChainState:
    """The step is to be done once more; its runs, and what they cost, stay on record."""
    changes = {
        "status": "pending",
        "exec_id": None,
        "analysis": None,
        "complaint": complaint,
        "failure": "",
        "failure_kind": "",
        "review": "",
        "review_id": None,
        "review_runs": 0,
        "review_limits": 0,
        "review_complaint": "",
        **more,
    }
    return with_step(state, index, changes)


def resumed(state: ChainState) -> ChainState:
    """As it goes on when a person says so: what stopped it gets another chance, with one retry of its own."""
    for step in state.steps:
        if step.status == "failed" and not step.passed_over:
            complaint = step.complaint or step.failure
            return again(_running(state), step.index, complaint, retried=False, limits=0)
        if step.status == "completed" and gate(state, step):
            state = with_step(state, step.index, {"redone": False})
    return _running(state)


def _running(state: ChainState) -> ChainState:
    return msgspec.structs.replace(state, status="running", error="")
