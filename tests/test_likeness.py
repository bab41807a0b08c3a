"""What a text is most like, by the tables of words that come with the package."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package
from tests.chains.support import wording as of_intents

from maestro.agents.questions import Option, Question
from maestro.chains.routing.likeness import ASK, features
from maestro.chains.routing.route import clues
from maestro.coordinate.gate.check import as_question
from maestro.coordinate.gate.likeness import GRAVE, HARMLESS, how_grave
from maestro.coordinate.gate.likeness import features as of_question
from maestro.coordinate.gate.likeness_file import wording as of_questions
from maestro.errors import InvalidInput
from maestro.likeness import EACH, Weights, fingerprint, liken, neighbours, parse_weights, weights_text

EXAMPLES = Path(__file__).parents[1] / "scripts" / "fit"
TABLES = [("maestro.chains.routing", "intents.jsonl"), ("maestro.coordinate.gate", "questions.jsonl")]


@pytest.mark.parametrize(("folder", "examples"), TABLES)
def test_a_table_is_fitted_to_the_examples_as_they_are(folder: str, examples: str) -> None:
    told = hashlib.sha256((EXAMPLES / examples).read_bytes()).hexdigest()
    table = (files(folder) / "likeness.tsv").read_text(encoding="utf-8")
    assert told in table.splitlines()[0], "`make fit` fits it anew"


def test_a_table_is_fitted_to_the_examples_as_they_are_read() -> None:
    """A change of the patterns, or of what counts as a word, needs a new one."""
    intents = [json.loads(line) for line in (EXAMPLES / "intents.jsonl").read_text().splitlines()]
    asked = [json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text().splitlines()]
    read = {
        "maestro.chains.routing": [clues(row["intent"]) for row in intents[::EACH]],
        "maestro.coordinate.gate": [
            of_question(as_question(row), row.get("proposed", "")) for row in asked[::EACH]
        ],
    }
    for folder, texts in read.items():
        first = (files(folder) / "likeness.tsv").read_text(encoding="utf-8").splitlines()[0]
        assert f"read as {fingerprint(texts)}" in first, "`make fit` fits it anew"


def test_no_test_of_routing_or_gate_was_fitted_to() -> None:
    """What the tests hold out as unseen is not among the examples."""
    here = Path(__file__).parent
    held_out = [
        json.loads(line)
        for name in ("intents_everyday.jsonl", "intents_unusual.jsonl")
        for line in (here / "chains" / name).read_text().splitlines()
    ]
    fitted = {
        json.loads(line)["intent"].casefold()
        for line in (EXAMPLES / "intents.jsonl").read_text().splitlines()
    }
    assert not {row["intent"].casefold() for row in held_out} & fitted
    tables = here / "coordinate" / "gate" / "tables"
    asked = [
        json.loads(line)["question"]
        for path in tables.glob("held_out_*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert asked
    known = {
        json.loads(line).get("question") for line in (EXAMPLES / "questions.jsonl").read_text().splitlines()
    }
    assert not set(asked) & known


def test_every_chain_is_in_the_table_of_intents() -> None:
    assert set(of_intents().names) == {*package().chains, ASK}


def test_grave_and_harmless_are_in_the_table_of_questions() -> None:
    assert of_questions().names == (HARMLESS, GRAVE)


def test_words_speak_for_a_chain() -> None:
    found = liken(features("untangle the session code, behaviour must stay the same"), of_intents())
    assert found is not None
    assert (found.name, found.share > 0.5) == ("refactor", True)
    assert any("untangle" in word for word in found.by)


def test_words_speak_for_gravity() -> None:
    asked = Question(
        "choice", "Who should be able to see the salaries?", (Option("Everyone"), Option("HR only"))
    )
    assert how_grave(asked, "", of_questions()) is not None
    named = Question("choice", "What should the helper be called?", (Option("parse_row"), Option("read_row")))
    assert how_grave(named, "", of_questions()) is None


def test_names_of_issues_and_files_are_alike() -> None:
    assert features("fix #12 in src/a.py") == features("fix issue 77 in lib/other.ts")
    assert "isid" in features("look at ISSUE-20260131-002")


def test_what_has_no_known_word_is_like_nothing() -> None:
    assert liken([], of_intents()) is None
    assert liken(["xqzv"], of_intents()) is None
    assert liken(["add"], Weights()) is None


def test_neighbours_know_the_first_and_the_last() -> None:
    assert neighbours(["a", "b"]) == ["a", "b", "^ a", "a b", "b $"]


def test_a_table_is_read_as_it_is_written() -> None:
    table = Weights(
        ("ask", "plan"), (0.5, -0.25), {"# ?": 1.5, "draw up": 2.25}, {"# ?": (), "draw up": ((1, 31),)}
    )
    assert parse_weights(weights_text(table, "by hand")) == table


@pytest.mark.parametrize(
    "text", ["", "# x", "# x\nask=0.1\nword\t1.0\tplan:5", "# x\nask=x", "# x\nask=0.1\nword\t1.0"]
)
def test_a_damaged_table_is_told(text: str) -> None:
    with pytest.raises(InvalidInput, match="damaged"):
        parse_weights(text)


@given(st.text(max_size=4000))
def test_any_text_has_a_share_between_none_and_all(text: str) -> None:
    asked = Question("free_text", text, ())
    for words, table in ((features(text), of_intents()), (of_question(asked, text), of_questions())):
        found = liken(words, table)
        if found is not None:
            assert found.name in table.names
            assert 0 < found.share <= 1
