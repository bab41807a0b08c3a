"""A run's record lies in the project, and whoever wrote there may have named any process: none of those is ended."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.dispatch.support import processes_of, script
from tests.dispatch.test_delegate import SCRIPTED, runs, wait_until_said
from tests.patience import told_by
from tests.support import Maestro

from maestro.dispatch.run import mark_of
from maestro.processes import ProcessId, identify


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "88"])
    yield process
    process.kill()
    process.wait()


def known(process: subprocess.Popen[bytes]) -> ProcessId:
    found = identify(process.pid)
    assert found is not None
    return found


def ended_run(maestro: Maestro) -> dict[str, Any]:
    maestro.json("delegate", "one", *SCRIPTED)
    [seen] = runs(maestro)
    return {"id": seen["run"]["id"], "folder": seen["folder"]}


def forge(folder: Path, **runner: Any) -> None:
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | {"runner": runner}))
    (folder / "result.json").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"started": 0}, "not its start time and boot id"),
        ({"boot": ""}, "not its start time and boot id"),
        ({"started": 0, "boot": ""}, "not its start time and boot id"),
        ({}, "which its record names, does not carry it out"),
    ],
)
def test_cancel_ends_no_stranger(
    maestro: Maestro, stranger: subprocess.Popen[bytes], forged: dict[str, Any], why: str
) -> None:
    run = ended_run(maestro)
    forge(Path(run["folder"]), **(known(stranger)._asdict() | forged))
    refused = maestro("delegate", "cancel", run["id"])
    assert refused.returncode == 4
    assert "nothing was ended" in refused.stderr
    assert why in refused.stderr
    assert stranger.poll() is None


@pytest.mark.parametrize("how", ["link", "reader"])
def test_a_stranger_with_the_log_in_another_way_is_no_runner(maestro: Maestro, place: Path, how: str) -> None:
    run = ended_run(maestro)
    log = Path(run["folder"]) / "runner.log"
    log.touch()
    other = place / "theirs"
    other.touch()
    if how == "link":
        log.unlink()
        log.symlink_to(other)
    with other.open("ab") if how == "link" else log.open("rb") as file:
        stranger = subprocess.Popen(["sleep", "88"], stdout=file)
    try:
        forge(Path(run["folder"]), **known(stranger)._asdict())
        assert maestro("delegate", "cancel", run["id"]).returncode == 4
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_run_in_the_foreground_is_still_cancelled_from_elsewhere(maestro: Maestro) -> None:
    process = maestro.start("delegate", script({"say": "begun"}, {"sleep": 99}), *SCRIPTED)
    seen = wait_until_said(maestro, "begun")
    assert maestro("delegate", "cancel", seen["run"]["id"]).returncode == 0
    told_by(process)
    assert process.returncode == 130
    assert runs(maestro)[0]["state"] == "cancelled"
    assert processes_of(mark_of(seen["folder"])) == []
