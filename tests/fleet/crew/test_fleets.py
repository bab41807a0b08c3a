"""Fleets by their file: up, found again after any crash, and down without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from tests.fleet.crew.seen import agents, panes
from tests.patience import patience, until
from tests.support import SOAK, Maestro

from maestro import processes
from maestro.errors import DaemonError, NotFound
from maestro.server import lifecycle


@pytest.fixture
def maestro(crew: Maestro) -> Maestro:
    return crew


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
    assert processes.wait_for_end(record["pid"], patience(10))
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


def test_a_session_is_not_resumed_where_its_folder_became_a_link(maestro: Maestro, script: Any) -> None:
    outside = maestro.cwd.parent / "outside"
    (maestro.cwd / "part").mkdir()
    (maestro.cwd / "part/code.txt").write_text("one")
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *words], cwd=maestro.cwd, check=True)
    says = script({"say": "I am at work on it."})
    (maestro.cwd / "fleet.yml").write_text(
        "name: crew\npanes:\n"
        f"  - {{label: Ann, agent: scripted, model: {says}, prompt: Go, cwd: part, worktree: true}}\n"
    )
    (ann,) = maestro.json("up")["panes"]
    here = ann["session"]["worktree"]["cwd"]
    subprocess.run(["tmux", "-S", maestro.home.path("fleets", "crew"), "kill-server"], check=True)
    until(lambda: not agents(maestro))
    assert outcomes(maestro.json("up")) == ["gone"]
    os.rename(here, outside)
    os.symlink(outside, here)
    done = maestro("up", "--resume", "--json")
    assert (done.returncode, "leads out" in done.stdout) == (1, True), (done.stdout, done.stderr)
    assert agents(maestro) == []


def test_a_faulty_fleet_file_names_its_line(maestro: Maestro) -> None:
    (maestro.cwd / "fleet.yml").write_text("name: x\npanes:\n  - label: A\n    agnet: claude\n")
    done = maestro("up")
    assert (done.returncode, "fleet.yml:" in done.stderr) == (2, True), done.stderr
    missing = maestro("up", "nothing.yml")
    assert (missing.returncode, "There is no nothing.yml" in missing.stderr) == (3, True)


@pytest.mark.more
@pytest.mark.soak
def test_whoever_only_looks_does_not_start_what_is_just_ended(maestro: Maestro, spawn: Any) -> None:
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            # In the moment of its end a server may be there and not answer.
            with suppress(NotFound, DaemonError):
                maestro.daemon.call("GET", "/api/fleets/panes")

    with ThreadPoolExecutor(4) as pool:
        looking = [pool.submit(look) for _ in range(4)]
        try:
            for _ in range(4):
                spawn()
                maestro.daemon.call("POST", "/api/fleets/maestro/down", {}, timeout=60)
        finally:
            over.set()
        for one in looking:
            one.result()
    assert os.listdir(maestro.home.path("fleets")) == []


@pytest.mark.more
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
