"""Waiting over the wire: three notifiers, killed waiters, timeouts, Ctrl-C and daemon restarts in between. Every
notification is picked up, every time, once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.patience import end_of, patience
from tests.support import BIN, SOAK, Maestro

from maestro.errors import MaestroError
from maestro.server import lifecycle

TRIALS = 1000 if SOAK else 15
COORDINATOR = "the-coordinator"


def wait(maestro: Maestro, timeout: float) -> str | None:
    """The label of the pane that was handed over; None when the time was up."""
    body = {"coordinator": COORDINATOR, "timeout": timeout, "fleet": "maestro"}
    told = maestro.daemon.call("POST", "/api/fleets/coordinate-wait", body, timeout=timeout + 30)
    return str(told["capture"]["paneLabel"]) if told["capture"] else None


def interrupted_wait(maestro: Maestro, chance: random.Random) -> None:
    """A waiter that does not live to tell: killed, interrupted, or out of time."""
    words = [
        str(BIN / "maestro"),
        "fleet",
        "coordinate-wait",
        "--as",
        COORDINATOR,
        "--fleet",
        "maestro",
        "--timeout",
        str(patience(20)),
    ]
    waiting = subprocess.Popen(words, env=maestro.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        waiting.wait(chance.uniform(0.0, 0.15))
    except subprocess.TimeoutExpired:
        waiting.send_signal(chance.choice([signal.SIGKILL, signal.SIGINT]))
    end_of(waiting)


def kill_daemon(maestro: Maestro) -> None:
    record = lifecycle.read_record(maestro.home)
    if record and lifecycle.is_alive(record):
        os.kill(record["pid"], signal.SIGKILL)


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_notification_is_picked_up_once(maestro: Maestro, spawn: Callable[..., dict[str, Any]]) -> None:
    labels = ["One", "Two", "Three"]
    for label in labels:
        spawn("--name", label)
    chance = random.Random(20261115)

    def notify(label: str) -> None:
        body = {"pane": label, "state": "unchecked", "fleet": "maestro"}
        for _ in range(5):
            try:
                maestro.daemon.call("POST", "/api/fleets/notify", body, timeout=30)
            except MaestroError:
                continue
            return

    with ThreadPoolExecutor(4) as pool:
        for trial in range(TRIALS):
            notified = chance.sample(labels, chance.randint(1, 3))
            going = [pool.submit(notify, label) for label in notified]
            disturbance = chance.random()
            if disturbance < 0.15:
                interrupted_wait(maestro, chance)
            elif disturbance < 0.25:
                wait(maestro, 0.01)
            elif disturbance < 0.28:
                kill_daemon(maestro)
            for done in going:
                done.result(patience(60))
            picked: list[str] = []
            while len(picked) < len(notified):
                found = wait(maestro, patience(20))
                assert found is not None, f"trial {trial}: {set(notified) - set(picked)} was never picked up"
                picked.append(found)
                body = {"pane": found, "state": "working", "fleet": "maestro"}
                maestro.daemon.call("POST", "/api/fleets/notify", body)
            assert sorted(picked) == sorted(notified), f"trial {trial}"
            assert wait(maestro, 0) is None, f"trial {trial}: something came twice"
