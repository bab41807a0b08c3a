"""A chain of five steps over the three CLIs, against a stub of their APIs: review, hints, a failing step, resume."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import patience
from tests.real.all_three import all_three
from tests.real.fleet import RealFleet
from tests.real.runs.steps import VARIABLES
from tests.real.runs.test_batch import SHELLS
from tests.real.turns import Call, Received, Reply, Text, Turn, Used, says
from tests.support import BIN

from maestro.testing import chain_step

FAILURE = "=== RESULT ===\nSTATUS: FAILURE\nARTIFACTS: none\nSUMMARY: The tests do not pass.\n=== END ==="


@pytest.fixture(scope="module")
def fleet() -> Iterator[RealFleet]:
    with all_three() as made:
        yield made


def prompt_of(asked: Received) -> str:
    """What Maestro said last in this session."""
    marks = ("# Step ", "Review step ")
    return next(text for text in reversed(asked.user_texts()) if any(mark in text for mark in marks))


def answer(asked: Received) -> Turn:
    """As the scripted agent would: it writes the step's files by its own shell, then ends with the block. Codex cannot
    do the step `execute`."""
    assert asked.api is not None
    played = chain_step.played(prompt_of(asked))
    assert played is not None
    if asked.api == "openai" and "/maestro-execute" in prompt_of(asked):
        return says(FAILURE, used=Used(fresh=500, output=10))
    files: dict[str, str] = next((step["write"] for step in played if "write" in step), {})
    if files and not asked.tool_results():
        tool, argument = SHELLS[asked.api]
        return Reply((Text("I write."), Call(tool, {argument: _writing(files)})), Used(fresh=1000, output=40))
    return says(played[-1]["say"], used=Used(fresh=500, output=10))


def _writing(files: dict[str, str]) -> str:
    lines = []
    for path, text in files.items():
        coded = base64.b64encode(text.encode()).decode()
        lines.append(f"mkdir -p {shlex.quote(str(Path(path).parent))}")
        lines.append(f"echo {coded} | base64 -d > {shlex.quote(path)}")
    return " && ".join(lines)


def chain(fleet: RealFleet, *words: str, code: int) -> dict[str, Any]:
    command = [str(BIN / "maestro"), "chain", "run", "-y", "--json", "--timeout", str(patience(120)), *words]
    done = fleet.network.run(command, env=fleet.env | VARIABLES, cwd=fleet.work, timeout=280)
    assert done.returncode == code, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_five_steps_with_review_hints_a_failure_and_resume(fleet: RealFleet) -> None:
    for api in SHELLS:
        fleet.api.load(api, afterwards=answer)
    # Codex does the steps and Gemini reviews them, for nobody says otherwise.
    told = chain(fleet, "--chain", "roadmap-driven", "a shop for tea", code=1)
    assert [step["status"] for step in told["steps"]] == ["completed"] * 3 + ["failed", "pending"]
    assert [step["tool"] for step in told["steps"][:4]] == ["codex"] * 4
    assert (told["review_by"], len(told["steps"][3]["attempts"])) == ("gemini", 2)
    assert [step["analysis"]["quality_score"] for step in told["steps"][:3]] == [85] * 3
    told = chain(fleet, "-c", told["session_id"], "--to", "claude", code=0)
    assert [step["tool"] for step in told["steps"]] == ["codex"] * 3 + ["claude"] * 2
    assert (told["status"], told["avg_quality"]) == ("completed", 85)
    asked = {one.api: one for one in fleet.api.received()}
    # What the API received: the hints of the step before, and the reviews in one session.
    assert '"hint after maestro-execute"' in prompt_of(asked["anthropic"])
    reviews = [text for text in asked["gemini"].user_texts() if "Review step" in text]
    assert len(reviews) == 5
    project = json.loads((fleet.work / ".maestro" / "project.json").read_text())
    assert [phase["status"] for phase in project["phases"]] == ["verified", "pending"]
    assert fleet.alive() == []
