"""Agents and delegates side by side in one folder: each session shows its own transcript, or says that it is unknown."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.fleet.typing.stage import AGENT, Stage
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

READY = "? for shortcuts"
UNKNOWN = "It is unknown which transcript is its own"
ANSWERS = (
    {"wait": True},
    {"say": "This pane answers: ${prompt}"},
    {"wait": True},
    {"say": "And again: ${prompt}"},
)


@pytest.fixture
def stage(theatre: Stage) -> Stage:
    """One daemon for all; each test has a project and a tmux of its own."""
    theatre.begin_anew()
    return theatre


def started(
    stage: Stage, *steps: dict[str, Any], folder: str = "shared", prompt: str = "", shell: bool = False
) -> str:
    """Starts an agent in the person's own tmux, without a word to Maestro; its pane."""
    cwd = stage.maestro.cwd / folder
    cwd.mkdir(exist_ok=True)
    words = [*AGENT, "--script", stage.script(*steps), *(["--prompt", prompt] if prompt else [])]
    program = ("bash", "--norc", "-i") if shell else ("sh", "-c", f"exec {shlex.join(words)}")
    is_there = Path(stage.own_socket).exists()
    place = ("new-window", "-d") if is_there else ("new-session", "-d", "-x", "150", "-y", "40")
    pane = stage.tmux(*place, "-P", "-F", "#{pane_id}", "-c", str(cwd), *program).strip()
    if shell:
        typed(stage, pane, shlex.join(words))
    shows = f"\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} {prompt}" if prompt else READY
    until(lambda: shows in stage.screen(pane), lambda: stage.screen(pane))
    return pane


def typed(stage: Stage, pane: str, text: str) -> None:
    """What the person types there themselves."""
    stage.tmux("send-keys", "-t", pane, "-l", text)
    until(lambda: text[-20:] in stage.screen(pane).replace("\n", ""), lambda: stage.screen(pane))
    stage.tmux("send-keys", "-t", pane, "Enter")


def until_shown(stage: Stage, pane: str, words: str) -> None:
    until(lambda: words in stage.screen(pane), lambda: stage.screen(pane))


def in_front(stage: Stage, pane: str) -> str:
    return stage.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}").strip()


def until_in_front(stage: Stage, pane: str, command: str) -> None:
    until(lambda: in_front(stage, pane) == command, lambda: stage.screen(pane))


def adopted(stage: Stage, pane: str, name: str) -> str:
    options = ("--pane", pane, "--tmux-socket", stage.own_socket, "--name", name, "--agent", "scripted")
    return str(stage.maestro.json("session", "adopt", *options)["id"])


def delegate(stage: Stage, folder: str = "shared") -> None:
    """A run without a terminal in the same folder, which is over; its transcript is the newest there."""
    words = [
        *AGENT,
        "--script",
        stage.script({"say": "The delegate says this."}),
        "--prompt",
        "A delegate asks",
    ]
    env = {**stage.maestro.env, "CLAUDE_CONFIG_DIR": str(stage.place / "claude")}
    subprocess.run(words, cwd=stage.maestro.cwd / folder, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True)  # fmt: skip


def digest(stage: Stage, session: str) -> dict[str, Any]:
    found: dict[str, Any] = stage.maestro.json("session", "logs", session)
    return found


def texts(stage: Stage, session: str) -> list[str]:
    return [entry["text"] for entry in digest(stage, session)["entries"]]


def until_said(stage: Stage, session: str, words: str) -> None:
    until(lambda: words in texts(stage, session), lambda: digest(stage, session))


def test_a_newer_delegate_in_the_same_folder(stage: Stage) -> None:
    pane = started(stage, *ANSWERS)
    delegate(stage)
    session = adopted(stage, pane, f"mine-{pane[1:]}")
    told = digest(stage, session)
    assert (told["status"], told["entries"]) == ("unknown", []), told
    assert told["unknownTranscript"].startswith(UNKNOWN), told
    [counted] = stage.maestro.json("session", "stats", session)
    assert (counted["costUsd"], counted["models"]) == (None, []), counted
    shown = stage.maestro("session", "logs", session).stdout
    assert UNKNOWN in shown, shown
    typed(stage, pane, "who is there")
    until_said(stage, session, "This pane answers: who is there")
    delegate(stage)
    assert not any("delegate" in text for text in texts(stage, session))
    assert stage.explain(session)["transcript"].endswith("its last prompt is the last one on the screen")


def test_a_stranger_in_the_same_folder_is_not_taken_for_it(stage: Stage) -> None:
    """Neither before it has said a word nor when the stranger writes again later."""
    pane = started(stage, *ANSWERS)
    stranger = started(stage, {"wait": True}, {"say": "The stranger says more."}, prompt="Stranger, begin")
    session = adopted(stage, pane, "quiet")
    assert texts(stage, session) == []
    assert digest(stage, session)["unknownTranscript"].startswith(UNKNOWN)
    typed(stage, stranger, "go on with that")
    until(lambda: "The stranger says more." in stage.screen(stranger))
    assert texts(stage, session) == []
    assert stage.sent(session, "and you")["state"] == "submitted"
    until_said(stage, session, "This pane answers: and you")


def test_two_with_the_same_words_are_unknown_until_a_prompt_tells_them_apart(stage: Stage) -> None:
    panes = [started(stage, {"say": "I am ready to begin."}, *ANSWERS, prompt="Begin") for _ in range(2)]
    for pane in panes:  # so that each writes after the other has started
        until_shown(stage, pane, "I am ready to begin.")
        typed(stage, pane, "once more")
        until_shown(stage, pane, "This pane answers: once more")
    sessions = [adopted(stage, pane, f"twin-{pane[1:]}") for pane in panes]
    for session in sessions:
        assert texts(stage, session) == []
        assert digest(stage, session)["unknownTranscript"].startswith(UNKNOWN), digest(stage, session)
    for number, (pane, session) in enumerate(zip(panes, sessions, strict=True)):
        typed(stage, pane, f"you are number {number}")
        until_said(stage, session, f"And again: you are number {number}")
    assert len({stage.show(session)["transcriptPath"] for session in sessions}) == 2


def test_another_agent_in_the_same_pane_does_not_inherit_the_log(stage: Stage) -> None:
    pane = started(
        stage,
        {"say": "The first agent was here."},
        {"wait": True},
        {"exit": 0},
        prompt="Be first",
        shell=True,
    )
    session = adopted(stage, pane, "shell")
    until_said(stage, session, "The first agent was here.")
    typed(stage, pane, "now end please")
    until(lambda: in_front(stage, pane) == "bash", lambda: stage.screen(pane))
    assert texts(stage, session), "it has ended, and its log is still known"
    stage.tmux("send-keys", "-t", pane, "clear", "Enter")
    until(lambda: "Be first" not in stage.screen(pane), lambda: stage.screen(pane))
    typed(stage, pane, shlex.join([*AGENT, "--script", stage.script(*ANSWERS)]))
    until(lambda: in_front(stage, pane) != "bash" and READY in stage.screen(pane), lambda: stage.screen(pane))
    assert texts(stage, session) == [], "the log of the agent before"
    assert stage.show(session)["transcriptPath"] is None
    typed(stage, pane, "second agent, speak")
    until_said(stage, session, "This pane answers: second agent, speak")


def test_a_home_that_only_the_agent_was_given(stage: Stage) -> None:
    """Neither the pane's shell nor the daemon knows the variable; a client that sends its own is not refused."""
    cwd = stage.maestro.cwd / "shared"
    cwd.mkdir()
    home = stage.place / "other-home"
    words = [
        *AGENT,
        "--script",
        stage.script({"say": "My log is elsewhere."}, *ANSWERS),
        "--prompt",
        "Begin there",
    ]
    pane = stage.tmux("new-session", "-d", "-x", "150", "-y", "40", "-P", "-F", "#{pane_id}", "-c", str(cwd),
                      "bash", "--norc", "-i").strip()  # fmt: skip
    typed(stage, pane, f"CLAUDE_CONFIG_DIR={home} {shlex.join(words)}")
    until_shown(stage, pane, "My log is elsewhere.")
    body = {
        "socket": stage.own_socket,
        "paneId": pane,
        "agent": "scripted",
        "environment": {"HOME": "/nowhere"},
    }
    session = str(stage.maestro.daemon.call("POST", "/api/sessions/adopt-pane", body, timeout=120)["id"])
    until_said(stage, session, "My log is elsewhere.")
    assert stage.show(session)["transcriptPath"].startswith(f"{home}/")


def test_what_is_resumed_in_another_pane_goes_with_its_process(stage: Stage) -> None:
    """A stand-in for Codex, which keeps its rollout open; the pane that it was resumed from has a shell in front."""
    home = stage.place / f"codex-{uuid4()}"
    log = home / "sessions/2026/11/17" / f"rollout-2026-11-17T10-00-00-{uuid4()}.jsonl"
    log.parent.mkdir(parents=True)
    first = {"type": "session_meta", "timestamp": "2026-11-17T10:00:00Z", "payload": {"cwd": str(stage.maestro.cwd), "source": "cli"}}  # fmt: skip
    log.write_text(json.dumps(first) + "\n")
    panes, sessions = [], []
    for place in (("new-session", "-d", "-x", "150", "-y", "40"), ("new-window", "-d")):
        words = ("-P", "-F", "#{pane_id}", "-c", str(stage.maestro.cwd), "bash", "--norc", "-i")
        panes.append(stage.tmux(*place, *words).strip())
    for pane in panes:
        typed(stage, pane, f"(CODEX_HOME={home} exec -a codex cat >> {log})")
        until_in_front(stage, pane, "codex")
        body = {"socket": stage.own_socket, "paneId": pane, "agent": "codex"}
        sessions.append(
            str(stage.maestro.daemon.call("POST", "/api/sessions/adopt-pane", body, timeout=120)["id"])
        )
    rows = [stage.show(one)["transcriptPath"] for one in sessions]
    assert rows == [str(log), None], "while both have it open, it stays with the one that had it first"
    stage.tmux("send-keys", "-t", panes[0], "C-d")
    until_in_front(stage, panes[0], "bash")
    # What was looked at a moment ago is not looked at again.
    until(lambda: not digest(stage, sessions[1])["unknownTranscript"], lambda: digest(stage, sessions[1]))
    assert "unknown" in digest(stage, sessions[0])["unknownTranscript"]
    assert [stage.show(one)["transcriptPath"] for one in sessions] == [None, str(log)]


def test_a_file_that_was_replaced_is_looked_at_anew(stage: Stage) -> None:
    pane = started(stage, {"say": "My own words are these."}, *ANSWERS, prompt="Say your words")
    session = adopted(stage, pane, "replaced")
    until_said(stage, session, "My own words are these.")
    path = Path(stage.show(session)["transcriptPath"])
    other = path.with_name(f"{uuid4()}.new")
    other.write_text(
        path.read_text().replace("My own words", "Some foreign text").replace("Say your words", "Say nothing")
    )
    os.replace(other, path)
    assert texts(stage, session) == []
    path.unlink()
    assert texts(stage, session) == []


def test_a_restarted_daemon_shows_its_own_and_no_other(stage: Stage) -> None:
    pane = started(stage, {"say": "I am the one of this pane."}, *ANSWERS, prompt="Who are you")
    started(stage, {"say": "I am a stranger, and newer."}, *ANSWERS, prompt="Who is it")
    session = adopted(stage, pane, "restarted")
    until_said(stage, session, "I am the one of this pane.")
    stage.kill_daemon()
    assert texts(stage, session)[-1] == "I am the one of this pane."
