"""A daemon whose home is gone ends by itself, touches nothing that took its place, and leaves agents alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.server.test_daemon import daemon_pids
from tests.support import Maestro

from maestro import processes
from maestro.home import Home
from maestro.server import lifecycle
from maestro.server.ownership import Ownership

pytestmark = pytest.mark.more  # make test-more

SECONDS = 60


@pytest.fixture
def pid(maestro: Maestro) -> int:
    """A daemon at work."""
    assert maestro("project", "add", ".").returncode == 0
    [running] = daemon_pids(maestro)
    return running


def ends(pid: int) -> bool:
    return processes.wait_for_end(pid, SECONDS)


def test_home_removed(maestro: Maestro, pid: int) -> None:
    shutil.rmtree(maestro.home.root)
    assert ends(pid)
    assert not os.path.exists(maestro.home.root), "nothing brings the home back"


def test_home_renamed(maestro: Maestro, pid: int) -> None:
    """What it had on record is whole under the new name."""
    moved = maestro.place / "moved"
    os.rename(maestro.home.root, moved)
    assert ends(pid)
    assert not os.path.exists(maestro.home.root)
    there = {"MAESTRO_HOME": str(moved)}
    try:
        assert len(maestro.json("project", "list", env=there)) == 1
    finally:
        maestro("server", "stop", "--force", env=there)


@pytest.mark.parametrize("fate", ["renamed", "removed"])
def test_another_folder_in_its_place(maestro: Maestro, pid: int, fate: str) -> None:
    """Also one that may get the inode of the removed one, as new folders like to."""
    if fate == "renamed":
        os.rename(maestro.home.root, maestro.place / "moved")
    else:
        shutil.rmtree(maestro.home.root)
    other = Path(maestro.home.root)
    other.mkdir()
    (other / "daemon.sock").write_text("not a socket")
    (other / "daemon.json").write_text("not a record")
    assert ends(pid)
    assert {path.name: path.read_text() for path in other.iterdir()} == {
        "daemon.sock": "not a socket",
        "daemon.json": "not a record",
    }


def test_another_daemon_in_its_place(maestro: Maestro, pid: int) -> None:
    """Of two, the one without its lock goes, and leaves the other its socket and its record."""
    for path in Path(maestro.home.root).iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert maestro.json("project", "list") == [], "a new daemon, with a new ledger"
    [new] = [other for other in daemon_pids(maestro) if other != pid]
    assert ends(pid)
    assert daemon_pids(maestro) == [new]
    assert maestro.json("server", "status")["pid"] == new
    assert lifecycle.is_alive(lifecycle.read_record(maestro.home))


def test_without_its_socket_it_makes_room_for_the_next(maestro: Maestro, pid: int) -> None:
    """It has the lock until it ends: a command waits for that, and finds the same ledger."""
    os.unlink(maestro.home.socket)
    assert len(maestro.json("project", "list")) == 1
    [new] = daemon_pids(maestro)
    assert new != pid
    assert ends(pid)
    log = [json.loads(line) for line in Path(maestro.home.log).read_text().splitlines()]
    assert [line["lost"] for line in log if line["event"] == "stopped"] == ["socket"]


def test_agents_outlive_a_lost_home(maestro: Maestro, pid: int) -> None:
    """Their work is worth more: who removed the home reaches them again by a new socket."""
    script = maestro.place / "script.json"
    script.write_text('{"steps": [{"say": "At work."}]}')
    words = ("session", "spawn", "--agent", "scripted", "--model", str(script), "--message", "Begin")
    spawned: dict[str, Any] = maestro.json(*words)
    socket = maestro.home.path("fleets", spawned["place"]["fleet"])
    shown = [
        "tmux",
        "-S",
        socket,
        "display-message",
        "-p",
        "-t",
        spawned["place"]["paneId"],
        "#{pid} #{pane_pid}",
    ]
    server, agent = map(int, subprocess.run(shown, capture_output=True, check=True).stdout.split())
    try:
        shutil.rmtree(maestro.home.root)
        assert ends(pid)
        assert processes.start_time(server) is not None
        assert processes.start_time(agent) is not None
        os.makedirs(os.path.dirname(socket))
        os.kill(server, signal.SIGUSR1)
        while not os.path.exists(socket):
            assert processes.start_time(server) is not None
        assert subprocess.run(shown, capture_output=True, check=True).stdout.split()[1] == b"%d" % agent
    finally:
        for left in (server, agent):
            if processes.start_time(left) is not None:
                os.kill(left, signal.SIGKILL)


def test_a_home_that_cannot_be_looked_at_is_not_lost(place: Path) -> None:
    """The path leads through a link in a circle for a while, which tells as little as missing permission does."""
    home = Home(str(place / "way" / "m"))
    (place / "real" / "m").mkdir(parents=True)
    (place / "way").symlink_to(place / "real")
    lock = lifecycle.take_lock(home.daemon_lock)
    assert lock is not None
    try:
        Path(home.socket).touch()
        ownership = Ownership(home, lock)
        assert ownership.lost() == ""
        (place / "way").unlink()
        (place / "way").symlink_to(place / "way")
        with pytest.raises(OSError, match="symbolic links"):
            os.stat(home.root)
        assert ownership.lost() == ""
        (place / "way").unlink()
        assert ownership.lost() == "home"
        (place / "way").symlink_to(place / "real")
        assert ownership.lost() == ""
        Path(home.daemon_lock).unlink()
        Path(home.daemon_lock).touch()
        assert ownership.lost() == "lock"
    finally:
        os.close(lock)
