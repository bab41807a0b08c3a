"""Codex's own sandbox under Maestro: its network stays closed, and what runs in it reports all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import calls, says
from tests.support import BIN

# Each prints what became of it; the exit code of a refusal is not enough evidence.
_REACH = """
import os, socket, sys
kind, where = (socket.AF_UNIX, sys.argv[1]) if sys.argv[1][0] == '/' else (socket.AF_INET, ('127.0.0.1', int(sys.argv[1])))
try:
    socket.socket(kind).connect(where)
    print('reach', 'all')
except OSError as error:
    print('reach', error.strerror)
""".strip()


@pytest.fixture(scope="module")
def cli() -> Cli:
    return CLIS["codex"]


@pytest.fixture(autouse=True)
def _temporary_folder(fleet: RealFleet) -> Iterator[None]:
    """Codex puts its sandbox's program beside its settings, unless those lie in the temporary folder."""
    before = fleet.env["TMPDIR"]
    folder = Path(before) / "t"
    folder.mkdir(exist_ok=True)
    fleet.env["TMPDIR"] = str(folder)
    yield
    fleet.env["TMPDIR"] = before


def commands(fleet: RealFleet, *lines: str, mode: str, more: tuple[str, ...] = ()) -> tuple[str, str]:
    """Let a session run these lines in its sandbox: its id, and what it told its model of them."""
    since = fleet.load(
        says("I am at rest."),
        *[calls("I run it.", "exec_command", cmd=line) for line in lines],
        says("All is done."),
    )
    words = ("--agent", "codex", "--mode", mode, "--message", "Be at rest.", *more)
    session = str(fleet.json("session", "spawn", *words, timeout=120)["id"])
    fleet.until_said(session, "I am at rest.")
    fleet.tell(session, "run it")
    fleet.until_said(session, "All is done.")
    return session, "\n".join(fleet.api.received(since, purpose="turn")[-1].tool_results())


def reports_without_a_network(fleet: RealFleet, mode: str) -> None:
    task = str(fleet.json("task", "create", f"Sandboxed {mode}")["id"])
    session, told = commands(
        fleet,
        f"{BIN}/maestro task report progress 'half way, {mode}'",
        f'{BIN}/python -c "{_REACH}" {fleet.env["MAESTRO_HOME"]}/daemon.sock',
        f'{BIN}/python -c "{_REACH}" {fleet.api.port}',
        mode=mode,
        more=("--task", task),
    )
    assert fleet.json("task", "show", task)["lastReport"] == f"half way, {mode}", told
    assert told.count("reach Operation not permitted") == 2, told
    assert fleet.json("session", "show", session)["network"] is False


def test_it_reports_from_its_sandbox_in_mode_edits(fleet: RealFleet) -> None:
    reports_without_a_network(fleet, "edits")


def test_it_reports_from_its_sandbox_in_mode_autonomous(fleet: RealFleet) -> None:
    reports_without_a_network(fleet, "autonomous")


def test_a_person_opens_the_network(fleet: RealFleet) -> None:
    line = f'{BIN}/python -c "{_REACH}" {fleet.api.port}'
    session, told = commands(fleet, line, mode="edits", more=("--network",))
    assert "reach all" in told, told
    assert fleet.json("session", "show", session)["network"] is True


def test_a_read_only_sandbox_says_why_it_cannot_report(fleet: RealFleet) -> None:
    _, told = commands(fleet, f"{BIN}/maestro session report progress x", mode="plan")
    assert "keeps its commands from the daemon" in told
