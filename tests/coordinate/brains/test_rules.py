"""The brain without a model: what the human wrote, in that order, and nothing else."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from tests.coordinate.brains.support import CHOICE, PERMISSION, WORDS, case

from maestro.agents.questions import Question
from maestro.coordinate import AnswerRule, Assessment, BrainSettings, Policy
from maestro.coordinate.brains import brain_named
from maestro.coordinate.brains.rules import by_rules


def answered(asked: Question, *rules: AnswerRule) -> Assessment:
    return by_rules(case(asked), Policy(rules=rules))


def test_the_first_rule_that_matches_answers() -> None:
    found = answered(
        CHOICE,
        AnswerRule("which queue.*", "Choose 1"),
        AnswerRule("which database.*", "SQLite", name="small"),
        AnswerRule(".*", "Choose 1"),
    )
    assert (found.answer, found.confidence, found.reasoning) == ("SQLite", 1.0, "The rule “small” matches.")


def test_no_rule_no_answer() -> None:
    found = answered(CHOICE, AnswerRule("database", "Choose 1"))
    assert (found.answer, found.confidence, found.reasoning) == ("", 0.0, "No rule matches.")
    assert answered(CHOICE).reasoning == "No rule matches."


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("npm test", "Choose 1"),
        ("npm test; rm -rf /", ""),
        ("npm test\nrm x", ""),
        ("nрm test", ""),  # noqa: RUF001 - a look-alike
        ("NPM test", ""),
    ],
)
def test_a_permission_is_its_command_to_the_letter(command: str, answer: str) -> None:
    asked = msgspec.structs.replace(PERMISSION, detail=command)
    rules = (AnswerRule("npm test", "Choose 1"), AnswerRule(".*proceed.*", "Choose 1"))
    assert answered(asked, *rules).answer == answer


def test_kinds_narrow_a_rule() -> None:
    rule = AnswerRule(".*", "Choose 1", kinds=("plan",))
    assert answered(CHOICE, rule).answer == ""
    assert answered(msgspec.structs.replace(CHOICE, kind="plan"), rule).answer == "Choose 1"


def test_text_is_matched_as_a_reader_takes_it() -> None:
    asked = msgspec.structs.replace(CHOICE, text="Which\n  d\u200bаtabase?")  # noqa: RUF001 - a look-alike
    assert answered(asked, AnswerRule("which database\\?", "Choose 1")).answer == "Choose 1"


def test_an_answer_that_does_not_fit_is_a_failure() -> None:
    assert "does not fit" in answered(CHOICE, AnswerRule(".*", "Choose 7")).failed


def test_a_broken_pattern_is_a_failure() -> None:
    assert "number 1 cannot be read" in answered(CHOICE, AnswerRule("(", "Choose 1")).failed


def test_a_rule_may_leave_it_to_the_human() -> None:
    found = answered(CHOICE, AnswerRule(".*database.*", ""), AnswerRule(".*", "Choose 1"))
    assert (found.answer, found.failed) == ("", "")


def test_a_text_too_long_to_be_matched_is_like_no_rule() -> None:
    assert answered(msgspec.structs.replace(WORDS, text="x" * 5000), AnswerRule("x+", "y")).answer == ""


def test_by_their_names() -> None:
    policy = Policy(rules=(AnswerRule(".*", "Choose 1"),))
    rules = brain_named(BrainSettings(kind="rules"), {}, "/nowhere")
    nothing = brain_named(BrainSettings(kind="none"), {}, "/nowhere")
    assert asyncio.run(rules.assess(case(), policy)).answer == "Choose 1"
    told = asyncio.run(nothing.assess(case(), policy))
    assert (nothing.name, told.answer, told.confidence, told.failed) == ("none", "", 0.0, "")
