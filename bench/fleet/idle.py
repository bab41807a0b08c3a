"""The row S10 for a whole fleet: twenty agents at their boxes, a coordinate loop, and nothing to do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import Row, row
from maestro.home import Home
from maestro.server import lifecycle
from maestro.server.client import Daemon

AGENTS = 20
SECONDS = 60.0
SETTLE_SECONDS = 15.0  # the last bounded looks after a first prompt are over then
MAESTRO = Path(sys.executable).parent / "maestro"


def idle_fleet() -> Row:
    with _fleet() as (env, work):
        loop = subprocess.Popen(
            [MAESTRO, "coordinate"],
            env=env,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(SETTLE_SECONDS)
            pids = [loop.pid, *_ours(env)]
            before, started = sum(map(_cpu, pids)), time.perf_counter()
            time.sleep(SECONDS)
            spent, passed = sum(map(_cpu, pids)) - before, time.perf_counter() - started
            assert loop.poll() is None, "the loop ended by itself"
        finally:
            loop.send_signal(signal.SIGINT)
            loop.wait(timeout=30)
    what = f"idle: CPU % of {AGENTS} agents and a loop: daemon, loop, tmux"
    return row("S10", what, 0.5, (spent * 100 / passed, 1.0))


@contextmanager
def _fleet() -> Iterator[tuple[dict[str, str], Path]]:
    folder = tempfile.mkdtemp(prefix="mb")
    work = Path(folder) / "work"
    work.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": folder, "MAESTRO_HOME": f"{folder}/m", "LANG": "C.UTF-8"}
    env |= {"MAESTRO_SCRIPTED": "1", "MAESTRO_TRUST_ONCE": "1", "SHELL": "/bin/sh"}
    script = work / "script.json"
    script.write_text(json.dumps({"steps": [{"say": "I am ready."}], "idle_after": 3600}))
    panes = [
        {"label": f"w{number}", "agent": "scripted", "model": str(script), "prompt": "Begin"}
        for number in range(AGENTS)
    ]
    # JSON is YAML.
    (work / "fleet.yml").write_text(json.dumps({"name": "idle", "panes": panes}))
    try:
        for words in (("project", "add", "."), ("up",)):
            subprocess.run([MAESTRO, *words], env=env, cwd=work, check=True, stdout=subprocess.DEVNULL)
        yield env, work
    finally:
        subprocess.run([MAESTRO, "down"], env=env, cwd=work, check=True, stdout=subprocess.DEVNULL)
        lifecycle.stop(Home(env["MAESTRO_HOME"]), force=True)
        shutil.rmtree(folder, ignore_errors=True)


def _ours(env: dict[str, str]) -> list[int]:
    """The daemon and the tmux server of its one fleet."""
    home = Home(env["MAESTRO_HOME"])
    record = lifecycle.read_record(home)
    assert record is not None
    [fleet] = Daemon(env).call("GET", "/api/fleets")
    asked = ["tmux", "-S", home.path("fleets", fleet["name"]), "display-message", "-p", "#{pid}"]
    tmux = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    return [int(record["pid"]), int(tmux)]


def _cpu(pid: int) -> float:
    """Seconds of processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
