"""A review is what was asked for, or none; and what it says is data to the next step."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.chains.review import FORM, RULE, ReviewFault, fenced, hints_text, parse_review, redo_text
from maestro.chains.state import Analysis, Hints
from maestro.dispatch.rules import rule_named

GOOD: dict[str, Any] = {
    "quality_score": 85,
    "assessment": "Good.",
    "issues": [{"severity": "low", "description": "A typo."}],
    "next_step_hints": {"additions": ["Test it."], "cautions": [], "context": []},
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD, indent=2)}\n```",
        f"Here is my review:\n{json.dumps(GOOD)}\nQUALITY_SCORE: 85",
    ],
)
def test_a_review(text: str) -> None:
    told = parse_review(text)
    assert isinstance(told, Analysis)
    assert (told.quality_score, told.issues[0].severity) == (85, "low")
    assert told.next_step_hints.additions == ("Test it.",)


def test_the_rule_and_the_prompt_ask_for_the_same(place: Path) -> None:
    rule = rule_named(RULE, str(place), str(place)).text
    [form] = re.findall(r"^```json\n(.*?)\n```$", rule, re.DOTALL | re.MULTILINE)
    assert form == FORM
    assert rule.strip().endswith("```")  # nothing else is asked for behind it
    # And an answer of this form is a review.
    filled = form.replace("<whole number, 0 to 100>", "85").replace("critical|high|medium|low|info", "low")
    assert isinstance(parse_review(filled), Analysis)


@pytest.mark.parametrize(
    "change",
    [
        {"quality_score": 101},
        {"quality_score": -1},
        {"quality_score": "85"},
        {"quality_score": 85.5},
        {"quality_score": None},
        {"assessment": ""},
        {"issues": [{"severity": "grave", "description": "x"}]},
        {"issues": [{"severity": "low"}]},
        {"issues": None},
        {"next_step_hints": []},
    ],
)
def test_what_is_none(change: dict[str, Any]) -> None:
    assert isinstance(parse_review(json.dumps(GOOD | change)), ReviewFault)


@pytest.mark.parametrize("missing", list(GOOD))
def test_what_lacks_a_part(missing: str) -> None:
    told = parse_review(json.dumps({name: value for name, value in GOOD.items() if name != missing}))
    assert isinstance(told, ReviewFault)
    assert missing in told.words


@given(st.text())
def test_any_text_is_a_review_or_a_fault(text: str) -> None:
    assert isinstance(parse_review(text), ReviewFault)


def test_the_gravest_first_and_not_without_end() -> None:
    issues = [{"severity": "low", "description": "x" * 5000}] * 60 + [
        {"severity": "critical", "description": "y"}
    ]
    told = parse_review(json.dumps(GOOD | {"issues": issues}))
    assert isinstance(told, Analysis)
    assert told.issues[0].severity == "critical"
    assert len(told.issues) == 50
    assert len(told.issues[1].description) == 600


@given(st.text())
def test_no_hint_closes_its_fence(text: str) -> None:
    analysis = Analysis(
        quality_score=1, assessment=text, next_step_hints=Hints(additions=(text, f"\n```\n{text}"))
    )
    for shown in (hints_text(analysis), redo_text(analysis, "why")):
        assert [line for line in re.split(r"[\n\r]", shown) if re.match(r" {0,3}```", line)] == [
            "```json",
            "```",
        ]


@given(st.text(alphabet="`\na "))
def test_no_output_closes_its_fence(text: str) -> None:
    lines = fenced(text).split("\n")
    fence = lines[-1]
    assert set(fence) == {"`"}
    assert not any(line.strip().startswith(fence) for line in lines[1:-1])


def test_no_hints_are_none() -> None:
    assert hints_text(None) == ""
    assert hints_text(Analysis(quality_score=1, assessment="x")) == ""
