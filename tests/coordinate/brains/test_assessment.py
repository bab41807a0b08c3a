"""What a model answered: either surely understood, or a failure with a sentence."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.coordinate.brains.support import ANSWER, CHOICE, PERMISSION, WORDS, case, told

from maestro.agents.questions import Question
from maestro.coordinate import Assessment, Spent
from maestro.coordinate.assessment import SCHEMA, parse_assessment

SPENT = Spent(calls=1, tokens=7)


def parsed(text: str, asked: Question = CHOICE) -> Assessment:
    return parse_assessment(text, "claude", case(asked), SPENT)


@pytest.mark.parametrize(
    "text",
    [
        told(),
        f"\n {told()}\n",
        f"```json\n{told()}\n```",
        f"```\n{told()}\n```",
        json.dumps(ANSWER, indent=2),
    ],
)
def test_the_one_object_is_taken(text: str) -> None:
    assert parsed(text) == Assessment(
        brain="claude",
        answer="Choose 2",
        confidence=0.9,
        categories=("test strategy",),
        can_be_undone=True,
        reasoning="It is small.",
        spent=SPENT,
    )


def test_none_is_said_and_not_left_out() -> None:
    assert parsed(told(categories=["None"])).categories == ()
    assert parsed(told(categories=["none", "spending"])).categories == ("spending",)
    assert "neither a category" in parsed(told(categories=[])).failed
    assert parsed(told(categories=["none"], canBeUndone=False)).can_be_undone is False


@pytest.mark.parametrize(
    "text",
    [
        "", "Choose 2", "null", "[]", "{}", told()[:-1], f"{told()}{told()}", f"Here it is: {told()}",
        f"```json\n{told()}\n```\nDone.", told(extra=1), told(answer=2), told(answer=None), told(confidence="0.9"),
        told(confidence=True), told(confidence=1.01), told(confidence=-0.1), told(confidence=math.nan),
        told(confidence=math.inf), told().replace("0.9", "1e999"), told(categories="spending"),
        told(categories=[1]), told(reasoning=[]), "[" * 100_000, '{"answer":' * 5_000, '{"x":' + "[" * 15_000,
        told(reasoning="x" * 30_000),
    ],
)  # fmt: skip
def test_anything_else_is_a_failure(text: str) -> None:
    found = parsed(text)
    assert found.failed
    assert (found.answer, found.confidence, found.categories, found.spent) == ("", 0.0, (), SPENT)
    assert len(found.failed) <= 400


@pytest.mark.parametrize("missing", list(ANSWER))
def test_every_field_is_needed(missing: str) -> None:
    assert parsed(json.dumps({k: v for k, v in ANSWER.items() if k != missing})).failed
    assert missing in SCHEMA["required"]


@pytest.mark.parametrize(
    ("asked", "answer", "outcome"),
    [
        (CHOICE, "Choose 2", "fits"),
        (CHOICE, "sqlite", "fits"),
        (CHOICE, "Choose 3", "fails"),
        (CHOICE, "Choose 1, 2", "fails"),
        (CHOICE, "MySQL", "fails"),
        (PERMISSION, "Choose 1", "fits"),
        (PERMISSION, "go ahead", "fails"),
        (WORDS, "notes.md", "fits"),
        (WORDS, "x" * 500, "fits"),
        (WORDS, "x" * 501, "fails"),
        (WORDS, "a\x1b[2Jb", "fails"),
        (WORDS, "a\u202eb", "fails"),
        (WORDS, "password=hunter22", "fails"),
        (Question("several", "", parts=(CHOICE, WORDS)), "Choose 1\nnotes.md", "fits"),
        (Question("several", "", parts=(CHOICE, WORDS)), "Choose 1", "fails"),
    ],
)
def test_the_answer_must_fit_the_question(asked: Question, answer: str, outcome: str) -> None:
    found = parsed(told(answer=answer), asked)
    assert bool(found.failed) == (outcome == "fails")
    assert found.answer == (answer if outcome == "fits" else "")


def test_no_answer_is_an_assessment() -> None:
    found = parsed(told(answer="  ", confidence=0.2))
    assert (found.failed, found.answer, found.confidence) == ("", "", 0.2)


def test_what_is_shown_to_people_is_safe_and_short() -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 5
    found = parsed(
        told(reasoning="x " * 480 + secret + " y" * 600, categories=["a\x1b[2Jb", " ", "a", "a", "c" * 300])
    )
    assert "A1b2" not in found.reasoning
    assert len(found.reasoning) <= 1000
    assert found.categories == ("ab", "a", "c" * 99 + "…")


def test_a_failure_does_not_tell_secrets_of_a_worker() -> None:
    found = parsed(json.dumps({"password=hunter22 sk-ant-api03-" + "A1b2C3d4" * 5: 1}))
    assert found.failed
    assert "A1b2" not in found.failed


WHATEVER: Any = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.fixed_dictionaries({}, optional=dict.fromkeys(ANSWER, WHATEVER)).map(json.dumps)


@given(st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", "surrogateescape")) | st.text() | OBJECTS)
@example("\ud800")
@example(told(answer="Choose 99999999999"))
def test_any_bytes_are_an_assessment(text: str) -> None:
    for asked in (CHOICE, PERMISSION, WORDS):
        found = parsed(text, asked)
        assert found.brain == "claude"
        assert 0.0 <= found.confidence <= 1.0
        if found.failed:
            assert found.answer == ""
