"""What decides in a batch, without any process: names, retries, budget, changes, exit codes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.headless import ModelUsage
from maestro.dispatch.batch import Attempt, Found, exit_code
from maestro.dispatch.budget import Caps, Spent, exhausted, spent
from maestro.dispatch.changes import FileConflict, Interval, attributed, names_file
from maestro.dispatch.prompts import named, sanitized
from maestro.dispatch.retry import Again, Over, RetryPolicy, next_move, parsed_retries, resumed
from maestro.dispatch.runs import EXIT_CODES, RunResult, RunStatus
from maestro.errors import InvalidInput

NOW = 1_800_000_000_000
HOUR = 3_600_000
LIMIT: RunStatus = "limit"


def result(status: RunStatus = "success", **more: Any) -> RunResult:
    facts: dict[str, Any] = {
        "id": "r", "tool": "t", "status": status, "text": "", "error": "", "session_id": "", "usage": (),
        "cost_usd": None, "cost_is_estimate": False, "counts_session": False, "exit_code": 0, "signal": None,
        "started_at": NOW - 1000, "ended_at": NOW, "duration_ms": 1000,
    }  # fmt: skip
    return RunResult(**(facts | more))


def attempts(*statuses: RunStatus | None, **more: Any) -> list[Attempt]:
    return [
        Attempt(
            number=number,
            result=result(status, **more) if status else None,
            found=None if status else Found("died", NOW),
        )
        for number, status in enumerate(statuses, start=1)
    ]


@given(st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=12))
def test_results_never_share_a_name(stems: list[str]) -> None:
    files = [f"{stem}.txt" for stem in stems]
    try:
        found = named(files, {"coder"})
    except InvalidInput:
        assert any(not sanitized(stem) for stem in stems)
        return
    names = [one.name.lower() for one in found]
    assert len(set(names)) == len(names)
    assert "summary" not in names
    assert all(one.name == sanitized(one.name) for one in found)


@given(st.lists(st.sampled_from(["ab", "a.b", "a..b", "AB", "ab-2", "a.b.", "b"]), unique=True, min_size=1))
def test_names_stay_when_prompts_are_added(stems: list[str]) -> None:
    files = [f"{stem}.txt" for stem in stems]
    first = {one.file: one.name for one in named(files[: len(files) // 2], set())}
    second = {one.file: one.name for one in named(files, set(), taken=first)}
    assert first.items() <= second.items()
    assert len({name.lower() for name in second.values()}) == len(files)


def test_nothing_is_repeated_that_nobody_asked_for() -> None:
    for status in ("success", "failed", "timeout", "denied", "refused", "cancelled"):
        assert next_move(attempts(status), RetryPolicy(), NOW) == Over(status)


def test_retries_wait_longer_each_time() -> None:
    policy = RetryPolicy(retries={"failed": 2}, backoff_s=10)
    assert next_move([], policy, NOW) == Again(NOW)
    assert next_move(attempts("failed"), policy, NOW) == Again(NOW + 10_000)
    assert next_move(attempts("failed", "failed"), policy, NOW) == Again(NOW + 20_000)
    assert next_move(attempts("failed", "failed", "failed"), policy, NOW) == Over("failed")
    assert next_move(attempts("failed", "timeout"), policy, NOW) == Over("timeout")
    assert next_move(attempts("failed", "success"), policy, NOW) == Over("success")


def test_a_limit_is_waited_for_until_it_resets() -> None:
    policy = RetryPolicy()
    assert next_move(attempts("limit", resets_at=NOW + HOUR), policy, NOW) == Again(NOW + HOUR + 1000)
    assert next_move(attempts("limit"), policy, NOW) == Again(NOW + 60_000)
    assert next_move(attempts("limit", "limit"), policy, NOW) == Again(NOW + 120_000)
    assert next_move(attempts(*(LIMIT for _ in range(9))), policy, NOW) == Over("limit")
    assert next_move(attempts("limit", resets_at=NOW + 24 * HOUR), policy, NOW) == Over("limit")
    none = RetryPolicy(waits_for_limits=False)
    assert next_move(attempts("limit", resets_at=NOW + 1000), none, NOW) == Over("limit")


def test_going_on() -> None:
    policy = RetryPolicy()
    assert resumed(attempts("success"), policy, NOW, failed_too=True) == Over("success")
    assert resumed(attempts("failed"), policy, NOW, failed_too=False) == Over("failed")
    assert resumed(attempts("failed"), policy, NOW, failed_too=True) == Again(NOW)
    assert resumed(attempts("cancelled"), policy, NOW, failed_too=False) == Again(NOW)
    assert resumed(attempts(None), policy, NOW, failed_too=False) == Again(NOW)
    # A limit of yesterday is over; one of tomorrow is not waited for.
    none = RetryPolicy(waits_for_limits=False)
    assert resumed(attempts("limit", resets_at=NOW - HOUR), none, NOW, failed_too=False) == Again(NOW)
    assert resumed(attempts("limit", resets_at=NOW + HOUR), none, NOW, failed_too=False) == Over("limit")


def test_an_agent_that_brings_its_dispatcher_down_again_and_again_is_not_run_for_ever() -> None:
    assert next_move(attempts(*[None] * 9), RetryPolicy(), NOW) == Again(NOW)
    assert next_move(attempts(*[None] * 10), RetryPolicy(), NOW) == Over("failed")


@pytest.mark.parametrize(
    ("words", "said"), [(["2"], {"failed": 2}), (["timeout=1", "3"], {"timeout": 1, "failed": 3}), ([], {})]
)
def test_how_often(words: list[str], said: dict[str, int]) -> None:
    assert parsed_retries(words) == said


@pytest.mark.parametrize("word", ["", "x", "=", "=1", "limit=1", "-1", "1.5", "21", "failed=", "9" * 5000])
def test_how_often_said_wrongly(word: str) -> None:
    with pytest.raises(InvalidInput):
        parsed_retries([word])


def test_a_budget() -> None:
    usage = (ModelUsage("m", input=100, output=20, cached=5000, cache_write=30),)
    so_far = spent([result(usage=usage, cost_usd=0.25), result(usage=usage, cost_usd=0.5)])
    assert so_far == Spent(300, 0.75)
    assert exhausted(Caps(), so_far) == ""
    assert exhausted(Caps(301, 0.76), so_far) == ""
    assert exhausted(Caps(300), so_far) == "The batch has used 300 tokens; its budget is 300."
    assert exhausted(Caps(None, 0.75), so_far) == "The batch has cost $0.75; its budget is $0.75."
    unpriced = spent([result(usage=usage, id="x")])
    assert exhausted(Caps(1000), unpriced) == ""
    assert "What x cost is not known" in exhausted(Caps(None, 9.0), unpriced)


def test_who_changed_what() -> None:
    both, one = frozenset({"a", "b"}), frozenset({"a"})
    intervals = [
        Interval(one, frozenset({"alone.txt"})),
        Interval(both, frozenset({"src/named-by-a.txt", "both.txt", "nobody.txt"})),
        Interval(frozenset({"b"}), frozenset({"alone.txt"})),
        Interval(frozenset(), frozenset({"by-a-person.txt"})),
    ]
    named_files = {"a": frozenset({"src/named-by-a.txt", "both.txt"}), "b": frozenset({"both.txt"})}
    found = attributed(intervals, named_files)
    assert found.files == {
        "a": ("alone.txt", "both.txt", "src/named-by-a.txt"),
        "b": ("alone.txt", "both.txt"),
    }
    assert found.conflicts == (FileConflict("alone.txt", ("a", "b")), FileConflict("both.txt", ("a", "b")))
    assert found.unclear == (FileConflict("nobody.txt", ("a", "b")),)


def test_a_file_is_named_by_its_path_or_a_name_that_is_no_word() -> None:
    assert names_file("src/file-a.txt", b"... /home/x/src/file-a.txt ...")
    assert names_file("src/file-a.txt", b'{"file_path": "file-a.txt"}')
    assert not names_file("src/file-a.txt", b"file-b.txt")
    assert not names_file("src/test", b"I ran a test")


@pytest.mark.parametrize(
    ("status", "facts", "code"),
    [
        ("success", {"exit_code": None}, 0),  # it came to its end unseen
        ("timeout", {"exit_code": 0}, 124),
        ("failed", {"exit_code": 124}, 124),
        ("failed", {"exit_code": 0}, 1),
        ("failed", {"exit_code": None, "signal": 15}, 143),
        ("failed", {"exit_code": None}, 1),
        ("cancelled", {"exit_code": 0}, 130),
        ("denied", {"exit_code": 0}, EXIT_CODES["denied"]),
        ("limit", {"exit_code": 1}, 1),
    ],
)
def test_only_success_is_0(status: RunStatus, facts: dict[str, Any], code: int) -> None:
    assert exit_code(status, result(status, **facts)) == code
    assert exit_code("not_run", None) == 255
