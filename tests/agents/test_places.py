"""Where each CLI keeps its transcripts."""

import json
import os
from pathlib import Path

import pytest

from maestro.agents.claude.transcript import folder_name
from maestro.agents.registry import agent_named, agent_names
from maestro.errors import NotFound

CODEX_ID = "01a1e095-4210-7012-9036-cfd116228a29"  # begins with 2026-11-15T19:00:40Z


def write(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/plain", "-home-me-plain"),
        ("/home/me/with.dots.v1", "-home-me-with-dots-v1"),
        ("/home/me/under_score", "-home-me-under-score"),
        ("/home/me/with space", "-home-me-with-space"),
        ("/home/me/Ünïcödé-日本", "-home-me--n-c-d----"),
        ("/home/me/emoji-🙂x", "-home-me-emoji---x"),
        ("/home/me/mixed.A_b-C+d@e#f(1)", "-home-me-mixed-A-b-C-d-e-f-1-"),
        ("/home/me/.hidden", "-home-me--hidden"),
        ("/a-b/c", "-a-b-c"),
        ("/a/b-c", "-a-b-c"),
    ],
)
def test_claude_names_a_folder_after_the_working_directory(cwd: str, name: str) -> None:
    assert folder_name(cwd) == name


def test_claude_cuts_long_folder_names_and_adds_a_hash() -> None:
    one, other = (f"/home/me/{'a' * 200}/{end}" for end in "bc")
    assert len(folder_name("/" + "a" * 199)) == 200
    assert folder_name(one)[:201] == "-home-me-" + "a" * 191 + "-"
    assert folder_name(one) != folder_name(other)


def test_claude_transcripts_lie_by_working_directory_and_id(place: Path) -> None:
    claude = agent_named("claude")
    cwd = place / "work.dir"
    cwd.mkdir()
    env = {"HOME": str(place)}
    path = write(place / ".claude" / "projects" / folder_name(os.path.realpath(cwd)) / "abc.jsonl")
    assert claude.locate("abc", str(cwd), env) == path
    assert claude.locate("abc", "", env) == path
    assert claude.locate("abc", str(place), env) == path
    assert claude.locate("../abc", str(cwd), env) is None
    assert claude.locate("other", str(cwd), env) is None
    assert [one.session_id for one in claude.transcripts(env, str(cwd))] == ["abc"]


def test_claude_follows_symbolic_links_and_its_variable(place: Path) -> None:
    claude = agent_named("claude")
    real = place / "real"
    real.mkdir()
    (place / "link").symlink_to(real)
    env = {"HOME": str(place), "CLAUDE_CONFIG_DIR": str(place / "elsewhere")}
    path = write(place / "elsewhere" / "projects" / folder_name(os.path.realpath(real)) / "abc.jsonl")
    assert claude.locate("abc", str(place / "link"), env) == path


def test_claude_subagents_belong_to_their_session(place: Path) -> None:
    path = write(place / "session.jsonl")
    sub = write(place / "session" / "subagents" / "agent-1.jsonl")
    assert agent_named("claude").companions(path) == [sub]


@pytest.mark.parametrize("day", ["2026/11/15", "2026/11/16", "2024/01/01"])
def test_codex_rollouts_lie_by_date_whatever_the_zone(place: Path, day: str) -> None:
    codex = agent_named("codex")
    env = {"HOME": str(place), "CODEX_HOME": str(place / "codex")}
    path = write(place / "codex" / "sessions" / day / f"rollout-2026-11-15T19-00-40-{CODEX_ID}.jsonl")
    write(path.with_name("rollout-2026-11-15T19-00-41-01a1e095-4211-7012-9036-cfd116228a29.jsonl"))
    assert codex.locate(CODEX_ID, "", env) == path
    assert codex.locate("no-id", "", env) is None
    assert CODEX_ID in [one.session_id for one in codex.transcripts(env)]


def test_gemini_chats_lie_under_the_project_s_slug(place: Path) -> None:
    gemini = agent_named("gemini")
    env = {"HOME": str(place)}
    cwd = os.path.realpath(place)
    write(place / ".gemini" / "projects.json", json.dumps({"projects": {cwd: "my-slug", "/else": "other"}}))
    session = "44444444-3333-4444-8555-666666666666"
    head = json.dumps({"sessionId": session, "kind": "main"}) + "\n"
    chats = place / ".gemini" / "tmp" / "my-slug" / "chats"
    older = write(chats / "session-2026-11-15T19-16-44444444.jsonl", head)
    newer = write(chats / "session-2026-11-15T19-17-44444444.jsonl", head)
    write(chats / "session-2026-11-15T19-18-44444444.jsonl", head.replace("3333", "9999"))
    os.utime(newer, (1, 1))
    assert gemini.locate(session, cwd, env) == older
    assert gemini.locate(session, "", env) == older
    assert {one.cwd for one in gemini.transcripts(env)} == {cwd}
    assert list(gemini.transcripts(env, "/else")) == []


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_machine_without_the_cli_has_no_transcripts(place: Path, agent: str) -> None:
    env = {"HOME": str(place)}
    assert list(agent_named(agent).transcripts(env)) == []
    assert agent_named(agent).locate(CODEX_ID, str(place), env) is None


def test_an_unknown_agent_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(NotFound) as raised:
        agent_named("nobody")
    assert "claude" in raised.value.hint
    assert {"claude", "codex", "gemini", "scripted"} <= set(agent_names())


def test_another_package_can_bring_an_agent(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = place / "their_agent-1.0.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: their-agent\nVersion: 1.0\n")
    write(info / "entry_points.txt", "[maestro.agents]\ntheirs = their_agent:ADAPTER\n")
    write(
        place / "their_agent.py",
        "from maestro.agents.claude import Claude\nADAPTER = Claude()\nADAPTER.name = 'theirs'\n",
    )
    monkeypatch.syspath_prepend(str(place))
    assert "theirs" in agent_names()
    assert agent_named("theirs").name == "theirs"
