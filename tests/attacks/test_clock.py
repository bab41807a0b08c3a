"""The clock is set back by a day while everything runs: the order stays, and nothing waits for that day to pass again."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.patience import patience
from tests.support import Maestro

from maestro import home as homes
from maestro.ages import has_passed, is_from_before
from maestro.cli.live.drawing import row_lines
from maestro.coordinate.attention import DAY, Past, Trouble, respond
from maestro.coordinate.overview import Overview
from maestro.coordinate.policy.config import DEFAULT
from maestro.fleet.facts import Client
from maestro.fleet.focus import focused_panes, next_lapse, shown_windows
from maestro.fleet.leases import LEASE, Lease, may_take, taken
from maestro.ids import time_of
from maestro.ledger import escalations
from maestro.ledger.database import open_database, sqlite_url
from maestro.ledger.facts import Event
from maestro.ledger.journal import Journal
from maestro.ledger.reports import standing
from maestro.ledger.roles import HUMAN
from maestro.observe.fusion import Says, fuse
from maestro.server import lifecycle

HOST = "host_01"
_DAEMON = Path(__file__).with_name("clock_daemon.py")
NOW = 1_800_000_000_000
MINUTE = 60_000


class Machine:
    """A daemon on a clock that can be set."""

    def __init__(self, maestro: Maestro) -> None:
        self.maestro = maestro
        self.daemon: subprocess.Popen[bytes] | None = None
        homes.prepare(maestro.home)
        self.set_clock(0)

    def set_clock(self, seconds: float) -> None:
        path = Path(self.maestro.home.path("clock"))
        new = path.with_name("clock.new")
        new.write_text(str(seconds))
        new.replace(path)

    def start(self) -> None:
        reader, writer = os.pipe()
        words = [
            sys.executable,
            str(_DAEMON),
            "--home",
            self.maestro.home.root,
            "--ready-fd",
            str(writer),
        ]
        self.daemon = subprocess.Popen(
            words, env=lifecycle.scrubbed(self.maestro.env), pass_fds=(writer,), start_new_session=True
        )
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            assert select.select([pipe], [], [], patience(60))[0], "the daemon does not answer"
            assert b"ready" in pipe.readline()

    def kill(self) -> None:
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGKILL)
            self.daemon.wait()
            self.daemon = None

    def escalate(self, session: str, now: int) -> None:
        """Puts something about a session into the inbox at this time, while no daemon writes."""
        engine = open_database(sqlite_url(self.maestro.home.database))
        Journal(engine, Path(self.maestro.home.host_id).read_text().strip(), lambda: now).write(
            HUMAN,
            lambda change: escalations.open_escalation(
                change, session_id=session, kind="blocked", subject=session, text="No key", reason="blocked"
            ),
        )
        engine.dispose()

    def create(self, title: str) -> str:
        made: dict[str, Any] = self.maestro.json("task", "create", title)
        return str(made["id"])


@pytest.fixture
def machine(maestro: Maestro) -> Iterator[Machine]:
    made = Machine(maestro)
    made.start()
    yield made
    made.kill()


def test_the_ledger_keeps_its_order_through_a_jump_and_a_restart(machine: Machine) -> None:
    maestro = machine.maestro
    maestro.json("project", "add", ".")
    cursor = maestro.daemon.call("GET", "/api/events")["cursor"]
    ids = [machine.create("first"), machine.create("second")]
    machine.set_clock(-DAY / 1000)
    ids += [machine.create("third"), machine.create("fourth")]
    machine.kill()
    machine.start()
    ids += [machine.create("fifth")]
    machine.set_clock(-30 * DAY / 1000)
    ids += [machine.create("sixth")]
    titles = [task["title"] for task in maestro.json("task", "list")]
    assert titles == ["first", "second", "third", "fourth", "fifth", "sixth"]
    assert ids == sorted(ids)
    page = maestro.daemon.call("GET", "/api/events", query={"since": cursor})
    assert [event["subjectId"] for event in page["events"] if event["kind"] == "task.created"] == ids
    # The times themselves are the clock's.
    first, *_, last = [event["at"] for event in page["events"]]
    assert last < first - 29 * DAY


def test_no_surface_shows_a_negative_age(machine: Machine) -> None:
    maestro = machine.maestro
    machine.set_clock(DAY / 1000)
    project = maestro.json("project", "add", ".")["id"]
    machine.create("from tomorrow")
    body = {"agent": "scripted", "projectId": project, "name": "of-tomorrow"}
    session = str(maestro.daemon.call("POST", "/api/sessions", body)["session"]["id"])
    machine.kill()
    machine.escalate(session, time.time_ns() // 1_000_000 + DAY)
    machine.set_clock(0)
    machine.start()
    for words, row in (
        (("status",), ""),
        (("task", "list"), "from tomorrow"),
        (("project", "list"), maestro.cwd.name),
        (("session", "list"), "of-tomorrow"),
        (("inbox",), "0s  of-tomorrow"),
        (("server", "status"), ""),
    ):
        done = maestro(*words)
        assert done.returncode == 0, done.stderr
        assert row in done.stdout, (words, done.stdout)
        assert not re.search(r"-\d+ ?[smhd]\b", done.stdout), done.stdout
    overview = msgspec.convert(maestro.daemon.call("GET", "/api/overview"), Overview)
    [seen] = overview.rows
    assert seen.since > overview.now + DAY // 2, "it is not from tomorrow"
    first, _ = row_lines(seen, overview.now, 80, is_selected=False)
    assert first.plain.rstrip().endswith(" 0s"), first.plain


def test_what_was_asked_once_is_done_once_through_a_jump(machine: Machine) -> None:
    daemon = machine.maestro.daemon
    project = machine.maestro.json("project", "add", ".")["id"]
    body = {"title": "once", "projectId": project}
    first = daemon.call("POST", "/api/tasks", body, key="k" * 32)
    machine.set_clock(-DAY / 1000)
    assert daemon.call("POST", "/api/tasks", body, key="k" * 32)["id"] == first["id"]


def test_ids_are_in_order_whatever_the_clock_says(place: Path) -> None:
    times = iter([NOW, NOW, NOW - DAY, NOW - DAY, NOW - DAY + 5, NOW + 1, NOW + 2])
    journal = Journal(open_database(f"sqlite+pysqlite:///{place}/l.db"), HOST, lambda: next(times))
    made = [journal.write(HUMAN, lambda change: change.new_id("task")) for _ in range(7)]
    assert made == sorted(made)
    assert len({time_of(one) for one in made}) == len(made)
    journal.engine.dispose()


# Nothing waits for a day to pass again.


def test_a_lease_from_before_the_jump_is_over() -> None:
    lease = taken("sess_a", NOW)
    assert lease.holds(NOW)
    assert lease.holds(NOW + LEASE - 1)
    assert not lease.holds(NOW - DAY)
    assert may_take(lease, "sess_b", NOW - DAY)
    assert not Lease("", NOW + 1).holds(NOW)


def client(activity: int) -> Client:
    return Client("c", 1, False, frozenset({"focused"}), "s", "@1", "%1", activity)


def test_a_human_who_left_before_the_jump_does_not_look_for_a_day() -> None:
    here, before = client(NOW // 1000), client((NOW + DAY) // 1000)
    assert focused_panes([here], NOW) == {"%1"}
    assert focused_panes([here], NOW - 999) == {"%1"}
    assert focused_panes([before], NOW) == frozenset()
    assert next_lapse([before], NOW) is None
    assert shown_windows([here], NOW - 999) == {"@1"}
    assert shown_windows([before], NOW) == frozenset()


def test_a_time_has_passed() -> None:
    assert has_passed(MINUTE, NOW - MINUTE, NOW)
    assert not has_passed(MINUTE, NOW - MINUTE + 1, NOW)
    assert not has_passed(MINUTE, NOW + 5_000, NOW)  # another machine's clock
    assert has_passed(MINUTE, NOW + DAY, NOW)
    assert not is_from_before(NOW, NOW)


def test_a_worker_in_trouble_is_not_left_alone_for_a_day() -> None:
    policy = DEFAULT
    trouble = Trouble("stuck", "s", "t", "Silent.", NOW + DAY, can_be_helped=True)
    assert respond(trouble, Past(), policy, NOW).move == "help"
    assert respond(trouble, Past(helps=1, last_help=NOW + DAY), policy, NOW).move != "wait"
    assert respond(trouble, Past(helps=1, last_help=NOW - 1), policy, NOW).move == "wait"


def test_a_hook_from_before_the_jump_is_not_newer_than_the_screen() -> None:
    hook = Says("hook", "asking", "it asked", "", NOW + DAY)
    screen = Says("screen", "working", "it works", "", NOW)
    assert fuse([hook, screen]).status == "working"
    assert fuse([Says("hook", "asking", "it asks", "", NOW + 10), screen]).status == "asking"


def test_what_begins_after_a_report_ends_it_whatever_the_clock_says() -> None:
    def event(seq: int, kind: str, at: int, data: dict[str, Any]) -> Event:
        return Event(
            host=HOST, seq=seq, at=at, kind=kind, project_id=None, subject_id="sess_a", session_id="sess_a",
            role="worker", data=data,
        )  # fmt: skip

    report = event(1, "session.reported", NOW, {"report": "complete", "message": "done"})
    begins = event(2, "prompt.typing", NOW - DAY, {"prompt": {"kind": "prompt"}})
    answer = event(2, "prompt.typing", NOW - DAY, {"prompt": {"kind": "answer"}})
    assert standing([report]) is not None
    assert standing([report, begins]) is None
    assert standing([report, answer]) is not None
