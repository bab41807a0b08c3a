"""A run's folder is its truth: what it holds at every moment, whoever is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.dispatch.support import processes_of, ready_run, result
from tests.patience import growing, until

from maestro.agents.headless import ModelUsage
from maestro.dispatch.delegate import cancel_run
from maestro.dispatch.prices import with_cost
from maestro.dispatch.run import carry_out, look, mark_of
from maestro.dispatch.runs import RunResult, checked_id
from maestro.errors import Conflict, InvalidInput
from maestro.observe.stats import Price, Prices


def play(folder: Path, *steps: dict[str, Any], **more: Any) -> RunResult:
    return asyncio.run(carry_out(ready_run(folder, *steps, **more), asyncio.Event(), grace=2.0))


def test_a_success(place: Path) -> None:
    folder = place / "one"
    told = play(folder, {"say": "On it."}, {"usage": {"input": 7, "cost": 0.25}}, {"say": "Done."})
    assert (told.status, told.text, told.exit_code, told.session_id) == ("success", "Done.", 0, "s")
    assert (told.cost_usd, told.cost_is_estimate, told.usage[0].input) == (0.25, False, 7)
    assert msgspec.convert(result(folder), RunResult) == told
    assert look(str(folder)).state == "success"
    assert (folder / "prompt.md").exists()
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}
    assert folder.stat().st_mode & 0o077 == 0
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_files_are_written_in_write_and_denied_in_analysis(place: Path) -> None:
    step = {"write": {"made.txt": "x"}}
    assert play(place / "analysis", step, {"say": "ok"}, mode="analysis").status == "denied"
    assert not (place / "made.txt").exists()
    assert play(place / "write", step, {"say": "ok"}).status == "success"
    assert (place / "made.txt").read_text() == "x"


def test_silence_with_exit_0_is_a_failure_with_that_reason(place: Path) -> None:
    told = play(place / "one", {"exit": 0})
    assert (told.status, told.error) == ("failed", "It ended with exit code 0 and said nothing.")


def test_exit_124_by_itself_is_a_failure_and_no_timeout(place: Path) -> None:
    told = play(place / "one", {"exit": 124})
    assert (told.status, told.exit_code) == ("failed", 124)


def test_a_timeout_keeps_what_was_said(place: Path) -> None:
    for seconds in growing(1.5):
        told = play(place / f"in-{seconds}", {"say": "I began."}, {"sleep": 600}, seconds=seconds)
        assert told.status == "timeout"
        assert told.error.startswith(f"It did not end within {seconds:g} s")
        if told.text == "I began.":
            break


def test_a_success_that_came_too_late_is_a_timeout(place: Path) -> None:
    """It had its result on the way out: the deadline was the deadline."""
    told = play(place / "one", {"ignore": ["TERM"]}, {"sleep": 1.2}, {"say": "Late."}, seconds=1.0)
    assert told.status == "timeout"


def test_a_limit_is_no_failure_and_tells_when_it_ends(place: Path) -> None:
    told = play(place / "one", {"limit": "You've hit your limit, resets at 1794780000"})
    assert (told.status, told.resets_at) == ("limit", 1_794_780_000_000)


def test_an_id_is_used_once(place: Path) -> None:
    play(place / "one", {"say": "x"})
    with pytest.raises(Conflict):
        ready_run(place / "one", {"say": "again"})


@pytest.mark.parametrize("word", ["../x", "a/b", "", ".hidden", "x" * 65, "a..b", "a b", "-x", "a\n"])
def test_an_id_never_leads_out_of_its_folder(word: str) -> None:
    with pytest.raises(InvalidInput):
        checked_id(word)


RUNNER = """
import asyncio, sys
from pathlib import Path
from tests.dispatch.support import ready_run
from maestro.dispatch.run import carry_out
made = ready_run(Path(sys.argv[1]), {"leave_apart": 99}, {"say": "half"}, {"sleep": 99})
print("begun", flush=True)
asyncio.run(carry_out(made, asyncio.Event()))
"""


def start_runner(folder: Path) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])
    env = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([root, *sys.path])}
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(folder)], stdout=subprocess.PIPE, env=env)
    assert runner.stdout
    assert runner.stdout.readline() == b"begun\n"
    said = folder / "stdout"

    def has_begun() -> bool:
        assert runner.poll() is None
        return said.exists() and b"half" in said.read_bytes()

    until(has_begun)
    return runner


def test_killed_with_its_runner_it_is_interrupted_and_never_a_success(place: Path) -> None:
    folder = place / "killed"
    runner = start_runner(folder)
    assert look(str(folder)).state == "running"
    runner.kill()
    runner.communicate()
    seen = look(str(folder))
    assert (seen.state, seen.result) == ("interrupted", None)
    # Nobody was there to end them; whoever settles the run does.
    assert processes_of(mark_of(str(folder)))
    ended = cancel_run(seen)
    assert (ended.state, ended.result and ended.result.status) == ("cancelled", "cancelled")
    assert processes_of(mark_of(str(folder))) == []
    assert cancel_run(ended) == ended


def test_a_half_written_result_is_no_result(place: Path) -> None:
    folder = place / "half"
    told = play(folder, {"say": "x"})
    (folder / "result.json").rename(folder / ".result.json.1.abc.tmp")
    run = json.loads((folder / "run.json").read_text())
    run["runner"]["started"] -= 1
    (folder / "run.json").write_text(json.dumps(run))
    assert told.status == "success"
    assert look(str(folder)).state == "interrupted"


def test_a_result_that_cannot_be_read_is_kept_and_told(place: Path) -> None:
    folder = place / "broken"
    play(folder, {"say": "x"})
    (folder / "result.json").write_text("{")
    with pytest.raises(InvalidInput, match="cannot be read"):
        look(str(folder))
    assert (folder / "result.json").read_text() == "{"


def test_a_pid_of_before_the_last_boot_is_nobody(place: Path) -> None:
    folder = place / "old"
    ready_run(folder, {"say": "x"})
    run = json.loads((folder / "run.json").read_text())
    run["runner"]["boot"] = "another"
    (folder / "run.json").write_text(json.dumps(run))
    assert look(str(folder)).state == "interrupted"


def test_cost_by_the_price_list() -> None:
    prices = Prices("2026-01-01", {"known": Price(1.0, 10.0, 0.1, 2.0)})
    base = RunResult(
        id="x", tool="codex", status="success", text="", error="", session_id="", cost_usd=None, cost_is_estimate=False,
        counts_session=False, exit_code=0, signal=None, started_at=0, ended_at=0, duration_ms=0,
        usage=(ModelUsage("known", input=1_000_000, output=100_000, cached=1_000_000),),
    )  # fmt: skip
    told = with_cost(base, prices)
    assert (told.cost_usd, told.cost_is_estimate) == (2.1, True)
    unknown = msgspec.structs.replace(base, usage=(*base.usage, ModelUsage("other", input=1)))
    assert with_cost(unknown, prices) == unknown
    told_by_cli = msgspec.structs.replace(base, cost_usd=0.0)
    assert with_cost(told_by_cli, prices) == told_by_cli


def test_ctrl_c_at_the_agent_alone_is_a_failure(place: Path) -> None:
    """Claude Code ends with 0 and says nothing when it is interrupted."""
    told = play(place / "one", {"kill": "INT"})
    assert told.status == "failed"
    assert told.signal == signal.SIGINT or told.exit_code not in {0, None}
