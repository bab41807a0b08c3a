"""Claude Code without a terminal, against a stub of its API."""

from __future__ import annotations

from tests.real.fleet import RealFleet
from tests.real.runs import steps
from tests.real.runs.steps import Habits
from tests.real.turns import Failure

HABITS = Habits("Bash", "command", Failure(429, "slow down"), tells_cost=True)


def test_run_with_a_tool(fleet: RealFleet) -> None:
    steps.success_with_a_tool(fleet, HABITS)


def test_analysis_writes_nothing(fleet: RealFleet) -> None:
    steps.analysis_writes_nothing(fleet, HABITS)


def test_a_resumed_session_counts_each_run(fleet: RealFleet) -> None:
    steps.a_resumed_session_counts_each_run(fleet)


def test_a_bad_request_fails(fleet: RealFleet) -> None:
    steps.a_bad_request_fails(fleet)


def test_a_limit_is_a_limit(fleet: RealFleet) -> None:
    steps.a_limit_is_a_limit(fleet, HABITS)


def test_a_broken_api(fleet: RealFleet) -> None:
    steps.a_broken_api_fails_or_runs_out_of_time(fleet, HABITS)


def test_silence_ends_at_the_deadline(fleet: RealFleet) -> None:
    steps.silence_ends_at_the_deadline(fleet)


def test_a_megabyte_arrives_whole(fleet: RealFleet) -> None:
    steps.a_megabyte_arrives_whole(fleet)
