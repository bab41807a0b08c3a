"""Which variables the processes of sessions really have, when their caller has the keys of every CLI."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.support import Maestro

from maestro.server import lifecycle

KEYS = {
    "claude": {"ANTHROPIC_API_KEY": "for-claude"},
    "codex": {"OPENAI_API_KEY": "for-codex"},
    "gemini": {"GEMINI_API_KEY": "for-gemini"},
}
ALL = {name: value for own in KEYS.values() for name, value in own.items()}


@dataclass
class Stage:
    """Three programs by the names of the CLIs, and a caller with the keys of each."""

    maestro: Maestro
    env: dict[str, str]

    def spawn(self, agent: str, *words: str, env: dict[str, str] | None = None) -> tuple[str, dict[str, str]]:
        """Returns the new session's id and its process's variables, as the kernel tells them."""
        before = set(self.panes())
        # They show no screen and write no transcript, so nobody waits until they are ready.
        self.maestro.start("session", "spawn", "--agent", agent, *words, env=env or self.env)
        new: dict[str, int] = {}

        def has_begun() -> bool:
            found = self.panes()
            for one in set(found) - before:
                if Path(f"/proc/{found[one]}/cmdline").read_bytes().startswith(b"sleep\0"):
                    new[one] = found[one]
            return bool(new)

        until(has_begun)
        [(session, pid)] = new.items()
        return session, variables(pid)

    def panes(self) -> dict[str, int]:
        words = ["tmux", "-S", self.maestro.home.path("fleets", "maestro"), "list-panes", "-a"]
        done = subprocess.run(
            [*words, "-F", "#{@session_id} #{pane_pid}"], capture_output=True, text=True, check=False
        )
        lines = [line.split() for line in done.stdout.splitlines()]
        return {words[0]: int(words[1]) for words in lines if len(words) == 2}

    def kept(self, session: str) -> Path:
        return Path(self.maestro.home.path("environments", f"{session}.json"))


def variables(pid: int) -> dict[str, str]:
    words = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def keys(found: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in found.items() if name in ALL}


@pytest.fixture
def stage(maestro: Maestro, project: dict[str, Any]) -> Stage:
    programs = maestro.place / "clis"
    programs.mkdir()
    for name in KEYS:
        (programs / name).write_text(
            "#!/bin/sh\ncase $1 in --version) echo 0.166.0; exit;; esac\nexec sleep 3600\n"
        )
        (programs / name).chmod(0o755)
    return Stage(maestro, maestro.env | ALL | {"PATH": f"{programs}:{maestro.env['PATH']}"})


@pytest.mark.parametrize("role", ["worker", "coordinator"])
def test_a_session_has_the_keys_of_its_own_cli_alone(stage: Stage, role: str) -> None:
    for agent, own in KEYS.items():
        _, found = stage.spawn(agent, "--role", role)
        assert keys(found) == own


def test_a_coordinators_children_get_theirs_from_the_daemon(stage: Stage) -> None:
    coordinator, own = stage.spawn("claude", "--role", "coordinator")
    kept = stage.kept(coordinator)
    assert keys(json.loads(kept.read_text())) == ALL
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert coordinator not in os.listdir(stage.maestro.home.path("sessions", coordinator))

    # As the coordinator's own process would, with what it has; and it cannot give a child another key.
    as_coordinator = stage.maestro.env | own | {"OPENAI_API_KEY": "stolen"}
    _, child = stage.spawn("codex", env=as_coordinator)
    assert keys(child) == KEYS["codex"]
    below, found = stage.spawn("claude", "--role", "coordinator", env=as_coordinator)
    assert keys(found) == KEYS["claude"]
    assert keys(json.loads(stage.kept(below).read_text())) == ALL

    os.kill(lifecycle.read_record(stage.maestro.home)["pid"], signal.SIGKILL)  # type: ignore[index]  # it runs
    _, child = stage.spawn("gemini", env=as_coordinator)
    assert keys(child) == KEYS["gemini"]

    stage.maestro("session", "stop", coordinator, "--force")
    assert not kept.exists()


def test_neither_the_daemon_nor_tmux_has_a_key(stage: Stage) -> None:
    stage.spawn("codex")
    record = lifecycle.read_record(stage.maestro.home)
    assert record is not None
    words = ["tmux", "-S", stage.maestro.home.path("fleets", "maestro"), "display-message", "-p", "#{pid}"]
    server = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert keys(variables(record["pid"])) == keys(variables(server)) == {}
    shown = subprocess.run(
        [*words[:3], "show-environment", "-g"], capture_output=True, text=True, check=True
    ).stdout
    assert not [name for name in ALL if name in shown]


def test_what_is_kept_goes_with_a_session_that_ended_without_a_daemon(stage: Stage) -> None:
    coordinator, _ = stage.spawn("claude", "--role", "coordinator")
    stray = stage.kept("sess_OF_NOBODY")
    stray.write_text("{}")
    os.kill(lifecycle.read_record(stage.maestro.home)["pid"], signal.SIGKILL)  # type: ignore[index]  # it runs
    stage.maestro.json("session", "list")
    assert (stray.exists(), stage.kept(coordinator).exists()) == (False, True)
