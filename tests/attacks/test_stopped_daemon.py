"""A daemon that SIGSTOP holds: alive by its lock, and dumb. Everybody says so, and nobody waits for it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import patience, run, told_by, until
from tests.support import BIN, Maestro, forbid_start

from maestro import processes
from maestro.server import lifecycle

pytestmark = pytest.mark.more  # make test-more

COMMANDS = [
    ("project", "list"),
    ("task", "create", "x", "--json"),
    ("session", "logs", "x", "-f"),
    ("fleet", "coordinate-wait", "--timeout", "600"),
    ("down",),
    ("server", "status"),
    ("server", "stop"),
]


@pytest.fixture
def pid(maestro: Maestro) -> Iterator[int]:
    """A daemon that is stopped."""
    maestro.json("project", "add", ".")
    found = int(maestro.json("server", "status")["pid"])
    forbid_start(maestro.home)
    os.kill(found, signal.SIGSTOP)
    until(lambda: processes.is_stopped(found))
    yield found
    if processes.exists(found):
        os.kill(found, signal.SIGCONT)


def test_doctor_sees_it(maestro: Maestro, pid: int) -> None:
    done = maestro("doctor", "--json")
    found = next(finding for finding in json.loads(done.stdout) if finding["check"] == "daemon")
    assert (found["state"], done.returncode) == ("fail", 1)
    assert f"(pid {pid}) is stopped" in found["found"]
    assert f"kill -CONT {pid}" in found["remedy"]


def test_every_command_says_so(maestro: Maestro, pid: int) -> None:
    """Also those that may wait for ten minutes."""
    with ThreadPoolExecutor(len(COMMANDS)) as pool:
        ends = list(pool.map(lambda words: maestro(*words, timeout=30), COMMANDS))
    for words, done in zip(COMMANDS, ends, strict=True):
        assert done.returncode == 6, (words, done)
        assert f"(pid {pid}) is stopped" in done.stderr, words
        assert f"kill -CONT {pid}" in done.stderr, words


def test_a_hook_does_not_wait_for_it_and_is_heard_later(maestro: Maestro, pid: int) -> None:
    payload = json.dumps({"hook_event_name": "Stop", "session_id": "x"}).encode()
    done = run([BIN / "maestro", "hook", "claude", "Stop"], env=maestro.env, input=payload, seconds=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    kept = [path for path in Path(maestro.home.path("spool")).iterdir() if not path.name.startswith(".")]
    assert len(kept) == 1
    assert payload in kept[0].read_bytes()


def test_it_goes_on_where_it_was(maestro: Maestro, pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
    assert len(maestro.json("project", "list")) == 1
    assert maestro.json("server", "status")["pid"] == pid


def test_force_ends_it_and_the_next_command_starts_another(maestro: Maestro, pid: int) -> None:
    assert maestro("server", "stop", "--force").returncode == 0
    assert processes.wait_for_end(pid, patience(10))
    assert len(maestro.json("project", "list")) == 1
    record = lifecycle.read_record(maestro.home)
    assert record
    assert record["pid"] != pid


def connections(pid: int, socket: str) -> frozenset[str]:
    """Returns the connections on its socket that the daemon has accepted, by their inodes."""
    sockets = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
    # Connected ones: the socket that listens is in another state.
    connected = {f"socket:[{words[6]}]" for words in sockets if words[5:] == ["03", words[6], socket]}
    targets = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.add(os.readlink(path))
    return frozenset(connected & targets)


def test_one_that_is_stopped_while_it_works_on_a_request(stage: Stage) -> None:
    """It holds two requests that may take minutes; their commands do not wait for its answers."""
    maestro, looks = stage.maestro, [frozenset[str]()]
    session = stage.spawn("busy", {"say": "I work on the parser."}, {"work": 600})
    pid = int(maestro.json("server", "status")["pid"])
    polling = maestro.start("session", "logs", session, "-f")
    assert polling.stdout is not None
    # Its first request is answered; the next one waits for more.
    assert any("I work on the parser." in line for line in polling.stdout)
    waiting = maestro.start("fleet", "coordinate-wait", "--timeout", "600")

    def holds_both() -> bool:
        """A request that is over soon is not there at the next look."""
        looks.append(connections(pid, maestro.home.socket))
        return len(looks[-1]) == 2 and looks[-1] == looks[-2]

    until(holds_both, lambda: (looks[-1], polling.poll(), waiting.poll()))
    forbid_start(maestro.home)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: processes.is_stopped(pid))
        for process in (waiting, polling):
            _, err = told_by(process)
            assert process.returncode == 6, err
            assert f"(pid {pid}) is stopped" in err
            assert f"kill -CONT {pid}" in err
    finally:
        os.kill(pid, signal.SIGCONT)
