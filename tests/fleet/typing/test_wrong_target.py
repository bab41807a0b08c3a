"""Where text must not go, it does not: held, refused or uncertain, with the reason (bar R6)."""

from __future__ import annotations

import os
import signal

import pytest
from tests.fleet.typing.stage import Stage, children
from tests.patience import patience, until

from maestro import processes
from maestro.errors import Conflict, NotFound

SECRET_WORDS = "these words must not arrive anywhere"


def refused(stage: Stage, session: str, reason: str) -> None:
    done = stage.prompt(session, SECRET_WORDS)
    assert (done.returncode, reason in done.stderr) == (Conflict.exit_code, True), done.stderr


def test_a_name_is_not_the_beginning_of_another(stage: Stage) -> None:
    ten = stage.spawn("w10")
    one = stage.spawn("w1")
    assert stage.prompt("w1", "for the first alone").returncode == 0
    stage.until_heard(one, "for the first alone")
    assert stage.heard(ten) == []
    unknown = stage.prompt("w", SECRET_WORDS)
    assert (unknown.returncode, "There is no session" in unknown.stderr) == (NotFound.exit_code, True)
    assert stage.maestro.json("session", "stop", one)["status"] == "stopped"
    assert stage.prompt(one, SECRET_WORDS).returncode == Conflict.exit_code
    assert stage.heard(ten) == []


def test_a_pane_in_copy_mode_is_waited_for(stage: Stage) -> None:
    session = stage.spawn("copied")
    stage.in_pane(session, "copy-mode")
    stage.times_out(session, "after the look back", "copy mode")
    assert stage.heard(session) == []
    stage.in_pane(session, "send-keys", "-X", "cancel")
    until(lambda: stage.heard(session) == ["after the look back"])


def test_a_window_that_hands_keys_on_is_waited_for(stage: Stage) -> None:
    session = stage.spawn("together")
    stage.in_pane(session, "split-window", "-d", "cat", "-")
    stage.in_pane(session, "set-option", "-w", "synchronize-panes", "on")
    stage.times_out(session, "for one pane only", "synchronize-panes")
    stage.in_pane(session, "set-option", "-w", "synchronize-panes", "off")
    until(lambda: stage.heard(session) == ["for one pane only"])
    socket, pane = stage.place_of(session)
    others = stage.tmux("list-panes", "-t", pane, "-F", "#{pane_id}", socket=socket).split()
    assert len(others) == 2
    for other in others:
        if other != pane:
            assert "for one pane" not in stage.tmux("capture-pane", "-p", "-t", other, socket=socket)


def test_an_agent_that_was_quit_leaves_a_shell_that_gets_nothing(stage: Stage) -> None:
    session = stage.adopt("quitter", shell=True)
    assert stage.prompt(session, "while it runs").returncode == 0
    stage.in_pane(session, "send-keys", "C-c")
    stage.in_pane(session, "send-keys", "C-c")
    until(lambda: (processes.foreground(stage.pid(session)) or ("",))[0] == "bash")
    refused(stage, session, "not in front")
    assert SECRET_WORDS not in stage.screen(session)


def test_a_suspended_agent_leaves_a_shell_that_gets_nothing(stage: Stage) -> None:
    session = stage.adopt("sleeper", shell=True)
    [agent] = until(lambda: children(stage.pid(session)))
    # What Ctrl-Z does to a program that does not catch it.
    os.kill(agent, signal.SIGTSTP)
    stage.see(session, "Stopped")
    refused(stage, session, "not in front")
    assert SECRET_WORDS not in stage.screen(session)
    # Another program takes the terminal: the agent's last screen may still stand above it.
    stage.in_pane(session, "send-keys", "cat > /dev/null", "Enter")
    until(lambda: (processes.foreground(stage.pid(session)) or ("",))[0] == "cat")
    refused(stage, session, "“cat”")
    assert SECRET_WORDS not in stage.screen(session)


def test_a_dead_pane_and_one_with_another_program(stage: Stage) -> None:
    session = stage.spawn("dying")
    os.kill(stage.pid(session), signal.SIGKILL)
    until(lambda: stage.show(session)["endedAt"])
    refused(stage, session, "has ended")
    other = stage.spawn("replaced")
    stage.in_pane(other, "respawn-pane", "-k", "cat", "-")
    refused(stage, other, "")
    assert SECRET_WORDS not in stage.screen(other)
    adopted = stage.adopt("replaced-too")
    stage.in_pane(adopted, "respawn-pane", "-k", "cat", "-")
    refused(stage, adopted, "")
    assert SECRET_WORDS not in stage.screen(adopted)


def test_a_pane_of_the_same_name_in_a_new_server(stage: Stage) -> None:
    """tmux ended, and began again: `%0` is a shell of somebody else's now."""
    session = stage.adopt("first-life")
    _, pane = stage.place_of(session)
    server = int(stage.tmux("display-message", "-p", "#{pid}"))
    stage.tmux("kill-server")
    # One that is ending still takes connections, and ends them with itself.
    assert processes.wait_for_end(server, patience())
    for number in range(int(pane[1:]) + 1):
        stage.tmux(*(("new-window", "-d") if number else ("new-session", "-d")), "cat", "-")
    assert pane in stage.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    refused(stage, session, "")
    assert SECRET_WORDS not in stage.tmux("capture-pane", "-p", "-t", pane)


def test_nothing_to_type_and_nowhere_to_type_it(stage: Stage) -> None:
    session = stage.spawn("plain")
    long = stage.place / "long"
    long.write_text("x" * 500_001)
    for words, code, sentence in [
        (("--message", " \n "), 2, "empty"),
        (("--message", "\x1b\x07"), 2, "empty"),
        (("--file", str(long)), 2, "500,000"),
        ((), 2, "no message"),
        (("--message", "x", "--file", "y"), 2, "more than one"),
        (("--file", "/no/such/file"), 3, "no file"),
        (("--message", "x", "--question", "ques_X"), 4, "no longer open"),
    ]:
        done = stage.maestro("session", "prompt", session, *words)
        assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr
    assert stage.heard(session) == []
    bare = stage.maestro.daemon.call(
        "POST", "/api/sessions", {"agent": "scripted", "directory": str(stage.maestro.cwd)}
    )["session"]["id"]
    done = stage.prompt(bare, SECRET_WORDS)
    assert (done.returncode, "no terminal" in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    "text", ["!ls", "/help", "#note", "@file", "7", "exit", "ends with \\", " a\n\n  b ", "-R"]
)
def test_text_is_text(stage: Stage, text: str) -> None:
    session = stage.maestro.json("session", "list")
    known = {one["name"]: one["id"] for one in session}
    reader = known.get("reader") or stage.spawn("reader")
    until(lambda: stage.said(reader))
    before = len(stage.heard(reader))
    done = stage.maestro("session", "prompt", reader, "-", input=text)
    assert done.returncode == 0, done.stderr
    [taken] = until(lambda: stage.heard(reader)[before:], lambda: stage.screen(reader))
    assert "".join(text.split()).strip("\\") in "".join(taken.split())
