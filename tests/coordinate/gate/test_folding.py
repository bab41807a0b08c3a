# ruff: noqa: RUF001 - look-alikes are what this file tests
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.coordinate.gate.tricks import TRICKS

from maestro.coordinate.gate.folding import fold_text, is_disguised, readings

LOOKS_ALIKE = [
    "zero-width", "joiner", "soft-hyphen", "bidi", "variation", "cyrillic", "greek", "fullwidth", "circled",
    "mathematical", "small-caps", "marks", "escapes",
]  # fmt: skip


@pytest.mark.parametrize("trick", LOOKS_ALIKE)
def test_what_looks_alike_folds_to_the_same(trick: str) -> None:
    text = "delete the production database"
    assert fold_text(TRICKS[trick](text)) == text


@pytest.mark.parametrize("trick", [*LOOKS_ALIKE, "entities", "spaced-out"])
def test_words_in_disguise_are_told(trick: str) -> None:
    assert is_disguised(TRICKS[trick]("delete the database"))


@pytest.mark.parametrize(
    "text",
    [
        "Should I delete the folder?",
        "café naïve Ångström São Paulo Dvořák",
        "Использовать список или множество? API-ключ, git-репозиторий",
        "Χρήση λίστας ή συνόλου;",
        "Δt in μs, λx.x, α-helix, ∑ over ℝ",
        "この関数の名前は？ ＡＰＩを使う",
        "👩‍💻 done ✅ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 flag",
        "می‌خواهم",
        "plain \x1b[1mbold\x1b[0m word",
        "options a, b, c, d; e.g. U.S.A.",
        "https://example.com/a%20b?q=%C3%A9",
        "“quoted” – dash … ’s",
    ],
)
def test_honest_text_is_not_disguised(text: str) -> None:
    assert not is_disguised(text)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("dr0p the t4ble", "drop the table"),
        ("de1ete it", "delete it"),
        ("d.e.l.e.t.e it", "delete it"),
        ("d e l e t e  i t  a l l", "delete it all"),
        ("&#100;elete", "delete"),
        ("%64elete", "delete"),
        ("\\u0064elete", "delete"),
        ("de-lete", "delete"),
        ("delete_the_database", "delete the database"),
        ("cm0gLXJmIGRhdGEgYmFja3Vwcw==", "rm -rf data backups"),
    ],
)
def test_further_readings(text: str, reading: str) -> None:
    assert reading in readings(text)


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    once = fold_text(text)
    assert fold_text(once) == once


@given(st.text())
def test_the_folded_text_is_the_first_reading(text: str) -> None:
    folded = fold_text(text)
    assert readings(text)[:1] == ((folded,) if folded else ())
    assert isinstance(is_disguised(text), bool)
