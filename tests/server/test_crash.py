"""`kill -9` of the daemon at random points of writes: nothing acknowledged is lost, nothing is done twice."""

from __future__ import annotations

import os
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.patience import patience
from tests.support import SOAK, Maestro

from maestro.server import lifecycle

KILLS = 200 if SOAK else 5


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_acknowledged_writes_survive_and_none_is_doubled(maestro: Maestro, project: dict[str, Any]) -> None:
    rng = random.Random(20261115)
    finished = threading.Event()
    acknowledged: list[tuple[str, str]] = []
    asked: list[str] = []
    guard = threading.Lock()

    def work(worker: int) -> None:
        number = 0
        while not finished.is_set():
            title = f"w{worker}-{number}"
            number += 1
            with guard:
                asked.append(title)
            made = maestro.daemon.call("POST", "/api/tasks", {"title": title, "projectId": project["id"]})
            done = maestro.daemon.call(
                "POST", f"/api/tasks/{made['id']}/report", {"kind": "complete", "message": title}
            )
            with guard:
                acknowledged.append((title, done["status"]))

    kills = 0
    with ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(work, number) for number in range(4)]
        try:
            while kills < KILLS and not any(w.done() for w in workers):
                finished.wait(rng.uniform(0.0, 0.4 if SOAK else 0.25))
                record = lifecycle.read_record(maestro.home)
                if record and lifecycle.is_alive(record):
                    os.kill(record["pid"], signal.SIGKILL)
                    kills += 1
        finally:
            finished.set()
        for w in workers:
            w.result(patience(120))
    assert kills == KILLS
    tasks = maestro.daemon.call("GET", "/api/tasks", query={"projectId": project["id"]})
    titles = [task["title"] for task in tasks]
    assert len(titles) == len(set(titles)), "a write was done twice"
    assert set(titles) == set(asked), "every call came back, so every task is there"
    status = {task["title"]: task["status"] for task in tasks}
    assert all(status[title] == "completed" for title, _ in acknowledged)
    assert all(told == "completed" for _, told in acknowledged)
    events: list[Any] = []
    cursor = "0"
    while page := maestro.daemon.call("GET", "/api/events", query={"since": cursor}):
        if not page["events"]:
            break
        events += page["events"]
        cursor = page["cursor"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert sum(event["kind"] == "task.created" for event in events) == len(titles)
    assert maestro("status").returncode == 0
    print(f"{kills} kills, {len(titles)} tasks, {len(events)} events")  # noqa: T201 - what a soak run reports
