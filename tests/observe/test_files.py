"""Transcripts on disk: any size, growing, cut, replaced, gone."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.registry import agent_named
from maestro.observe.digest import Shape
from maestro.observe.follow import Cursor, at_end, follow
from maestro.observe.tail import BLOCK, LONGEST_LINE, TailReader
from maestro.observe.transcript import read_recent

CLAUDE = agent_named("claude")


def said(text: str, second: int = 0, **more: object) -> bytes:
    """A line as Claude Code writes it."""
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "message": {"id": f"m{second}", "role": "assistant", "content": [{"type": "text", "text": text}]},
        "type": "assistant",
        "timestamp": f"2026-11-15T12:00:{second:02}.000Z",
        **more,
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def texts(path: Path, last: int = 5) -> list[str]:
    return [entry.text for entry in read_recent(CLAUDE, path, last).entries]


def backwards(content: bytes, path: Path) -> list[bytes]:
    path.write_bytes(content)
    fd = os.open(path, os.O_RDONLY)
    try:
        return [
            line
            for buffer, floor, high in TailReader().blocks(fd, len(content))
            for line in reversed(bytes(buffer[floor + 1 : high]).split(b"\n"))
            if line
        ]
    finally:
        os.close(fd)


@given(
    lengths=st.lists(
        st.integers(0, 40)
        | st.sampled_from([BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 17 * BLOCK, 33 * BLOCK]),
        max_size=6,
    ),
    ended=st.booleans(),
)
def test_every_line_comes_once_and_whole(place: Path, lengths: list[int], *, ended: bool) -> None:
    lines = [bytes([97 + number]) * length for number, length in enumerate(lengths)]
    content = b"\n".join(lines) + (b"\n" if ended else b"")
    assert backwards(content, place / "f") == [line for line in reversed(lines) if line]


def test_a_line_that_is_too_long_is_passed_over(place: Path) -> None:
    path = place / "t.jsonl"
    long = said("x" * (LONGEST_LINE + 3 * BLOCK), 2)
    path.write_bytes(said("the text before it", 1) + long + said("the text after it", 3))
    assert texts(path) == ["the text before it", "the text after it"]
    path.write_bytes(long + said("the text after it", 3))
    assert texts(path) == ["the text after it"]


def test_a_last_line_that_is_torn_is_left_out_until_it_is_whole(place: Path) -> None:
    path = place / "t.jsonl"
    whole, next_one = said("the whole text", 1), said("the next text", 2)
    path.write_bytes(whole + next_one[:-30])
    assert texts(path) == ["the whole text"]
    path.write_bytes(whole + next_one.rstrip())
    assert texts(path) == ["the whole text", "the next text"]


def test_since_leaves_out_what_is_older(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(b"".join(said(f"text number {second}", second) for second in range(9)))
    since = read_recent(CLAUDE, path, 9).entries[5].at
    assert [entry.text[-1] for entry in read_recent(CLAUDE, path, 9, since=since).entries] == ["6", "7", "8"]


@pytest.mark.soak
def test_memory_stays_bounded_on_huge_files_and_lines(place: Path) -> None:
    """A 1 GB transcript and a 50 MB line, read in a process of its own."""
    huge = place / "huge.jsonl"
    with huge.open("wb") as file:
        file.write(said("lost in the distance", 0))
        file.truncate(1 << 30)  # a hole: zeros without a line end
        file.seek(1 << 30)
        file.write(b"\n" + said("before the long line", 1))
        file.write(b'{"parentUuid":null,"isSidechain":false,"toolUseResult":"')
        for _ in range(50):
            file.write(b"a" * (1 << 20))
        file.write(b'"}\n' + said("after the long line", 2))
    program = """
        import sys
        from maestro.agents.registry import agent_named
        from maestro.observe.transcript import read_recent
        from maestro.observe.stats import Prices, session_stats
        recent = read_recent(agent_named("claude"), sys.argv[1], 5)
        print([entry.text for entry in recent.entries])
        session_stats(agent_named("claude"), sys.argv[1], "s", Prices("", {}))
        # Not ru_maxrss: it begins with what the process that started this one had.
        print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), huge], capture_output=True, text=True, check=True
    )
    shown, kilobytes = run.stdout.splitlines()
    assert shown == "['before the long line', 'after the long line']"
    assert int(kilobytes) < 200 * 1024


def test_follow_gives_each_new_entry_once(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(said("an old text here", 0))
    cursor = at_end(path)
    assert follow(CLAUDE, path, cursor).entries == ()
    line = said("a new text here", 1)
    for part in (line[:40], line[40:-1]):
        with path.open("ab") as file:
            file.write(part)
        step = follow(CLAUDE, path, cursor)
        assert step.entries == ()
        cursor = step.cursor
    with path.open("ab") as file:
        file.write(b"\n" + said("and one more text", 2))
    step = follow(CLAUDE, path, cursor)
    assert [entry.text for entry in step.entries] == ["a new text here", "and one more text"]
    assert follow(CLAUDE, path, step.cursor).entries == ()


def test_follow_gives_a_short_text_when_it_is_the_last_of_its_turn(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(said("OK.", 0) + said("I will do that now.", 1) + said("No.", 2))
    assert [entry.text for entry in follow(CLAUDE, path, Cursor()).entries] == ["I will do that now.", "No."]
    every = follow(CLAUDE, path, Cursor(), Shape(full=True)).entries
    assert [entry.text for entry in every] == ["OK.", "I will do that now.", "No."]


def test_follow_from_the_beginning_reads_everything(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(b"".join(said(f"text number {number}", number % 60) for number in range(3000)))
    cursor, seen = Cursor(), 0
    while True:
        step = follow(CLAUDE, path, cursor, most=100_000)
        cursor, seen = step.cursor, seen + len(step.entries)
        if not step.more:
            break
    assert seen == 3000


def test_follow_notices_that_the_file_was_cut_replaced_or_is_gone(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(said("a first text here", 1) + said("a second text here", 2))
    cursor = at_end(path)
    path.write_bytes(said("a text begun anew", 3))
    step = follow(CLAUDE, path, cursor)
    assert (step.change, [entry.text for entry in step.entries]) == ("shrunk", ["a text begun anew"])

    other = place / "other"
    other.write_bytes(said("another file's text", 4) * 3)
    other.replace(path)
    step = follow(CLAUDE, path, step.cursor)
    assert (step.change, len(step.entries)) == ("replaced", 3)

    path.write_bytes(said("rewritten in place!", 5) * 4)
    step = follow(CLAUDE, path, step.cursor)
    assert (step.change, len(step.entries)) == ("replaced", 4)

    path.unlink()
    step = follow(CLAUDE, path, step.cursor)
    assert (step.change, step.entries) == ("gone", ())
    assert follow(CLAUDE, path, step.cursor).change == ""
    path.write_bytes(said("it is back again", 6))
    assert [entry.text for entry in follow(CLAUDE, path, step.cursor).entries] == ["it is back again"]


def test_follow_passes_over_a_line_that_is_too_long(place: Path) -> None:
    path = place / "t.jsonl"
    path.write_bytes(said("before it all", 1) + b"x" * (LONGEST_LINE + 2 * BLOCK))
    step = follow(CLAUDE, path, Cursor(), most=1 << 30)
    assert [entry.text for entry in step.entries] == ["before it all"]
    with path.open("ab") as file:
        file.write(b"xxx\n" + said("after it all", 2))
    assert [entry.text for entry in follow(CLAUDE, path, step.cursor).entries] == ["after it all"]


def test_follow_shows_a_record_that_is_written_again_once(place: Path) -> None:
    gemini = agent_named("gemini")
    path = place / "chat.jsonl"
    record = {
        "id": "r1",
        "timestamp": "2026-11-15T12:00:00.000Z",
        "type": "gemini",
        "content": "words of Gemini",
    }
    line = json.dumps(record).encode() + b"\n"
    path.write_bytes(line)
    step = follow(gemini, path, Cursor())
    assert len(step.entries) == 1
    with path.open("ab") as file:
        file.write(line)
    assert follow(gemini, path, step.cursor).entries == ()
