"""What every CLI must do without a terminal, run by `maestro delegate` against the stub of its API."""

from __future__ import annotations

import json
import threading
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.dispatch.support import processes_of
from tests.patience import patience
from tests.real.fleet import RealFleet
from tests.real.turns import Call, Failure, Reply, Silence, Text, Used, says
from tests.support import BIN

from maestro.dispatch.run import mark_of

MEGABYTE = 1024 * 1024
# Codex keeps no helper programs, and so has no sandbox, where its home is below the folder for temporary files.
# Retries of a failing API take Claude Code three minutes.
VARIABLES = {"TMPDIR": "/var/tmp", "CLAUDE_CODE_MAX_RETRIES": "0"}


@dataclass(frozen=True)
class Habits:
    """In which words a CLI does what all of them do."""

    shell: str
    command: str  # the argument of `shell` that holds it
    limit: Failure
    tells_cost: bool = False
    gives_up: bool = True  # when the API fails it ends by itself, in less than a minute

    def runs(self, words: str) -> Reply:
        return Reply(
            (Text("I will run it."), Call(self.shell, {self.command: words})),
            Used(fresh=1200, output=45, cache_read=300),
        )


def delegate(fleet: RealFleet, *words: str, codes: Container[int] = (0,)) -> Mapping[str, Any]:
    command = [str(BIN / "maestro"), "delegate", *words, "--to", fleet.cli.name, "--json"]
    done = fleet.network.run(command, env=fleet.env | VARIABLES, cwd=fleet.work, timeout=150)
    assert done.returncode in codes, (done.returncode, done.stdout, done.stderr)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main_usage(told: Mapping[str, Any]) -> tuple[int, int, int]:
    """Tokens of the model that did the work; another may have chosen it."""
    most = max(told["usage"], key=lambda usage: int(usage["input"]))
    return most["input"], most["output"], most["cached"]


def success_with_a_tool(fleet: RealFleet, habits: Habits) -> None:
    fleet.load(
        habits.runs("echo made > made.txt"), says("Done.", used=Used(fresh=1300, output=25, cache_read=400))
    )
    told = delegate(fleet, "Make the file.", "--mode", "write")
    assert (told["status"], told["text"], told["exit_code"]) == ("success", "Done.", 0)
    assert (fleet.work / "made.txt").read_text() == "made\n"
    assert main_usage(told) == (2500, 70, 700)
    assert (told["cost_usd"] is not None and told["cost_usd"] > 0) == habits.tells_cost


def analysis_writes_nothing(fleet: RealFleet, habits: Habits) -> None:
    fleet.load(habits.runs("echo bad > forbidden.txt"), says("I could not."))
    told = delegate(fleet, "Make the file.", codes={20})
    assert (told["status"], told["text"]) == ("denied", "I could not.")
    assert told["denials"]
    assert not (fleet.work / "forbidden.txt").exists()


def a_resumed_session_counts_each_run(fleet: RealFleet) -> None:
    counts = [(1000, 12, 500), (2000, 30, 700), (300, 3, 70)]
    fleet.load(*(says("Yes.", used=Used(fresh=f, output=o, cache_read=c)) for f, o, c in counts))
    first = delegate(fleet, "One")
    rest = [delegate(fleet, word, "--resume", first["id"]) for word in ("Two", "Three")]
    assert {told["session_id"] for told in rest} == {first["session_id"]}
    assert [main_usage(told) for told in (first, *rest)] == counts
    costs = [told["cost_usd"] for told in (first, *rest)]
    assert costs == [None] * 3 or costs[0] < costs[1] > costs[2] > 0
    assert not any(told["counts_session"] for told in rest)


def a_bad_request_fails(fleet: RealFleet) -> None:
    fleet.load(afterwards=Failure(400, "no such thing as this model"))
    told = delegate(fleet, "Hello", codes={1})
    assert (told["status"], "no such thing" in told["error"]) == ("failed", True)


def a_limit_is_a_limit(fleet: RealFleet, habits: Habits) -> None:
    fleet.load(afterwards=habits.limit)
    assert delegate(fleet, "Hello", codes={21})["status"] == "limit"


def a_broken_api_fails_or_runs_out_of_time(fleet: RealFleet, habits: Habits) -> None:
    fleet.load(afterwards=Failure(500, "broken"))
    if habits.gives_up:
        assert delegate(fleet, "Hello", codes={1})["status"] == "failed"
    else:
        told = delegate(fleet, "Hello", "--timeout", str(patience(15)), codes={1, 124})
        # After minutes it does give up; on a slow machine that is before the deadline.
        said = {"timeout": "trying again after: HTTP 500", "failed": "broken (500 INTERNAL)"}
        assert said[told["status"]] in told["error"]


def silence_ends_at_the_deadline(fleet: RealFleet) -> None:
    gate = threading.Event()
    fleet.load(afterwards=Silence(gate))
    try:
        told = delegate(fleet, "Hello", "--timeout", str(patience(10)), "--id", "silent", codes={124})
    finally:
        gate.set()
    assert told["status"] == "timeout"
    folder = Path(fleet.work.resolve(), ".maestro", "runs", "silent")
    assert processes_of(mark_of(str(folder))) == []


def a_megabyte_arrives_whole(fleet: RealFleet) -> None:
    words = "Read this. " + "word " * ((MEGABYTE - 20) // 5)
    (fleet.work / "big.md").write_text(words)
    since = fleet.load(says("I have read it."))
    assert delegate(fleet, "@big.md")["text"] == "I have read it."
    fleet.asked(words.strip(), since=since)
