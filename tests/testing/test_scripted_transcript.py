"""Records, their links, and the folder that they lie in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from pathlib import Path

import pytest

from maestro.testing.scripted_agent.files import TranscriptFile, git_branch
from maestro.testing.scripted_agent.steps import Usage
from maestro.testing.scripted_agent.transcript import (
    SessionFacts,
    Transcript,
    iso,
    project_folder_name,
    transcript_path,
)

NOW = datetime(2030, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
FACTS = SessionFacts("session", "/project", "main", "model", interactive=True)


def transcript() -> Transcript:
    numbers = count(1)
    return Transcript(FACTS, new_id=lambda: f"id-{next(numbers)}", now=lambda: NOW)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/dev/plain", "-home-dev-plain"),
        ("/w/with.dots_v1 x", "-w-with-dots-v1-x"),
        ("/w/Ünï-日本", "-w--n----"),
        ("/w/emoji-🙂x", "-w-emoji---x"),
        ("/" + "a" * 199, "-" + "a" * 199),
    ],
)
def test_the_folder_is_named_for_the_working_directory(cwd: str, name: str) -> None:
    assert project_folder_name(cwd) == name


def test_a_long_working_directory_ends_in_its_hash() -> None:
    # "Aa" and "BB" have the same hash of this kind, and 32 bits in base 36 are at most 6 digits.
    names = [project_folder_name("/" + "x" * 200 + end) for end in ("Aa", "BB", "Ab")]
    assert names[0] == names[1] != names[2]
    head, _, digits = names[0].rpartition("-")
    assert head == "-" + "x" * 199
    assert 1 <= len(digits) <= 6
    signed = 0
    for character in "/" + "x" * 200 + "Aa":
        signed = (signed * 31 + ord(character) + 2**31) % 2**32 - 2**31
    assert int(digits, 36) == abs(signed)


def test_records_are_linked_and_carry_the_session() -> None:
    records = transcript()
    prompt = records.prompt("do it")
    said = records.said({"type": "text", "text": "yes"}, usage=Usage(1, 2, 3, 4), stop_reason="tool_use")
    use = records.tool_use("Bash", {"command": "ls"}, usage=Usage(1, 2, 3, 4))
    result = records.tool_result(use, "a", is_error=False, details={})
    later = records.said({"type": "text", "text": "done"}, usage=Usage(), stop_reason="end_turn")
    ended = records.turn_duration(1.25)
    chain = [prompt, said, use, result, later, ended]
    assert [record["parentUuid"] for record in chain] == [None, *(record["uuid"] for record in chain[:-1])]
    for record in chain:
        assert record["sessionId"] == "session"
        assert record["cwd"] == "/project"
        assert record["gitBranch"] == "main"
        assert record["timestamp"] == "2030-01-02T03:04:05.678Z"
    assert said["message"]["id"] == use["message"]["id"] != later["message"]["id"]
    assert said["message"]["usage"] == use["message"]["usage"]
    assert [record["apiBlockIndex"] for record in (said, use, later)] == [0, 1, 0]
    assert result["message"]["content"][0]["tool_use_id"] == use["message"]["content"][0]["id"]
    assert result["sourceToolAssistantUUID"] == use["uuid"]
    assert (ended["durationMs"], ended["messageCount"]) == (1250, 6)


def test_a_prompt_that_went_back_is_not_linked_to() -> None:
    records = transcript()
    first = records.prompt("one")
    records.forget_prompt()
    assert records.prompt("two")["parentUuid"] == first["parentUuid"]


def test_times_are_utc_with_milliseconds() -> None:
    assert iso(datetime(2030, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2029-12-31T23:00:00.000Z"


def test_the_file_holds_whole_lines_for_its_owner_only(tmp_path: Path) -> None:
    path = transcript_path(tmp_path, "/project", "session")
    file = TranscriptFile(path)
    assert not path.exists()
    file.append({"text": "two\nlines ünïcödé \ud800"})
    file.append({"n": 2})
    file.close()
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"text": "two\nlines ünïcödé ?"},
        {"n": 2},
    ]
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        TranscriptFile(path).append({})


def test_the_branch_is_read_from_gits_own_files(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "inner"
    inner.mkdir(parents=True)
    git = tmp_path / "repository" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/feature/x\n", encoding="utf-8")
    assert git_branch(inner) == "feature/x"
    (git / "HEAD").write_text("0123456789abcdef\n", encoding="utf-8")
    assert git_branch(inner) == "HEAD"
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: ../repository/.git\n", encoding="utf-8")
    (git / "HEAD").write_text("ref: refs/heads/other\n", encoding="utf-8")
    assert git_branch(worktree) == "other"
