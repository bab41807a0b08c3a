"""From a session to its transcript, and from a machine to all of them."""

import json
import os
from pathlib import Path

import pytest

from maestro.agents.claude.transcript import folder_name
from maestro.agents.registry import agent_named
from maestro.errors import InvalidInput, NotFound
from maestro.observe.discover import discover, find_transcript
from maestro.observe.resolve import KEPT_FOR, Resolver, Sought

CLAUDE = agent_named("claude")


def prompt(text: str, cwd: str = "/home/someone/project") -> str:
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "timestamp": "2026-11-15T12:00:00.000Z",
        "cwd": cwd,
    }
    return json.dumps(record, separators=(",", ":")) + "\n"


@pytest.fixture
def folder(place: Path) -> Path:
    path = place / ".claude" / "projects" / folder_name(os.path.realpath(place))
    path.mkdir(parents=True)
    return path


@pytest.fixture
def env(place: Path) -> dict[str, str]:
    return {"HOME": str(place)}


def test_a_known_id_is_a_name(place: Path, folder: Path, env: dict[str, str]) -> None:
    (folder / "abc.jsonl").write_text(prompt("hello there"))
    sought = Sought("sess_1", agent_session_id="abc", cwd=str(place))
    assert Resolver().resolve(CLAUDE, sought, env, 0) == folder / "abc.jsonl"


def test_a_session_that_has_not_written_yet_is_found_once_it_has(
    place: Path, folder: Path, env: dict[str, str]
) -> None:
    resolver = Resolver()
    sought = Sought("sess_1", agent_session_id="abc", cwd=str(place))
    assert resolver.resolve(CLAUDE, sought, env, 0) is None
    (folder / "abc.jsonl").write_text(prompt("hello there"))
    assert resolver.resolve(CLAUDE, sought, env, 1) == folder / "abc.jsonl"


@pytest.mark.parametrize("before", [0, 9_000, 60_000, 200_000])
def test_a_foreign_session_is_found_by_its_tag_far_into_the_file(
    place: Path, folder: Path, env: dict[str, str], before: int
) -> None:
    filler = prompt("x" * before) if before else ""
    (folder / "mine.jsonl").write_text(filler + prompt("<session_id>sess_mine</session_id> do it"))
    (folder / "other.jsonl").write_text(prompt("<session_id>sess_other</session_id> do that"))
    resolver = Resolver()
    assert resolver.resolve(CLAUDE, Sought("sess_mine", cwd=str(place)), env, 0) == folder / "mine.jsonl"
    assert resolver.resolve(CLAUDE, Sought("sess_other", cwd=str(place)), env, 0) == folder / "other.jsonl"
    assert resolver.resolve(CLAUDE, Sought("sess_none", cwd=str(place)), env, 0) is None


def test_a_head_is_read_again_when_it_grew(place: Path, folder: Path, env: dict[str, str]) -> None:
    resolver = Resolver()
    path = folder / "mine.jsonl"
    path.write_text(prompt("a beginning"))
    sought = Sought("sess_mine", cwd=str(place))
    assert resolver.resolve(CLAUDE, sought, env, 0) is None
    with path.open("a") as file:
        file.write(prompt("<session_id>sess_mine</session_id> do it"))
    assert resolver.resolve(CLAUDE, sought, env, 1) == path


def test_the_tag_is_found_in_another_folder_too(place: Path, folder: Path, env: dict[str, str]) -> None:
    (folder / "mine.jsonl").write_text(prompt("<session_id>sess_mine</session_id> do it"))
    assert Resolver().resolve(CLAUDE, Sought("sess_mine", cwd="/elsewhere"), env, 0) == folder / "mine.jsonl"


@pytest.mark.parametrize("change", ["gone", "replaced", "shrunk"])
def test_a_path_is_kept_only_while_the_file_is_the_same(
    place: Path, folder: Path, env: dict[str, str], change: str
) -> None:
    resolver = Resolver()
    path = folder / "one.jsonl"
    path.write_text(prompt("<session_id>sess_mine</session_id> do it") * 2)
    sought = Sought("sess_mine", cwd=str(place))
    assert resolver.resolve(CLAUDE, sought, env, 0) == path
    moved = folder / "two.jsonl"
    moved.write_bytes(path.read_bytes())
    if change == "gone":
        path.unlink()
    elif change == "replaced":
        (place / "new").write_text(prompt("someone else's words") * 9)
        (place / "new").replace(path)
    else:
        path.write_text(prompt("begun anew"))
    assert resolver.resolve(CLAUDE, sought, env, 1) == moved


def test_a_path_is_looked_up_again_after_a_minute(place: Path, folder: Path, env: dict[str, str]) -> None:
    resolver = Resolver()
    first, second = folder / "one.jsonl", folder / "two.jsonl"
    first.write_text(prompt("<session_id>sess_mine</session_id> do it"))
    sought = Sought("sess_mine", cwd=str(place))
    assert resolver.resolve(CLAUDE, sought, env, 0) == first
    second.write_text(prompt("<session_id>sess_mine</session_id> do it again"))
    os.utime(first, (1, 1))
    assert resolver.resolve(CLAUDE, sought, env, KEPT_FOR - 1) == first
    assert resolver.resolve(CLAUDE, sought, env, KEPT_FOR) == second


def three_homes(place: Path) -> dict[str, str]:
    """A home in which all three CLIs have worked."""
    golden = Path(__file__).parents[1] / "agents" / "golden"
    claude = place / ".claude" / "projects" / "-home-someone-proj"
    codex = place / ".codex" / "sessions" / "2026" / "11" / "15"
    gemini = place / ".gemini" / "tmp" / "slug" / "chats"
    codex_name = "rollout-2026-11-15T19-00-40-01a1e095-4210-7012-9036-cfd116228a29.jsonl"
    for source, target in [
        ("claude/tool_2.1.325.jsonl", claude / "3ea4ce5e-3355-4fc8-8070-f2ca52bc039c.jsonl"),
        ("codex/exec_resumed_0.166.0.jsonl", codex / codex_name),
        ("gemini/headless_0.61.0.jsonl", gemini / "session-2026-11-15T19-16-44444444.jsonl"),
    ]:
        target.parent.mkdir(parents=True)
        target.write_bytes((golden / source).read_bytes())
    (place / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/home/someone/gem": "slug"}}))
    for age, path in enumerate([gemini, codex, claude]):
        for file in path.iterdir():
            os.utime(file, (1000 - age, 1000 - age))
    return {"HOME": str(place)}


ALL = [agent_named(name) for name in ("claude", "codex", "gemini")]


def test_discover_finds_every_cli_s_sessions_newest_first(place: Path) -> None:
    found = discover(ALL, three_homes(place), now=1_794_772_800_000)
    assert [one.agent for one in found] == ["gemini", "codex", "claude"]
    assert [one.project for one in found] == [
        "/home/someone/gem",
        "/home/someone/cxproj",
        "/home/someone/proj",
    ]
    assert [one.digest.status for one in found] == ["finished"] * 3
    assert all(one.digest.entries for one in found)
    assert [one.agent for one in discover(ALL, three_homes(place / "x"), now=0, most=1)] == ["gemini"]


def test_adopt_takes_a_path_an_id_or_its_beginning(place: Path) -> None:
    env = three_homes(place)
    path = next((place / ".claude").rglob("*.jsonl"))
    for wanted in (str(path), "3ea4ce5e-3355-4fc8-8070-f2ca52bc039c", "3ea4"):
        agent, transcript = find_transcript(ALL, env, wanted)
        assert (agent.name, transcript.path) == ("claude", path)
    with pytest.raises(NotFound):
        find_transcript(ALL, env, "nothing-like-it")
    path.with_name("3ea4ffff.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput):
        find_transcript(ALL, env, "3ea4")


def test_discover_on_an_empty_machine_finds_nothing(place: Path) -> None:
    assert discover(ALL, {"HOME": str(place)}, now=0) == []
