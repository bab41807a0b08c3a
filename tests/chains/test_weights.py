"""Ranks what a text may mean, by the table of words that comes with the package."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package, weights

from maestro.chains.routing.weights import EACH, fingerprint, parse_weights, rank, weights_table
from maestro.chains.routing.words import ASK, CONTINUE, features
from maestro.errors import InvalidInput

EXAMPLES = Path(__file__).parents[2] / "scripts" / "fit"
TABLES = Path(__file__).parent / "tables"


def test_the_table_is_fitted_to_the_examples_as_they_are_and_as_they_are_read() -> None:
    """A change of the examples, or of what counts as a word, needs a new one."""
    examples = EXAMPLES / "intents.jsonl"
    intents = [json.loads(line) for line in examples.read_text().splitlines()]
    first = (files("maestro.chains.routing") / "words.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert hashlib.sha256(examples.read_bytes()).hexdigest() in first, "`make fit` fits it anew"
    texts = [features(row["intent"]) for row in intents[::EACH]]
    assert f"read as {fingerprint(texts)}" in first, "`make fit` fits it anew"


@pytest.mark.parametrize("table", sorted(TABLES.glob("*.jsonl")), ids=lambda table: table.stem)
def test_no_row_of_a_test_table_was_fitted_to(table: Path) -> None:
    fitted = {_folded(line) for line in (EXAMPLES / "intents.jsonl").read_text().splitlines()}
    assert not {_folded(line) for line in table.read_text().splitlines()} & fitted


def _folded(line: str) -> str:
    return " ".join(json.loads(line)["intent"].casefold().split())


def test_every_table_carries_its_author_and_its_date() -> None:
    readme = (TABLES / "README.md").read_text()
    for table in TABLES.glob("*.jsonl"):
        line = next(line for line in readme.splitlines() if f"`{table.stem}`" in line)
        assert "stranger" in line
        assert "2026-" in line


def test_every_chain_is_in_the_table() -> None:
    assert set(weights().names) == {*package().chains, ASK, CONTINUE}


def test_words_speak_for_a_chain() -> None:
    found = rank(features("untangle the session code, behaviour must stay the same"), weights())
    assert found is not None
    assert (found.names[0].name, found.names[0].share > 0.5) == ("refactor", True)
    assert abs(sum(one.share for one in found.names) - 1) < 1e-9
    assert found.by


def test_a_word_shares_pieces_with_its_other_forms() -> None:
    assert {"<unt", "<unta", "tangl"} <= {*features("untangling")} & {*features("untangled")}
    assert {"<mis", "<misp", "led>"} <= {*features("mispeled")} & {*features("mispelled")}


def test_names_of_issues_and_files_are_alike() -> None:
    assert features("fix #12 in src/a.py") == features("fix issue 77 in lib/other.ts")
    assert features("fix #12") == features("fix ticket ABC-123")
    assert "isid" in features("look at ISSUE-20260131-002")


def test_what_has_no_known_word_is_like_nothing() -> None:
    assert rank([], weights()) is None
    assert rank(["xqzv"], weights()) is None


def test_words_know_their_neighbours_and_their_place() -> None:
    assert features("a b c") == [
        "a", "b", "c", "^ a", "a b", "b c", "c $", "a * c", "^ * a", "^ * b", "^ * c",
    ]  # fmt: skip


def test_a_table_is_read_as_it_is_written() -> None:
    table = parse_weights(
        weights_table(
            "by hand",
            0.5,
            {"ask": 0.5, "plan": -0.25},
            {"é": 1.5, "draw up": 2.25},
            {"é": (), "draw up": ((1, 31),)},
        )
    )
    assert (table.names, table.bias, table.enough) == (("ask", "plan"), (0.5, -0.25), 0.5)
    assert table.find("draw up") == (2.25, [(1, 31)])
    assert table.find("é") == (1.5, [])
    assert table.find("draw") is None


@pytest.mark.parametrize("text", [b"", b"# x", b"# x\nask=x", b"# x\nenough=0.5\task=0.1\nword\t1.0\tplan:5"])
def test_a_damaged_table_is_told(text: bytes) -> None:
    with pytest.raises(InvalidInput, match="damaged"):
        rank(["word"], parse_weights(text))


@given(st.text(max_size=4000))
def test_any_text_has_a_share_between_none_and_all(text: str) -> None:
    found = rank(features(text), weights())
    if found is not None:
        assert {one.name for one in found.names} == {*weights().names}
        assert all(0 <= one.share <= 1 for one in found.names)
