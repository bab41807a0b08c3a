"""Who needs no look: a worker at rest that owes nothing, for as long as nothing of it changes, and not for ever."""

from __future__ import annotations

import msgspec
import pytest
from tests.coordinate.test_attention import NOW, digest, stuck, task
from tests.coordinate.test_overview import session

from maestro.agents.screen import Screen, ScreenState
from maestro.coordinate.resting import LOOK_AGAIN_AFTER, Rest, Trace, is_at_rest, needs_look
from maestro.ledger.facts import Session, Task, TaskStatus
from maestro.observe.status import Status

IDLE = Screen("idle", "")


def trace(*tasks: Task, worker: Session | None = None, log: tuple[int, int] = (10, 1)) -> Trace:
    return Trace(worker or session("w1", mode="default"), tasks, log)


@pytest.mark.parametrize("status", ["finished", "interrupted"])
def test_whoever_has_ended_its_turn_and_owes_nothing_rests(status: Status) -> None:
    assert is_at_rest(trace(), digest(status=status), IDLE)
    assert is_at_rest(trace(task("completed")), digest(status=status), IDLE)


@pytest.mark.parametrize("status", ["in_progress", "blocked", "pending"])
def test_a_task_that_is_not_through_may_become_trouble(status: TaskStatus) -> None:
    assert not is_at_rest(trace(task("completed"), task(status)), digest(status="finished"), IDLE)


@pytest.mark.parametrize("status", ["working", "thinking", "asking", "failed", "retrying", "unknown"])
def test_whoever_works_asks_or_has_failed_does_not_rest(status: Status) -> None:
    assert not is_at_rest(trace(), digest(status=status), IDLE)


@pytest.mark.parametrize("state", ["working", "limit", "error", "unknown"])
def test_what_the_screen_shows_counts(state: ScreenState) -> None:
    assert not is_at_rest(trace(), digest(status="finished"), Screen(state, ""))
    assert not is_at_rest(trace(), digest(status="finished"), None)


def test_whoever_is_stuck_does_not_rest() -> None:
    assert not is_at_rest(trace(), digest(stuck("finished"), status="finished"), IDLE)


def test_of_a_pane_that_maestro_did_not_start_tmux_tells_nothing() -> None:
    assert not is_at_rest(trace(worker=session("w1", mode=None)), digest(status="finished"), IDLE)


def test_it_is_looked_at_when_anything_changes_and_after_a_while() -> None:
    seen = trace(task("completed"))
    rest = Rest(NOW, seen)
    assert needs_look(None, seen, NOW)
    assert not needs_look(rest, trace(task("completed")), NOW + LOOK_AGAIN_AFTER - 1)
    assert needs_look(rest, seen, NOW + LOOK_AGAIN_AFTER)
    assert needs_look(rest, seen, NOW - LOOK_AGAIN_AFTER), "the clock was set back"
    assert needs_look(rest, msgspec.structs.replace(seen, log=(11, 1)), NOW)
    assert needs_look(rest, msgspec.structs.replace(seen, log=(10, 2)), NOW)
    assert needs_look(rest, trace(task("completed"), task("pending")), NOW)
    failed = session("w1", "failed", mode="default")
    assert needs_look(rest, trace(task("completed"), worker=failed), NOW)
