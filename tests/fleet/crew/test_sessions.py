"""Sessions in real panes: started, seen, waited for, ended to the last process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.fleet.crew.seen import agents, panes
from tests.patience import patience, until
from tests.support import Maestro

from maestro import processes
from maestro.errors import Refused
from maestro.fleet.deaths import early_end, killed_by, killed_end


@pytest.fixture
def maestro(crew: Maestro) -> Maestro:
    return crew


def sessions(maestro: Maestro, project: dict[str, Any]) -> list[dict[str, Any]]:
    """All of this project, the ended ones as well."""
    every = maestro.json("session", "list", "--all")
    return [one for one in every if one["projectId"] == project["id"]]


def test_a_session_starts_reports_and_is_seen(maestro: Maestro, spawn: Any) -> None:
    task = maestro.json("task", "create", "Fix login")["id"]
    steps = ({"say": "I am at work on it."}, {"run": ["maestro", "task", "report", "progress", "half way"]})
    session = spawn("--task", task, "--name", "Ann", steps=steps)
    assert (session["status"], session["name"], session["taskIds"]) == ("working", "Ann", [task])
    assert panes(maestro) == [session["id"]]
    until(lambda: maestro.daemon.call("GET", f"/api/tasks/{task}")["lastReport"] == "half way")
    logs = maestro.json("session", "logs", "Ann")["entries"]
    said = [entry["text"] for entry in logs if entry["source"] == "assistant"]
    assert said == ["I am at work on it."]
    until(lambda: [one["notify"] for one in maestro.daemon.call("GET", "/api/fleets/panes")] != ["working"])
    [listed] = maestro.json("fleet", "list-panes")
    assert (listed["label"], listed["notify"], listed["sessionId"]) == ("Ann", "unchecked", session["id"])
    assert maestro.json("session", "show", "Ann")["status"] == "idle", "its own hook said that its turn ended"


def test_the_agents_environment_is_its_own(maestro: Maestro, spawn: Any) -> None:
    path = maestro.cwd / "env"
    leak = {"CLAUDECODE": "1", "OPENAI_API_KEY": "k", "MAESTRO_DATABASE_URL": ""}
    spawn(steps=({"run": ["sh", "-c", f"env > {path}.new; mv {path}.new {path}"]},), env=leak)
    until(path.exists)
    names = {line.partition("=")[0] for line in path.read_text().splitlines()}
    assert {"MAESTRO_SESSION_ID", "MAESTRO_SESSION_TOKEN", "MAESTRO_HOME", "HOME", "PATH"} <= names
    assert not names & {"CLAUDECODE", "OPENAI_API_KEY", "TMUX", "TMUX_PANE", "MAESTRO_DATABASE_URL"}


def test_dying_early_shows_the_last_screen(maestro: Maestro, project: dict[str, Any]) -> None:
    done = maestro("session", "spawn", "--agent", "scripted", "--model", "/no/such.json", "--message", "x")
    assert done.returncode == 1
    assert "No such file or directory" in done.stdout
    [session] = sessions(maestro, project)
    assert (session["status"], "exit code 2" in session["lastReport"]) == ("error", True), session[
        "lastReport"
    ]


def test_an_early_end_without_a_word_says_what_to_do() -> None:
    assert early_end(3, "", ["", "one", " ", "two"]) == "It ended early (exit code 3):\none\ntwo"
    assert early_end(None, "", ["one"]) == "It ended early (exit code not known):\none"
    silent = early_end(None, "SIGKILL", ["", "Pane is dead (signal 9)"])
    assert silent.startswith(
        "It ended early (signal SIGKILL), and its pane shows no reason. Start it by hand"
    )


def test_a_killed_agent_is_told_from_one_that_failed() -> None:
    assert [killed_by(None, told) for told in ("9", "SIGKILL", "KILL", "15", "1")] == [
        *("SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "SIGHUP")
    ]
    assert (killed_by(137, ""), killed_by(143, ""), killed_by(130, "")) == ("SIGKILL", "SIGTERM", "SIGINT")
    # A fault of its own: what its screen shows may say which.
    assert {killed_by(code, "") for code in (None, 0, 1, 2, 127, 128, 134, 139, 255)} == {""}
    assert {killed_by(None, told) for told in ("6", "11", "SIGSEGV")} == {""}
    assert killed_end("SIGKILL", "I work.") == "It was killed by SIGKILL; it last said: “I work.”"
    assert killed_end("SIGTERM", "") == "It was killed by SIGTERM, and had said nothing."


def test_what_cannot_be_started_is_told(maestro: Maestro, project: dict[str, Any]) -> None:
    for words, code, sentence in (
        (["--agent", "nobody"], 3, "nobody"),
        (["--agent", "scripted"], 2, "no script to play"),
        (["--agent", "scripted", "--model", "x.json", "--task", "task_NOPE99"], 3, "There is no task"),
        (["--agent", "scripted", "--model", "x.json", "--worktree"], 2, "repository"),
    ):
        done = maestro("session", "spawn", "--message", "x", *words)
        assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr
        assert panes(maestro) == []
        assert not [one for one in sessions(maestro, project) if one["endedAt"] is None]


def test_a_dialog_before_the_first_prompt_is_told_at_once(maestro: Maestro, spawn: Any) -> None:
    session = spawn("--name", "Bea", steps=({"dialog": "trust"}, {"say": "I am in."}))
    assert session["status"] == "needs_input"
    told = maestro.json("fleet", "list-panes")
    assert [pane["notify"] for pane in told] == ["unchecked"]
    asked = maestro.json("session", "explain", "Bea")
    assert (asked["status"], asked["question"]["kind"]) == ("dialog", "dialog")


def test_stop_ends_the_whole_tree(maestro: Maestro, spawn: Any) -> None:
    marker = maestro.cwd / "child"
    stubborn = f"setsid sh -c 'trap \"\" TERM HUP; echo $$ > {marker}; while :; do sleep 1; done'"
    session = spawn(steps=({"say": "Starting something stubborn."}, {"run": ["sh", "-c", stubborn]}))
    child = int(until(lambda: marker.exists() and marker.read_text().strip()))
    assert maestro.json("session", "stop", session["id"])["status"] == "stopped"
    assert processes.start_time(child) is None
    assert agents(maestro) == []
    assert panes(maestro) == []
    again = maestro.json("session", "stop", session["id"])
    assert again["status"] == "stopped"


def test_an_agent_that_ends_by_itself_is_noticed(maestro: Maestro, spawn: Any) -> None:
    session = spawn(steps=({"say": "I am at work on it."}, {"work": 0.3}, {"exit": 7}))
    until(lambda: maestro.daemon.call("GET", f"/api/sessions/{session['id']}")["endedAt"])
    ended = maestro.json("session", "show", session["id"])
    assert (ended["status"], "exit code 7" in ended["lastReport"]) == ("error", True)


def test_roles(maestro: Maestro, spawn: Any, script: Any) -> None:
    worker = maestro.daemon.call(
        "POST", "/api/sessions", {"agent": "scripted", "directory": str(maestro.cwd)}
    )
    inside = {"MAESTRO_SESSION_ID": worker["session"]["id"], "MAESTRO_SESSION_TOKEN": worker["token"]}
    words = (
        "session",
        "spawn",
        "--agent",
        "scripted",
        "--model",
        script({"say": "hello there"}),
        "--message",
        "x",
    )
    assert maestro(*words, env=inside).returncode == Refused.exit_code
    boss = maestro.daemon.call(
        "POST", "/api/sessions", {"agent": "scripted", "role": "coordinator", "directory": str(maestro.cwd)}
    )
    inside = {"MAESTRO_SESSION_ID": boss["session"]["id"], "MAESTRO_SESSION_TOKEN": boss["token"]}
    child = maestro.json(*words, env=inside)
    assert child["parentSessionId"] == boss["session"]["id"]
    other = spawn()
    assert maestro("session", "stop", other["id"], env=inside).returncode == Refused.exit_code
    assert maestro("fleet", "capture-pane", other["id"], env=inside).returncode == Refused.exit_code
    assert maestro("fleet", "capture-pane", child["id"], env=inside).returncode == 0
    assert maestro("session", "stop", child["id"], env=inside).returncode == 0
    assert maestro("up", env=inside).returncode in {3, 5}


def test_waiting_for_a_pane(maestro: Maestro, spawn: Any) -> None:
    one, two = spawn("--name", "One"), spawn("--name", "Two")
    assert maestro("fleet", "coordinate-wait", "--timeout", "0").stdout.splitlines() == [
        "TIMEOUT",
        "STATUS total=2 working=2 unchecked=0 error=0 done=0 checked=0 focused=0",
    ]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(maestro, "fleet", "coordinate-wait", "--timeout", str(patience(25)))
        maestro("fleet", "notify", "unchecked", "--pane", "One")
        first_line, capture = waiting.result(patience(30)).stdout.split("\n", 1)
    assert first_line.split("|")[1:3] == ["unchecked", "One"]
    told = json.loads(capture)
    assert (told["sessionId"], "I am at work on it." in told["content"]) == (one["id"], True)
    maestro("fleet", "notify", "error", "--pane", two["id"])
    other = maestro("fleet", "coordinate-wait", "--timeout", str(patience(5)), "--as", "somebody-else").stdout
    assert other.split("\n")[0].split("|")[1:3] == ["error", "Two"], (
        "two coordinators do not take the same pane"
    )
    third = maestro("fleet", "coordinate-wait", "--timeout", "0", "--as", "a-third").stdout
    assert third.startswith("TIMEOUT")


def test_a_worktree_is_merged_and_given_back(maestro: Maestro, spawn: Any) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
            cwd=maestro.cwd,
            check=True,
            capture_output=True,
        )

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("config", "user.name", "t")
    git("config", "user.email", "t@example.org")
    change = {"run": ["sh", "-c", "echo fixed > a.txt; git add a.txt; git commit -qm fix"]}
    left = spawn("--name", "Left", "--worktree", steps=(change, {"say": "I have committed the fix."}))
    right = spawn(
        "--name",
        "Right",
        "--worktree",
        steps=({"run": ["sh", "-c", "echo other > a.txt"]}, {"say": "Changed it, too."}),
    )
    assert left["worktree"]["branch"].startswith("maestro/")
    diff_of = {name: f"/api/sessions/{one['id']}/diff" for name, one in (("Left", left), ("Right", right))}
    until(lambda: "fixed" in maestro.daemon.call("GET", diff_of["Left"])["diff"])
    until(lambda: "other" in maestro.daemon.call("GET", diff_of["Right"])["diff"])
    assert "fixed" in maestro("session", "diff", "Left").stdout
    assert "other" in maestro("session", "diff", "Right").stdout
    assert "⚠ a.txt was changed by" in maestro("status").stdout
    assert not (maestro.cwd / "a.txt").exists()
    assert maestro.json("session", "merge", "Left")["files"] == ["a.txt"]
    assert (maestro.cwd / "a.txt").read_text() == "fixed\n"
    assert maestro("session", "discard", "Left").returncode == 4, "it still works there"
    for name in ("Left", "Right"):
        maestro("session", "stop", name)
    assert maestro("session", "discard", "Left").returncode == 0
    assert not os.path.exists(left["worktree"]["path"])
    dirty = maestro("session", "discard", "Right")
    assert (dirty.returncode, "--force" in dirty.stderr) == (4, True)
    assert maestro.json("session", "discard", "Right", "--force")["workSaved"]
    assert not os.path.exists(right["worktree"]["path"])


def test_a_pane_of_the_users_own_tmux_is_adopted_and_left_alone(maestro: Maestro, script: Any) -> None:
    socket = maestro.place / "own"
    path = script({"say": "I was here before Maestro."}, {"wait": True})

    def tmux(*words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", socket, *words], env=maestro.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    agent = f"{sys.executable} -m maestro.testing.scripted_agent --script {path}"
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "-c", str(maestro.cwd), agent)
    try:
        before = (
            tmux("show-options", "-g")
            + tmux("show-hooks", "-g")
            + tmux("list-sessions", "-F", "#{session_name}")
        )
        until(lambda: "I was here before Maestro." in tmux("capture-pane", "-p"))
        words = ("session", "adopt", "--pane", "%0", "--tmux-socket", str(socket), "--name", "Mine")
        tmux("split-window", "-d", "cat")
        unsure = maestro("session", "adopt", "--pane", "%1", "--tmux-socket", str(socket))
        assert (unsure.returncode, "--agent" in unsure.stderr) == (2, True), unsure.stderr
        tmux("kill-pane", "-t", "%1")
        session = maestro.json(*words)
        assert session["agent"] == "scripted", "it is known by what has the terminal"
        assert maestro.json(*words, "--agent", "scripted")["id"] == session["id"], "twice is harmless"
        assert (
            tmux("display-message", "-p", "-t", "%0", "#{@session_id} #{@pane_label}").strip()
            == f"{session['id']} Mine"
        )
        assert maestro.json("session", "logs", "Mine")["entries"][-1]["text"] == "I was here before Maestro."
        assert "before Maestro" in maestro.json("fleet", "capture-pane", "Mine")["content"]
        maestro("fleet", "notify", "unchecked", "--pane", "Mine")
        assert maestro("fleet", "coordinate-wait", "--timeout", "0").stdout.split("|")[1:3] == [
            "unchecked",
            "Mine",
        ]
        stop = maestro("session", "stop", "Mine")
        assert (stop.returncode, "did not start" in stop.stderr) == (4, True)
        after = (
            tmux("show-options", "-g")
            + tmux("show-hooks", "-g")
            + tmux("list-sessions", "-F", "#{session_name}")
        )
        assert after == before
        assert tmux("list-clients") == ""
    finally:
        tmux("kill-server")
