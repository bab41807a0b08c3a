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

from maestro.chains.routing.likeness import ASK, features
from maestro.chains.routing.route import clues
from maestro.errors import InvalidInput
from maestro.likeness import EACH, Weights, fingerprint, liken, neighbours, parse_weights, weights_text

EXAMPLES = Path(__file__).parents[1] / "scripts" / "fit"


def test_the_table_is_fitted_to_the_examples_as_they_are_and_as_they_are_read() -> None:
    """A change of the examples, of the patterns, or of what counts as a word, needs a new one."""
    examples = EXAMPLES / "intents.jsonl"
    intents = [json.loads(line) for line in examples.read_text().splitlines()]
    first = (files("maestro.chains.routing") / "likeness.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert hashlib.sha256(examples.read_bytes()).hexdigest() in first, "`make fit` fits it anew"
    texts = [clues(row["intent"]) for row in intents[::EACH]]
    assert f"read as {fingerprint(texts)}" in first, "`make fit` fits it anew"


@pytest.mark.parametrize("table", ["everyday", "unusual", "first_round", "second_round"])
def test_no_row_of_a_test_table_was_fitted_to(table: str) -> None:
    """`first_round` and `second_round` were written on 2026-11-18 by two strangers, who saw neither code nor examples."""
    held_out = (Path(__file__).parent / "chains" / f"intents_{table}.jsonl").read_text().splitlines()
    fitted = {_folded(line) for line in (EXAMPLES / "intents.jsonl").read_text().splitlines()}
    assert not {_folded(line) for line in held_out} & fitted


def _folded(line: str) -> str:
    return " ".join(json.loads(line)["intent"].casefold().split())


def test_every_chain_is_in_the_table_of_intents() -> None:
    assert set(of_intents().names) == {*package().chains, ASK}


def test_words_speak_for_a_chain() -> None:
    found = liken(features("untangle the session code, behaviour must stay the same"), of_intents())
    assert found is not None
    assert (found.name, found.share > 0.5) == ("refactor", True)
    assert any("untangle" in word for word in found.by)


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
    found = liken(features(text), of_intents())
    if found is not None:
        assert found.name in of_intents().names
        assert 0 < found.share <= 1
