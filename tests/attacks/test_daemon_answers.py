"""Whatever answers where the daemon should: each command ends in time, with one sentence, and nothing is lost."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from tests.attacks import fake_daemon
from tests.attacks.fake_daemon import BEHAVIOURS
from tests.patience import Deadline, run, told_by
from tests.support import BIN, SOAK, Maestro, forbid_start, some_in_test

from maestro import home as homes
from maestro.errors import DaemonError, TimedOut

COMMANDS = [
    ("status",),
    ("project", "list"),
    ("project", "add", "."),
    ("task", "list"),
    ("task", "create", "x"),
    ("task", "report", "complete", "task_x"),
    ("session", "list"),
    ("session", "logs", "x"),
    ("session", "logs", "x", "-f"),
    ("session", "prompt", "x", "--message", "y"),
    ("session", "stop", "x"),
    ("fleet", "status"),
    ("fleet", "coordinate-wait", "--timeout", "1"),
    ("inbox",),
    ("answer", "x", "yes"),
    ("precedent", "list"),
    ("down",),
    ("coordinate", "why", "x"),
    ("server", "status"),
    ("server", "stop"),
]
SLOW = [name for name in BEHAVIOURS if name.startswith(("silence", "a drop"))]
BROKEN = ["nothing", "half a head", "half a body"]
WRONG = [name for name in BEHAVIOURS if name not in {*SLOW, *BROKEN}]
# What a command of ours needs, with a body without end to read.
_MEMORY = 1 << 30


@contextmanager
def posing(maestro: Maestro, behaviour: str) -> Iterator[IO[str]]:
    """A process that poses as this home's daemon. It prints a line for each request."""
    homes.prepare(maestro.home)
    forbid_start(maestro.home)
    process = subprocess.Popen(
        [sys.executable, fake_daemon.__file__, maestro.home.root, behaviour],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "listens\n"
        yield process.stdout
    finally:
        process.kill()
        process.communicate()
        Path(maestro.home.socket).unlink(missing_ok=True)
        Path(maestro.home.daemon_record).unlink(missing_ok=True)


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def ended(maestro: Maestro, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return run(
        [BIN / "maestro", *words],
        env=maestro.env,
        cwd=maestro.cwd,
        text=True,
        seconds=100,
        preexec_fn=limited,
    )


def assert_one_sentence(words: tuple[str, ...], done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode not in {0, 1, -9}, (words, done)
    assert "Traceback" not in done.stderr, (words, done.stderr)
    if "--json" in words:
        told = json.loads(done.stderr)
        assert told["error"], words
        assert told["hint"], words
    else:
        assert [line[:2] for line in done.stderr.splitlines()] == ["ma", "  "], (words, done.stderr)


@pytest.mark.parametrize("behaviour", WRONG)
def test_a_wrong_answer(shared_maestro: Maestro, behaviour: str) -> None:
    """The client alone: every command asks through it."""
    with (
        posing(shared_maestro, behaviour),
        pytest.raises(DaemonError, match="not Maestro's daemon") as caught,
    ):
        shared_maestro.daemon.call("GET", "/api/status")
    assert "maestro doctor" in caught.value.hint


@pytest.mark.parametrize("behaviour", SLOW)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_slow_answer(shared_maestro: Maestro, behaviour: str, method: str) -> None:
    with (
        posing(shared_maestro, behaviour),
        pytest.raises(TimedOut, match="did not answer within 1 s") as caught,
    ):
        homes_daemon(shared_maestro, method, timeout=1.0)
    assert "maestro doctor" in caught.value.hint


def homes_daemon(maestro: Maestro, method: str, timeout: float) -> None:
    """Without a test's patience: this limit is what the test is about."""
    from maestro.server.client import Daemon

    Daemon(maestro.env).call(method, "/api/status", timeout=timeout)


def test_an_answer_that_began_is_not_waited_for_as_long_as_one_that_did_not(
    shared_maestro: Maestro, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that lets the daemon work for ten minutes is not held for ten minutes by a drop now and then."""
    monkeypatch.setattr("maestro.server.exchange._ANSWER_SECONDS", 1.0)
    deadline = Deadline(60)
    told = "began to answer, and its answer did not end within 1 s"
    with posing(shared_maestro, "a drop now and then"), pytest.raises(TimedOut, match=told):
        homes_daemon(shared_maestro, "POST", timeout=600.0)
    assert not deadline.passed


def test_one_that_breaks_off_each_time_is_given_up(
    shared_maestro: Maestro, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maestro.server.client._BROKEN_SECONDS", 0.2)
    for behaviour in BROKEN:
        with posing(shared_maestro, behaviour), pytest.raises(DaemonError, match="broke off"):
            shared_maestro.daemon.call("GET", "/api/status")


@pytest.mark.parametrize("behaviour", some_in_test(["noise", "body without end", "no JSON"]))
def test_every_command_says_one_sentence(maestro: Maestro, behaviour: str) -> None:
    with posing(maestro, behaviour), ThreadPoolExecutor(4) as pool:
        commands = [words if place % 2 else (*words, "--json") for place, words in enumerate(COMMANDS)]
        for words, done in zip(
            commands, pool.map(lambda words: ended(maestro, words), commands), strict=True
        ):
            assert_one_sentence(words, done)


@pytest.mark.more
@pytest.mark.parametrize("behaviour", [*SLOW, *BROKEN] if SOAK else ["silence in its body", "nothing"])
def test_every_command_ends_in_time(maestro: Maestro, behaviour: str) -> None:
    """`down` may wait for ten minutes by itself, so silence is none of its faults."""
    commands = [words for words in COMMANDS if words != ("down",) or behaviour != "silence"]
    with posing(maestro, behaviour), ThreadPoolExecutor(len(commands)) as pool:
        for words, done in zip(
            commands, pool.map(lambda words: ended(maestro, words), commands), strict=True
        ):
            assert_one_sentence(words, done)


def test_doctor_says_that_it_does_not_answer(maestro: Maestro) -> None:
    with posing(maestro, "noise"):
        done = maestro("doctor", "--json")
    found = next(finding for finding in json.loads(done.stdout) if finding["check"] == "daemon")
    assert (found["state"], done.returncode) == ("fail", 1)
    assert "does not answer" in found["found"]
    assert found["remedy"]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_hook_goes_on_and_keeps_what_it_had_to_say(shared_maestro: Maestro, behaviour: str) -> None:
    spool = Path(shared_maestro.home.path("spool"))
    with posing(shared_maestro, behaviour):
        before = set(spool.iterdir())
        done = run(
            [BIN / "maestro", "hook", "claude", "Stop"],
            env=shared_maestro.env,
            input=json.dumps({"say": behaviour}).encode(),
            seconds=10,
            preexec_fn=limited,
        )
    # One with the right version and length is a daemon to a hook, which reads no JSON.
    is_ours = behaviour == "no JSON"
    assert (done.returncode, done.stderr, done.stdout == b"" or is_ours) == (0, b"", True)
    kept = [path.read_bytes() for path in set(spool.iterdir()) - before if not path.name.startswith(".")]
    assert is_ours or any(behaviour.encode() in content for content in kept)


def test_nothing_is_lost_to_one_that_breaks_off_for_a_while(maestro: Maestro) -> None:
    """The command's own request is done once a daemon is there."""
    with posing(maestro, "half a body") as requests:
        asking = maestro.start("project", "add", ".")
        assert requests.readline() == "asked\n"
    out, err = told_by(asking)
    assert asking.returncode == 0, err
    assert len(maestro.json("project", "list")) == 1, out
