"""Sessions in real panes: started, found again after any crash, ended to the last process."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support import SOAK, Maestro

from maestro import processes
from maestro.errors import MaestroError, Refused
from maestro.server import lifecycle

PATIENCE = 30.0


@pytest.fixture
def script(maestro: Maestro) -> Callable[..., str]:
    def write(*steps: dict[str, Any], **rest: Any) -> str:
        path = maestro.place / f"script{len(list(maestro.place.glob('script*')))}.json"
        path.write_text(json.dumps({"steps": steps, **rest}))
        return str(path)

    return write


@pytest.fixture
def spawn(
    maestro: Maestro, project: dict[str, Any], script: Callable[..., str]
) -> Callable[..., dict[str, Any]]:
    def spawning(
        *words: str, steps: tuple[dict[str, Any], ...] = ({"say": "I am at work on it."}, {"work": 3600})
    ) -> dict[str, Any]:
        found: dict[str, Any] = maestro.json(
            "session", "spawn", "--agent", "scripted", "--model", script(*steps), "--message", "Begin", *words
        )
        return found

    return spawning


def until(probe: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := probe()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
    return found


def panes(maestro: Maestro, fleet: str = "maestro") -> list[str]:
    """`@session_id` of every pane of ours, as tmux itself tells."""
    done = subprocess.run(
        ["tmux", "-S", maestro.home.path("fleets", fleet), "list-panes", "-a", "-F", "#{@session_id}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sorted(line for line in done.stdout.splitlines() if line)


def agents(maestro: Maestro) -> list[int]:
    """Every process of a scripted agent of this test."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if b"scripted_agent" in words and os.fsencode(maestro.place) in words:
                found.append(int(entry))
    return found


def test_a_session_starts_reports_and_is_seen(maestro: Maestro, spawn: Any) -> None:
    task = maestro.json("task", "create", "Fix login")["id"]
    steps = ({"say": "I am at work on it."}, {"run": ["maestro", "task", "report", "progress", "half way"]})
    session = spawn("--task", task, "--name", "Ann", steps=steps)
    assert (session["status"], session["name"], session["taskIds"]) == ("working", "Ann", [task])
    assert panes(maestro) == [session["id"]]
    until(lambda: maestro.json("task", "show", task)["lastReport"] == "half way")
    said = until(
        lambda: [
            e["text"] for e in maestro.json("session", "logs", "Ann")["entries"] if e["source"] == "assistant"
        ]
    )
    assert said == ["I am at work on it."]
    [listed] = until(lambda: [p for p in maestro.json("fleet", "list-panes") if p["notify"] != "working"])
    assert (listed["label"], listed["notify"], listed["sessionId"]) == ("Ann", "unchecked", session["id"])
    assert maestro.json("session", "show", "Ann")["status"] == "idle", "its own hook said that its turn ended"


def test_the_agents_environment_is_its_own(maestro: Maestro, spawn: Any) -> None:
    path = maestro.place / "env"
    leak = {"CLAUDECODE": "1", "OPENAI_API_KEY": "k", "MAESTRO_DATABASE_URL": ""}
    maestro.env |= leak
    spawn(steps=({"run": ["sh", "-c", f"env > {path}.new; mv {path}.new {path}"]},))
    until(path.exists)
    names = {line.partition("=")[0] for line in path.read_text().splitlines()}
    assert {"MAESTRO_SESSION_ID", "MAESTRO_SESSION_TOKEN", "MAESTRO_HOME", "HOME", "PATH"} <= names
    assert not names & {"CLAUDECODE", "OPENAI_API_KEY", "TMUX", "TMUX_PANE", "MAESTRO_DATABASE_URL"}


def test_dying_early_shows_the_last_screen(maestro: Maestro, project: dict[str, Any]) -> None:
    done = maestro("session", "spawn", "--agent", "scripted", "--model", "/no/such.json", "--message", "x")
    assert done.returncode == 1
    assert "No such file or directory" in done.stdout
    [session] = maestro.json("session", "list", "--all")
    assert (session["status"], "exit code 2" in session["lastReport"]) == ("error", True), session[
        "lastReport"
    ]


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
        assert not [s for s in maestro.json("session", "list", "--all") if s["endedAt"] is None]


def test_a_dialog_before_the_first_prompt_is_told_at_once(maestro: Maestro, spawn: Any) -> None:
    session = spawn("--name", "Ann", steps=({"dialog": "trust"}, {"say": "I am in."}))
    assert session["status"] == "needs_input"
    told = maestro.json("fleet", "list-panes")
    assert [pane["notify"] for pane in told] == ["unchecked"]
    asked = maestro.json("session", "explain", "Ann")
    assert (asked["status"], asked["question"]["kind"]) == ("dialog", "dialog")


def test_stop_ends_the_whole_tree(maestro: Maestro, spawn: Any) -> None:
    marker = maestro.place / "child"
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
    ended = until(lambda: (s := maestro.json("session", "show", session["id"]))["endedAt"] and s)
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


FLEET = """
name: crew
panes:
  - label: Boss
    agent: scripted
    model: {script}
    manages: [Main, Research]
  - label: Main
    agent: scripted
    model: {script}
    prompt: Fix the login
  - label: Research
    agent: scripted
    model: {script}
    prompt: Look around
    window: side
  - label: SDK
    agent: scripted
    model: {script}
    window: side
"""


def outcomes(told: dict[str, Any]) -> list[str]:
    return [pane["outcome"] for pane in told["panes"]]


def test_a_fleet_goes_up_and_down_and_comes_back(maestro: Maestro, script: Any) -> None:
    (maestro.cwd / "fleet.yml").write_text(FLEET.format(script=script({"say": "I am at work on it."})))
    first = maestro.json("up")
    assert outcomes(first) == ["started"] * 4
    ids = sorted(pane["session"]["id"] for pane in first["panes"])
    assert panes(maestro, "crew") == ids
    assert outcomes(maestro.json("up")) == ["alive"] * 4, "up twice is harmless"
    listed = {pane["label"]: pane for pane in maestro.json("fleet", "list-panes")}
    assert listed["Boss"]["manages"] == [listed["Main"]["paneId"], listed["Research"]["paneId"]]
    # The daemon dies: everything is found again.
    record = lifecycle.read_record(maestro.home)
    assert record
    os.kill(record["pid"], signal.SIGKILL)
    assert processes.wait_for_end(record["pid"], 10)
    assert outcomes(maestro.json("up")) == ["alive"] * 4
    # tmux dies, as at a reboot: what is gone is said, and resumed on request.
    subprocess.run(["tmux", "-S", maestro.home.path("fleets", "crew"), "kill-server"], check=True)
    until(lambda: not agents(maestro))
    assert outcomes(maestro.json("up")) == ["gone"] * 4
    back = maestro.json("up", "--resume")
    # Those that had said something have a conversation to go on with; the others had none.
    assert [pane["outcome"] for pane in back["panes"] if pane["label"] in {"Main", "Research"}] == [
        "resumed"
    ] * 2
    # They wait for a prompt, whatever they had written before.
    resumed = [pane for pane in maestro.json("session", "list") if pane["name"] in {"Main", "Research"}]
    assert [session["status"] for session in resumed] == ["idle"] * 2
    assert "4 sessions ended" in maestro("down", "crew").stdout or maestro.json("fleet", "status") == []
    assert agents(maestro) == []
    assert not os.path.exists(maestro.home.path("fleets", "crew"))
    assert outcomes(maestro.json("up")) == ["started"] * 4, "after down, up begins anew"


def test_a_faulty_fleet_file_names_its_line(maestro: Maestro) -> None:
    (maestro.cwd / "fleet.yml").write_text("name: x\npanes:\n  - label: A\n    agnet: claude\n")
    done = maestro("up")
    assert (done.returncode, "fleet.yml:" in done.stderr) == (2, True), done.stderr
    missing = maestro("up", "nothing.yml")
    assert (missing.returncode, "There is no nothing.yml" in missing.stderr) == (3, True)


def test_waiting_for_a_pane(maestro: Maestro, spawn: Any) -> None:
    one, two = spawn("--name", "One"), spawn("--name", "Two")
    assert maestro("fleet", "coordinate-wait", "--timeout", "0").stdout.splitlines() == [
        "TIMEOUT",
        "STATUS total=2 working=2 unchecked=0 error=0 done=0 checked=0 focused=0",
    ]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(maestro, "fleet", "coordinate-wait", "--timeout", "25")
        maestro("fleet", "notify", "unchecked", "--pane", "One")
        first_line, capture = waiting.result(30).stdout.split("\n", 1)
    assert first_line.split("|")[1:3] == ["unchecked", "One"]
    told = json.loads(capture)
    assert (told["sessionId"], "I am at work on it." in told["content"]) == (one["id"], True)
    maestro("fleet", "notify", "error", "--pane", two["id"])
    other = maestro("fleet", "coordinate-wait", "--timeout", "5", "--as", "somebody-else").stdout
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
    one = spawn("--name", "One", "--worktree", steps=(change, {"say": "I have committed the fix."}))
    two = spawn(
        "--name",
        "Two",
        "--worktree",
        steps=({"run": ["sh", "-c", "echo other > a.txt"]}, {"say": "Changed it, too."}),
    )
    assert one["worktree"]["branch"].startswith("maestro/")
    until(lambda: "fixed" in maestro("session", "diff", "One").stdout)
    until(lambda: "other" in maestro("session", "diff", "Two").stdout)
    assert "⚠ a.txt was changed by" in maestro("status").stdout
    assert not (maestro.cwd / "a.txt").exists()
    assert maestro.json("session", "merge", "One")["files"] == ["a.txt"]
    assert (maestro.cwd / "a.txt").read_text() == "fixed\n"
    assert maestro("session", "discard", "One").returncode == 4, "it still works there"
    for name in ("One", "Two"):
        maestro("session", "stop", name)
    assert maestro("session", "discard", "One").returncode == 0
    assert not os.path.exists(one["worktree"]["path"])
    dirty = maestro("session", "discard", "Two")
    assert (dirty.returncode, "--force" in dirty.stderr) == (4, True)
    assert maestro.json("session", "discard", "Two", "--force")["workSaved"]
    assert not os.path.exists(two["worktree"]["path"])


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_spawn_and_stop_survive_kills_of_the_daemon(
    maestro: Maestro, project: dict[str, Any], script: Any
) -> None:
    """What was acknowledged holds, no session runs twice, nothing is left over."""
    kills = 200 if SOAK else 3
    rng = random.Random(20261115)
    body = {
        "agent": "scripted",
        "model": script({"say": "I am at work on it."}),
        "message": "Begin",
        "directory": str(maestro.cwd),
        "environment": maestro.env,
    }
    running: set[str] = set()
    stopped: set[str] = set()

    def disturbed(path: str, sent: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request during which the daemon was killed; None when it was refused or failed."""
        going = pool.submit(maestro.daemon.call, "POST", path, sent, timeout=60)
        time.sleep(rng.uniform(0.0, 0.5))
        record = lifecycle.read_record(maestro.home)
        if record and lifecycle.is_alive(record):
            os.kill(record["pid"], signal.SIGKILL)
        try:
            answer: dict[str, Any] = going.result(90)
        except MaestroError:
            return None
        return answer

    with ThreadPoolExecutor(1) as pool:
        for number in range(kills):
            if running and number % 2:
                session_id = rng.choice(sorted(running))
                answer = disturbed(f"/api/sessions/{session_id}/stop", {})
                if answer is not None:
                    running.discard(session_id)
                    stopped.add(session_id)
            else:
                answer = disturbed("/api/sessions/spawn", body | {"name": f"w{number}"})
                if answer is not None and answer["status"] in {"working", "idle"}:
                    running.add(answer["id"])
    found = {session["id"]: session for session in maestro.json("session", "list", "--all")}
    shown = panes(maestro)
    assert len(shown) == len(set(shown)), "a session runs twice"
    assert {one for one in running if found[one]["endedAt"] is None} <= set(shown)
    assert all(found[one]["endedAt"] is not None for one in stopped)
    assert not set(shown) & stopped
    # A stop that was not acknowledged may have happened; whatever else was acknowledged still runs.
    lost = [one for one in running if found[one]["endedAt"] is not None]
    assert all("Stopped" in found[one]["lastReport"] or "ended" in found[one]["lastReport"] for one in lost)
    for session_id in [one for one, session in found.items() if session["endedAt"] is None]:
        maestro("session", "stop", session_id)
    assert maestro.json("session", "list") == []
    until(lambda: not agents(maestro))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_many_panes_leave_nothing_behind(maestro: Maestro, script: Any) -> None:
    count = 50 if SOAK else 5
    path = script({"say": "I am at work on it."})
    rows = "".join(
        f"  - {{label: W{n}, agent: scripted, model: {path}, prompt: Begin, window: w{n // 5}}}\n"
        for n in range(count)
    )
    (maestro.cwd / "fleet.yml").write_text(f"name: many\npanes:\n{rows}")
    told = maestro.json("up", timeout=300)
    assert outcomes(told) == ["started"] * count
    assert len(panes(maestro, "many")) == count
    assert len(maestro.json("down", "many", timeout=300)) == count
    assert agents(maestro) == []
    assert os.listdir(maestro.home.path("fleets")) == []
    assert maestro.json("session", "list") == []


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
