"""A batch of nine over the three CLIs, against a stub of their APIs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tests.patience import patience
from tests.real.all_three import all_three
from tests.real.clis import CLIS
from tests.real.fleet import RealFleet
from tests.real.runs.steps import VARIABLES
from tests.real.turns import Api, Call, Failure, Received, Reply, Text, Turn, Used, says
from tests.support import BIN

SHELLS: dict[Api, tuple[str, str]] = {
    "anthropic": ("Bash", "command"),
    "openai": ("exec_command", "cmd"),
    "gemini": ("run_shell_command", "command"),
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[RealFleet]:
    with all_three() as made:
        yield made


def answer(asked: Received) -> Turn:
    """What the model says depends on whom it is asked by, for nine ask at once."""
    assert asked.api is not None
    who = next(name[1] for text in asked.user_texts() if (name := re.search(r"You are (\w+)\.", text)))
    if who.endswith("bad"):
        return Failure(400, "this request is bad")
    if who.endswith("writer") and not asked.tool_results():
        tool, argument = SHELLS[asked.api]
        words = {argument: f"echo {who} > {who}.made"}
        return Reply((Text("I will."), Call(tool, words)), Used(fresh=1000, output=40))
    return says(f"Done by {who}.", used=Used(fresh=500, output=10))


def test_a_batch_of_nine(fleet: RealFleet) -> None:
    for api in SHELLS:
        fleet.api.load(api, afterwards=answer)
    prompts = fleet.work.parent / "batch" / "prompts"
    prompts.mkdir(parents=True)
    kinds = ("writer", "talker", "bad")
    for cli in CLIS:
        for kind in kinds:
            (prompts / f"{cli}-{kind}.txt").write_text(f"You are {cli}{kind}. Do your part.\n")
    words = [f"{cli}-{kind}={cli}" for cli in CLIS for kind in kinds]
    done = fleet.network.run(
        [
            str(BIN / "maestro"), "dispatch", str(prompts.parent), "--any-agent", "--json", "--stagger", "0",
            "--concurrent", "3", "--timeout", str(patience(120)), *(word for one in words for word in ("--to", one)),
        ],
        env=fleet.env | VARIABLES, cwd=fleet.work, timeout=280,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    summary = json.loads(done.stdout)
    rows = {row["name"]: row for row in summary["agents"]}
    for cli in CLIS:
        assert [rows[f"{cli}-{kind}"]["status"] for kind in kinds] == ["success", "success", "failed"]
        assert {rows[f"{cli}-{kind}"]["tool"] for kind in kinds} == {cli}
        assert (fleet.work / f"{cli}writer.made").read_text() == f"{cli}writer\n"
        told = json.loads((prompts.parent / "results" / f"{cli}-talker.json").read_text())
        assert told["text"] == f"Done by {cli}talker."
        usage = summary["token_usage"]["by_agent"]
        assert usage[f"{cli}-writer"]["output"] >= 50
        assert usage[f"{cli}-talker"]["input"] >= 500
    assert (summary["total_agents"], summary["succeeded"], summary["failed"]) == (9, 6, 3)
    assert fleet.alive() == []
