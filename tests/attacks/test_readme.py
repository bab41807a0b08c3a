"""The README of this folder lists every attack."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def test_the_readme_names_every_file() -> None:
    text = (HERE / "README.md").read_text()
    files = {path.name for path in HERE.glob("test_*.py")} - {Path(__file__).name}
    assert {name for name in files if f"`{name}`" not in text} == set()


def test_the_readme_names_no_file_that_is_gone() -> None:
    text = (HERE / "README.md").read_text()
    rows = [line.split("|")[1].strip().strip("`") for line in text.splitlines() if line.startswith("| `")]
    assert [row for row in rows if not (HERE / row).exists() and not (HERE.parent / row).exists()] == []
