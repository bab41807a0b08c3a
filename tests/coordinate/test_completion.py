"""“It is done”, held against the evidence: what counts for it, what against it, and what tells nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.coordinate.completion import Completion, Work, check_completion

SECRET = "sk-ant-api03-" + "a1B2" * 10


def check(**known: Any) -> Completion:
    return check_completion(Work(**known))


def stand(source: str, **known: Any) -> str:
    return next((point.stand for point in check(**known).points if point.source == source), "")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"status": "finished"}, "agrees"),
        ({"status": "working"}, "cannot tell"),
        ({"status": "working", "is_own_word": False}, "disagrees"),
        ({"status": "background", "is_own_word": False}, "disagrees"),
        ({"status": "failed"}, "disagrees"),
        ({"status": "limited"}, "disagrees"),
        ({"status": "finished", "question": "Which one?"}, "disagrees"),
        ({"status": "unknown"}, "cannot tell"),
        ({"status": ""}, "cannot tell"),
    ],
)
def test_what_its_status_says(known: dict[str, Any], expected: str) -> None:
    assert stand("status", **known) == expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"changed": ("a.py",), "has_worktree": True}, "agrees"),
        ({"changed": (), "has_worktree": True}, "disagrees"),
        ({"changed": ("a.py",)}, "agrees"),
        ({"changed": ()}, "cannot tell"),
        ({"changed": None}, "cannot tell"),
    ],
)
def test_what_its_files_say(known: dict[str, Any], expected: str) -> None:
    assert stand("changes", **known) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2 tests still fail.",
        "I could not reproduce it.",
        "I couldn\u2019t run the tests.",
        "The build does not compile.",
        "Done, but the suite is still failing.",
        "The migration is not yet implemented.",
        "3 failed, 12 passed.",
        "I'm stuck on the schema. Everything else is in place.",
        "I gave up on the parser.",
        "Everything is in place, without running the tests.",
        "Shall I also update the docs?",
        "Please confirm that this is what you want.",
        "Let me know which one you prefer.",
    ],
)
def test_words_against_it(text: str) -> None:
    assert stand("last text", last_text=text) == "disagrees"


@pytest.mark.parametrize(
    "text",
    [
        "All 12 tests pass.",
        "Fixed the failing test; no test fails any more.",
        "0 failed, 12 passed.",
        "There are no errors left.",
        "I fixed the error in the parser.",
        "The error handling is complete.",
        "What was wrong? The pattern. It is fixed.",
        "Added a test for the failure case.",
    ],
)
def test_words_that_are_not_against_it(text: str) -> None:
    assert stand("last text", last_text=text) == "agrees"


@pytest.mark.parametrize(
    ("message", "text", "expected"),
    [
        ("Fixed; 12 tests pass", "", "agrees"),
        ("", "pytest: 12 passed.", "agrees"),
        ("Done", "I ran the server and looked at the page.", "agrees"),
        ("Done", "It is in place.", "cannot tell"),
        ("", "", "cannot tell"),
    ],
)
def test_whether_it_says_how_it_was_checked(message: str, text: str, expected: str) -> None:
    assert stand("checks", message=message, last_text=text) == expected


def test_open_matters_are_against_it() -> None:
    found = check(status="finished", left=("“Whole” has open subtasks.",), busy_children=2, waits_for_human=1)
    assert not found.agrees
    assert found.disagreement == (
        "“Whole” has open subtasks. It has 2 workers still at work. It has 1 matter waiting for the human."
    )
    assert check(status="finished").agrees


def test_many_files_are_counted_and_few_are_named() -> None:
    [point] = [
        one for one in check(changed=tuple("abcde"), has_worktree=True).points if one.source == "changes"
    ]
    assert point.says == "5 files changed in its worktree: a, b, c and 2 more."


def test_nothing_secret_is_told() -> None:
    told = repr(
        check(last_text=f"I could not use {SECRET}.", message=SECRET, question=SECRET, changed=(SECRET,))
    )
    assert SECRET not in told


@given(st.text(max_size=400), st.text(max_size=200), st.text(max_size=20))
def test_any_words_get_a_verdict(text: str, message: str, status: str) -> None:
    found = check(last_text=text, message=message, status=status)
    assert found.agrees == (found.disagreement == "")
    assert all(point.says and len(point.says) < 300 for point in found.points)
