"""Which questions are the same, which are alike, and which rule a human's answers add up to."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.questions import Option, Question, settled
from maestro.coordinate import ALLOWED, AnswerRule, Case, Earlier, Policy, PrecedentSettings
from maestro.coordinate.brains.rules import by_rules
from maestro.coordinate.precedent import fingerprint, offer, question_hash, rule_words, same_answer, similar
from maestro.ledger.facts import Precedent

YES_NO = (Option("Yes"), Option("No"))
CHOICE = Question(
    kind="choice",
    text="Should I keep 3 copies of src/Main.py in the backup?",
    options=(Option("Yes", "Keep them"), Option("No"), Option("Other", is_free_text=True)),
    header="Copies",
    preamble="I have looked.",
)
PERMISSION = Question(
    kind="permission",
    text="Do you want to proceed?",
    tool="Bash",
    detail="pytest -q tests/unit",
    options=(Option("Yes"), Option("Yes, and don't ask again", is_lasting=True), Option("No")),
)
PLAN = Question(kind="plan", text="Ready to code?", detail="1. Write it\n2. Test it", options=YES_NO)
SEVERAL = Question(
    kind="several",
    text="",
    parts=(
        CHOICE,
        Question(kind="multi_choice", text="Which checks run?", options=(Option("lint"), Option("types"))),
    ),
)
WORDS = Question(kind="free_text", text="What is the new module's name?")


def but(asked: Question, **fields: Any) -> Question:
    return msgspec.structs.replace(asked, **fields)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CHOICE, but(CHOICE, text="  should I keep 3\n copies of src/Main.py in the backup? ")),
        (CHOICE, but(CHOICE, preamble="Something else was said.")),
        (
            CHOICE,
            but(
                CHOICE,
                options=(Option("Yes", "Keep them", number=1, is_current=True), *CHOICE.options[1:]),
            ),
        ),
        (SEVERAL, but(SEVERAL, position=1)),
        (PERMISSION, but(PERMISSION, detail=" pytest -q tests/unit\n")),
        (WORDS, but(WORDS, stage="typing", typed="abc")),
    ],
)
def test_the_same_question(one: Question, other: Question) -> None:
    assert fingerprint(one) == fingerprint(other) != ""
    assert question_hash(one) == question_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("3", "4"))),
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("Main", "main"))),
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("src/", "lib/"))),
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("keep", "not keep"))),
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("3 copies", "3copies"))),
        (CHOICE, but(CHOICE, text=CHOICE.text.replace("a", "\u0430", 1))),
        (CHOICE, but(CHOICE, text=CHOICE.text + "\u200b")),
        (CHOICE, but(CHOICE, kind="multi_choice")),
        (CHOICE, but(CHOICE, header="Other copies")),
        (CHOICE, but(CHOICE, options=CHOICE.options[:2])),
        (CHOICE, but(CHOICE, options=(CHOICE.options[1], CHOICE.options[0], CHOICE.options[2]))),
        (CHOICE, but(CHOICE, options=(Option("Yes", "Delete them"), *CHOICE.options[1:]))),
        (CHOICE, but(CHOICE, options=(Option("yes", "Keep them"), *CHOICE.options[1:]))),
        (CHOICE, but(CHOICE, options=(Option("Yes", "Keep them", is_lasting=True), *CHOICE.options[1:]))),
        (PERMISSION, but(PERMISSION, detail="pytest -q tests/unit2")),
        (PERMISSION, but(PERMISSION, detail="pytest  -q tests/unit")),
        (PERMISSION, but(PERMISSION, detail="pytest -Q tests/unit")),
        (PERMISSION, but(PERMISSION, tool="Write")),
        (PLAN, but(PLAN, detail="1. Write it\n2. Ship it")),
        (SEVERAL, but(SEVERAL, parts=SEVERAL.parts[:1])),
        (SEVERAL, but(SEVERAL, parts=SEVERAL.parts[::-1])),
    ],
)
def test_another_question(one: Question, other: Question) -> None:
    assert fingerprint(one) != fingerprint(other)
    assert question_hash(one) != question_hash(other)


@pytest.mark.parametrize(
    "asked",
    [
        but(PERMISSION, detail=""),
        but(PLAN, detail=" "),
        but(PERMISSION, detail="echo a; echo b …"),
        but(PERMISSION, detail="cat <<EOF\n… +12 lines"),
        but(PERMISSION, detail="export TOKEN=[redacted]"),
        but(CHOICE, text="Should I keep the copies of the…"),
        but(CHOICE, options=(Option("Keep [redacted]"), Option("No"))),
        but(SEVERAL, parts=(CHOICE, Question(kind="choice", text=""))),
        Question(kind="choice", text="", options=YES_NO),
        Question(kind="choice", text="Proceed?", options=YES_NO),
        Question(kind="choice", text="Should I go ahead with the plan?", options=YES_NO),
        Question(kind="choice", text="Shall I delete it?", options=YES_NO),
        Question(kind="free_text", text="What should I do next?"),
    ],
)
def test_what_is_not_all_there_is_like_nothing(asked: Question) -> None:
    assert fingerprint(asked) == ""
    assert re.fullmatch("[0-9a-f]{64}", question_hash(asked)), "but it has words that can come again"


def test_a_command_may_end_in_dots() -> None:
    assert fingerprint(but(PERMISSION, tool="Bash", detail="go test ./...")) != ""


def test_a_question_that_points_back_is_the_same_only_with_what_it_points_at() -> None:
    asked = Question(kind="choice", text="Proceed?", options=YES_NO, preamble="I will run the tests.")
    other = but(asked, preamble="I will drop the table.")
    assert fingerprint(asked) == fingerprint(but(asked, preamble=" I will run  the tests.")) != ""
    assert fingerprint(asked) != fingerprint(other)
    assert question_hash(asked) == question_hash(other), "whoever asks it for ever is noticed all the same"


@given(st.text(max_size=40), st.text(max_size=40), st.lists(st.text(max_size=8), max_size=3))
def test_any_question_has_words(text: str, detail: str, labels: list[str]) -> None:
    asked = Question(kind="choice", text=text, detail=detail, options=tuple(map(Option, labels)))
    assert question_hash(asked) == question_hash(settled(asked))
    assert fingerprint(asked) == fingerprint(settled(asked))


def test_alike() -> None:
    def earlier(name: str, question: str, at: int = 0) -> Earlier:
        return Earlier(name, question, "Choose 1", "human", at)

    known = [
        earlier("far", "Which colour has the sky?"),
        earlier("near", "Should I keep copies of src/Main.py?"),
        earlier("nearer", "Should I keep 4 copies of src/Main.py in the backup?"),
        earlier("nearer, later", "Should I keep 4 copies of src/Main.py in the backup?", 9),
        earlier("none", "Und?"),
        earlier("empty", ""),
    ]
    found = [one.id for one in similar(CHOICE, known)]
    assert found == ["nearer, later", "nearer", "near", "far"]
    assert [one.id for one in similar(CHOICE, known, most=1)] == ["nearer, later"]
    assert similar(CHOICE, known, most=0) == similar(CHOICE, ()) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Choose 1", "yes", True),
        ("Choose 1", "choose 1: because it is better", True),
        ("Choose 1", "Choose 2", False),
        ("Choose 1", "something else", False),
        ("Keep  two", "keep two", True),
        ("Choose 9", "Choose 9", True),
        ("Choose 9", "Choose 8", False),
    ],
)
def test_the_same_answer(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - a table's column
    assert same_answer(CHOICE, one, other) is same
    assert same_answer(CHOICE, other, one) is same


def test_the_same_answer_to_several_and_in_words() -> None:
    assert same_answer(SEVERAL, "Yes; Choose 2, 1", "Choose 1\nChoose 1, 2")
    assert not same_answer(SEVERAL, "Yes; Choose 2, 1", "Yes; Choose 2")
    assert not same_answer(WORDS, "choose 10 rows", "choose 10 columns")


# Rules.


def precedent(asked: Question, answer: str, **fields: Any) -> Precedent:
    known: dict[str, Any] = {
        "id": "prec_1",
        "project_id": "proj_1",
        "fingerprint": fingerprint(asked),
        "kind": asked.kind,
        "question": rule_words(asked),
        "options": tuple(option.label for option in asked.options),
        "answer": answer,
        "decision_id": None,
        "created_at": 1,
        "expires_at": 2,
        "answers": 3,
        "uses": 0,
        "used_at": None,
        "forgotten_at": None,
        **fields,
    }
    return Precedent(**known)


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        (CHOICE, "Choose 2", "No"),
        (CHOICE, "Keep (some) of them*", "Keep (some) of them*"),
        (PERMISSION, "Choose 1", "Yes"),
        (WORDS, "parser", "parser"),
        (but(CHOICE, text="Use  Ünïcode.*?"), "yes", "yes"),
    ],
)
def test_the_rule_that_is_offered_answers_this_question_and_no_other(
    asked: Question, answer: str, told: str
) -> None:
    rule = offer(precedent(asked, answer), PrecedentSettings())
    assert rule is not None
    assert (rule.answer, rule.kinds) == (told, (asked.kind,))
    assert by_rule(rule, asked) == told
    if asked.kind == "permission":
        assert by_rule(rule, but(asked, detail=f"{asked.detail} && git push")) == ""
    else:
        assert by_rule(rule, but(asked, text=f"{asked.text} And push?")) == ""


def test_the_rule_that_is_offered_is_for_the_tool_that_asked() -> None:
    reads = but(PERMISSION, tool="Read", detail="/srv/notes.txt")
    rule = offer(precedent(reads, "Choose 1"), PrecedentSettings(), reads.tool)
    assert rule is not None
    assert by_rule(rule, reads) == "Yes"
    for tool in ("Write", "Bash", ""):
        assert by_rule(rule, but(reads, tool=tool)) == "", "to read a file is not to write it"


def by_rule(rule: AnswerRule, asked: Question) -> str:
    case = Case("sess_1", "Main", "claude", "ques_1", 1, asked, ALLOWED)
    return by_rules(case, Policy(rules=(rule,))).answer


@pytest.mark.parametrize(
    ("asked", "answer", "fields"),
    [
        (CHOICE, "Choose 1", {"answers": 2}),
        (CHOICE, "Choose 1", {"forgotten_at": 5}),
        (CHOICE, "Choose 9", {}),
        (CHOICE, "Choose 1, 2", {}),
        (CHOICE, "Choose 1", {"options": ("Yes", "Yes")}),
        (PLAN, "Choose 1", {}),
        (SEVERAL, "Choose 1; Choose 1", {}),
        (but(CHOICE, text="Proceed?"), "Choose 1", {}),
        (CHOICE, "Choose 1", {"question": "Use [redacted]?"}),
        (CHOICE, "Choose 1", {"question": "x" * 2000}),
        (CHOICE, "Choose 1", {"question": ""}),
    ],
)
def test_where_no_rule_is_offered(asked: Question, answer: str, fields: dict[str, Any]) -> None:
    assert offer(precedent(asked, answer, **fields), PrecedentSettings()) is None


def test_after_how_many_answers_is_a_setting() -> None:
    known = precedent(CHOICE, "Choose 1", answers=1)
    assert offer(known, PrecedentSettings(offer_rule_after=1)) is not None
    assert offer(known, PrecedentSettings(offer_rule_after=0)) is None
