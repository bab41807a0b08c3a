"""`maestro vision`, as a person or a coordinator runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support import Maestro

from maestro.errors import Conflict, InvalidInput, NotFound

TEXT = """\
# Clock

## Goal

Right.

## Decision Principles

- Be quick.

## Chapters

### Chapter 1: Hands #needs-coordinate

About hands.

- [ ] turn
  - [x] both

### Chapter 2: Bell

Depends on: 1

- [ ] rings
"""


@pytest.fixture
def document(maestro: Maestro) -> Path:
    path = maestro.cwd / "VISION.md"
    path.write_text(TEXT)
    return path


def test_the_whole_at_a_glance(maestro: Maestro, document: Path) -> None:
    done = maestro("vision", "show")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "Clock\nRight.\n\nPrinciples\n  - Be quick.\n\n"
        "Chapter 1: Hands  1/2\n  [ ] 1.1 turn\n    [x] 1.2 both\n\n"
        "Chapter 2: Bell  0/1 waits for 1\n  [ ] 2.1 rings\n"
    )
    told = maestro.json("vision", "show")
    assert (told["title"], told["goal"], told["principles"], told["faults"]) == (
        "Clock",
        "Right.",
        ["Be quick."],
        [],
    )
    assert [(c["number"], c["done"], c["total"], c["complete"], c["waitsFor"]) for c in told["chapters"]] == [
        (1, 1, 2, False, []),
        (2, 0, 1, False, [1]),
    ]
    assert document.read_text() == TEXT
    assert not Path(maestro.home.daemon_record).exists(), "no daemon is needed"


def test_checked(maestro: Maestro, document: Path) -> None:
    sound = maestro("vision", "check")
    assert (sound.returncode, sound.stdout) == (0, "VISION.md is sound: 2 chapters, 1 of 3 criteria met.\n")
    document.write_text(
        TEXT.replace("Depends on: 1", "Depends on: 2, 7").replace("- [ ] rings", "- [] rings")
    )
    broken = maestro("vision", "check")
    assert broken.returncode == InvalidInput.exit_code
    assert [line.split(": ")[0] for line in broken.stdout.splitlines()] == [
        "VISION.md:20", "VISION.md:20", "VISION.md:20", "VISION.md:24",
    ]  # fmt: skip
    as_json = maestro("vision", "check", "--json")
    assert as_json.returncode == InvalidInput.exit_code
    assert len(json.loads(as_json.stdout)["faults"]) == 4
    assert "4 faults" in maestro("vision", "show").stdout


def test_a_chapter_from_its_claim_to_its_end(maestro: Maestro, document: Path) -> None:
    shown = maestro("vision", "next")
    assert shown.stdout.startswith("Chapter 1: Hands  1/2\n")
    assert "About hands." in shown.stdout
    assert document.read_text() == TEXT
    claimed = maestro.json("vision", "next", "--claim", "--as", "ann")
    assert (claimed["chapter"]["number"], claimed["chapter"]["claimant"], claimed["how"]) == (
        1,
        "ann",
        "claimed",
    )
    assert maestro.json("vision", "next", "--claim", "--as", "bob") == {"chapter": None, "left": [1, 2]}
    assert "Resumed by ann." in maestro("vision", "next", "--claim", "--as", "ann").stdout
    assert "1/2 ann is at it" in maestro("vision", "show").stdout
    refused = maestro("vision", "check", "1.1", "--as", "bob")
    assert refused.returncode == Conflict.exit_code
    ticked = maestro("vision", "check", "1.1", "--as", "ann")
    assert ticked.stdout == "1.1 is met: turn\nChapter 1: Hands: complete\n"
    assert document.read_text() == TEXT.replace("#needs", "#done").replace("- [ ] turn", "- [x] turn")
    log = (maestro.cwd / ".maestro" / "coordinate" / "ann" / "COORDINATE_LOG.md").read_text()
    assert [line for line in log.splitlines() if line.startswith("## ")] == [
        "## Chapter Started",
        "## Chapter Complete",
    ]
    assert maestro.json("vision", "check", "2.1")["complete"]
    assert maestro("vision", "next").stdout == "All chapters are complete.\n"
    undone = maestro("vision", "check", "1.1", "--undo")
    assert undone.stdout == "1.1 is not met: turn\nChapter 1: Hands: 1/2\n"


def test_what_cannot_be(maestro: Maestro) -> None:
    assert maestro("vision", "show").returncode == NotFound.exit_code
    assert "vision init" in maestro("vision", "show").stderr
    assert maestro("vision", "init", "--title", "Clock").returncode == 0
    assert maestro("vision", "init").returncode == Conflict.exit_code
    assert (maestro.cwd / "VISION.md").read_text().startswith("# Clock\n")
    for words in (["check", "9"], ["check", "--undo"], ["check", "--as", "x"]):
        assert maestro("vision", *words).returncode == InvalidInput.exit_code, words
    assert maestro("vision", "check", "9.1").returncode == NotFound.exit_code
    faulty = maestro("vision", "next", "--claim")
    assert (faulty.returncode, "There is no goal" in faulty.stderr) == (InvalidInput.exit_code, True)
    assert maestro("vision", "show", "--file", "no.md").returncode == NotFound.exit_code
    assert maestro("vision", "show", "--file", "/etc/passwd").returncode == InvalidInput.exit_code


def test_another_file(maestro: Maestro) -> None:
    other = maestro.cwd / "docs" / "plan.md"
    other.parent.mkdir()
    other.write_text(TEXT)
    assert maestro.json("vision", "next", "--claim", "--file", "docs/plan.md")["how"] == "claimed"
    assert "#claimed-coordinate" in other.read_text()
    assert (maestro.cwd / ".maestro" / "coordinate" / "oversight" / "COORDINATE_LOG.md").exists()


def test_no_control_character_reaches_the_terminal(maestro: Maestro, document: Path) -> None:
    document.write_bytes(TEXT.replace("turn", "turn \x1b[31m\x07").encode() + b"\n\xff\xfe\n")
    for words in (["show"], ["next"], ["show", "--json"], ["check", "1.1"]):
        done = maestro("vision", *words)
        assert done.returncode == 0, done.stderr
        assert not set(done.stdout) & {"\x1b", "\x07"}
    assert b"turn \x1b[31m\x07\n" in document.read_bytes()
    assert document.read_bytes().endswith(b"\n\xff\xfe\n")
