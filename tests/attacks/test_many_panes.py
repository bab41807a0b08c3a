"""A fleet of 300 panes, more panes in one window than its screen has room for, and more than tmux has files for."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.raw_http import most_memory
from tests.fleet.crew.seen import agents, panes, scripts_of, server_of
from tests.patience import run, until
from tests.support import BIN, SOAK, Maestro

from maestro import processes
from maestro.fleet.server_files import SPARE
from maestro.server import lifecycle

pytestmark = pytest.mark.more  # make test-more

MANY = 300 if SOAK else 8
IN_ONE_WINDOW = 40 if SOAK else 16
_OPEN_FILES = 256  # what some systems let a process open that does not ask for more


def few_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, hard))


class Fleet:
    def __init__(self, maestro: Maestro) -> None:
        self.maestro = maestro
        scripts_of(maestro).mkdir()

    def write(self, count: int, window: str = "") -> None:
        script = scripts_of(self.maestro) / "idle.json"
        script.write_text(json.dumps({"steps": [{"say": "I am ready."}]}))
        lines = ["name: many", "panes:"]
        for number in range(count):
            lines += [f"  - label: W{number}", "    agent: scripted", f"    model: {script}"]
            lines += [f"    window: {window}"] if window else []
        (self.maestro.cwd / "fleet.yml").write_text("\n".join(lines) + "\n")

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of somebody who may open few files, and so may the daemon and tmux that it starts."""
        maestro = self.maestro
        done: subprocess.CompletedProcess[str] = run(
            [BIN / "maestro", *words],
            env=maestro.env,
            cwd=maestro.cwd,
            text=True,
            seconds=900,
            preexec_fn=few_files,
        )
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words: str) -> Any:
        done = self(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def fleet(maestro: Maestro) -> Fleet:
    return Fleet(maestro)


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_fleet_of_many_panes(fleet: Fleet, maestro: Maestro) -> None:
    fleet.write(MANY)
    told = fleet.json("up")
    assert [pane["outcome"] for pane in told["panes"]] == ["started"] * MANY
    record = lifecycle.read_record(maestro.home)
    assert record
    pid = record["pid"]
    before = open_files(pid)
    assert len(panes(maestro, "many")) == len(agents(maestro)) == MANY
    assert len(fleet.json("session", "list")) == MANY
    assert len(fleet.json("fleet", "list-panes")) == MANY
    for words in (("status",), ("fleet", "status"), ("inbox",), ("session", "logs", "W1")):
        assert fleet(*words).returncode == 0, words
    first = fleet.json("fleet", "coordinate-wait", "--timeout", "60")
    assert first["capture"] is not None, first
    assert fleet("session", "prompt", f"W{MANY - 1}", "--message", "go on", "--timeout", "60").returncode == 0
    assert [pane["outcome"] for pane in fleet.json("up")["panes"]] == ["alive"] * MANY
    assert open_files(pid) <= before + 5 < _OPEN_FILES
    assert most_memory(pid) < 250_000_000
    # While it ends, nobody else is held up.
    ending = maestro.start("down", "many")
    assert fleet("task", "list").returncode == 0
    _, err = ending.communicate()
    assert ending.returncode == 0, err
    until(lambda: not agents(maestro))
    assert panes(maestro, "many") == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_more_panes_in_one_window_than_there_is_room_for(fleet: Fleet, maestro: Maestro) -> None:
    fleet.write(IN_ONE_WINDOW, window="all")
    told = fleet.json("up")
    assert [pane["outcome"] for pane in told["panes"]] == ["started"] * IN_ONE_WINDOW, [
        pane for pane in told["panes"] if pane["outcome"] != "started"
    ][:1]
    assert len(panes(maestro, "many")) == len(agents(maestro)) == IN_ONE_WINDOW
    assert fleet("down", "many").returncode == 0
    until(lambda: not agents(maestro))


def test_a_server_without_a_file_left_for_a_pane_still_answers(fleet: Fleet, maestro: Maestro) -> None:
    fleet.write(1)
    assert fleet("up").returncode == 0
    tmux = server_of(maestro, "many")
    # Room for two panes more.
    limit = open_files(tmux) + SPARE + 2
    resource.prlimit(tmux, resource.RLIMIT_NOFILE, (limit, limit))
    fleet.write(6)
    done = fleet("up")
    assert done.returncode != 0
    assert f"tmux may open {limit} files at once, and has no room for another pane." in done.stdout
    started = len(agents(maestro))
    assert 1 < started < 6
    assert len(panes(maestro, "many")) == started
    assert fleet("fleet", "status").returncode == 0
    # Now it has none at all, and takes no connection of anybody else.
    resource.prlimit(tmux, resource.RLIMIT_NOFILE, (open_files(tmux), limit))
    assert fleet("down", "many").returncode == 0
    until(lambda: not agents(maestro))
    until(lambda: not processes.exists(tmux))
