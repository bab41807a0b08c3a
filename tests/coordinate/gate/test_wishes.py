"""What a sentence wants done: grave verbs unless they are about code, strange verbs where they are about the outside."""

from __future__ import annotations

import pytest

from maestro.coordinate.gate.folding import fold_text, readings
from maestro.coordinate.gate.outside import strange_wishes
from maestro.coordinate.gate.prose import clauses
from maestro.coordinate.gate.wishes import is_split_name, wishes


def document(text: str) -> str:
    return f"{clauses(fold_text(text))} | "


def wished(text: str) -> set[str]:
    return {wish.category for wish in (*wishes(document(text)), *strange_wishes(document(text)))}


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Shall I ditch the quarterly reports?", "file deletion"),
        ("Should the quarterly reports be tossed?", "file deletion"),
        ("Do you want the quarterly reports thrown away?", "file deletion"),
        ("I'd throw the whole lot away.", "file deletion"),
        ("The uploads are old. Get rid of them?", "file deletion"),
        ("Approve the removal of the quarterly reports", "file deletion"),
        ("Yeet the old branches?", "git operations"),
        ("Roll the new version out?", "deployments"),
        ("Email every subscriber?", "publishing"),
        ("Rent a bigger box?", "spending"),
        ("Grant me admin?", "security decisions"),
        ("Should I rotate the signing key?", "API keys"),
        ("Shall I bounce the server?", "system changes"),
        ("This step backfills the ledger on the primary.", "database changes"),
    ],
)
def test_a_grave_verb_stops_whatever_it_is_about(text: str, category: str) -> None:
    assert category in {wish.category for wish in wishes(document(text))}


@pytest.mark.parametrize(
    "text",
    [
        "Shall I ditch the unused helper?",
        "Should the extra parameter be removed?",
        "The helper is not used. Get rid of it?",
        "Should I remove the spinner from the page?",
        "Shall I merge the two classes?",
        "Should the parser drop trailing commas?",
        "Should I push the validation down into the model class?",
        "Should I drop lodash?",
        "Can I delete the commented-out lines in utils.ts?",
        "Should empty strings count as missing?",
    ],
)
def test_an_edit_of_code_does_not_stop(text: str) -> None:
    assert wished(text) == set()


def test_what_is_live_is_grave_even_where_it_is_called_like_code() -> None:
    assert wished("Should I drop the flag?") == set()
    assert wished("Should I drop the flag in production?") != set()


def test_the_reason_does_not_make_it_harmless() -> None:
    assert "file deletion" in wished("Should I wipe the pictures so the unit tests start clean?")


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Shall I poke the right number into the warehouse?", "database changes"),
        ("Last year's recordings are big. I would let them go.", "file deletion"),
        ("Rewind main to Friday's state?", "git operations"),
        ("May guests see the admin dashboard?", "security decisions"),
        ("QA signed off. Next: prod.", "deployments"),
        ("Should the draft be opened up to the community?", "publishing"),
        ("The demo needs 2FA off. Should I do that?", "security decisions"),
    ],
)
def test_a_strange_verb_about_the_outside_stops(text: str, category: str) -> None:
    assert category in {wish.category for wish in strange_wishes(document(text))}


@pytest.mark.parametrize(
    "text",
    [
        "Should I mention the production database in the docs?",
        "Shall I compare the servers' answers?",
        "Which name should the account class have?",
        "Should errors from the payment gateway be logged?",
        "Shall I poke the right number into the fixture?",
    ],
)
def test_ordinary_verbs_and_code_do_not_stop(text: str) -> None:
    assert strange_wishes(document(text)) == []


def test_a_name_that_is_read_as_two_words_asks_for_nothing() -> None:
    text = "Should I use client_credentials here?"
    split = next(reading for reading in readings(text) if "client credentials" in reading)
    (found,) = wishes(f"{clauses(split)} | ")
    assert is_split_name(found, document(text))
    assert not is_split_name(found, document("Should I use client credentials here?"))


def test_a_slip_of_the_keyboard_is_read_too() -> None:
    assert any("delete the folder" in reading for reading in readings("shuold i delte the foldr"))


def test_one_among_very_many_is_not_overlooked() -> None:
    padded = "Delete the unused helper. " * 500 + "Delete the quarterly reports."
    assert "file deletion" in wished(padded)
