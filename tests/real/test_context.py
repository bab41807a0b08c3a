"""What the real CLIs put before their models: a coordinator's context on every turn, its state after a compaction."""

from __future__ import annotations

import json

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import Received, says


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def coordinator(fleet: RealFleet) -> str:
    """A coordinator whose task has a part that nobody has begun."""
    whole = fleet.json("task", "create", "Build the shop")
    fleet.json("task", "create", "Fix the <till>", "--parent", whole["id"])
    words = ("--agent", fleet.cli.name, "--role", "coordinator", "--mode", "cautious", "--task", whole["id"])
    return str(fleet.json("session", "spawn", *words, "--message", "Begin now.", timeout=120)["id"])


def number_of(received: Received, text: str) -> int:
    return json.dumps(received.body).count(text)


def test_each_turn_brings_a_fresh_context(fleet: RealFleet) -> None:
    since = fleet.load(says("I begin with it now."), says("I see how it goes."), says("I see that as well."))
    lead = coordinator(fleet)
    fleet.until_said(lead, "I begin with it now.")
    fleet.tell(lead, "How does it go?")
    fleet.until_said(lead, "I see how it goes.")
    asked = fleet.asked("How does it go?", since=since)
    assert number_of(asked, 'title=\\"Fix the &lt;till&gt;\\"') >= 1
    before = number_of(asked, "</coordinator_context>")
    fleet.tell(lead, "And now?")
    fleet.until_said(lead, "I see that as well.")
    assert number_of(fleet.asked("And now?", since=since), "</coordinator_context>") == before + 1
    [stats] = fleet.json("session", "stats", lead)
    assert stats["context"]["turns"] == before + 1


# The others tell nobody of a compaction: see NOT_THERE in conftest.py.
@pytest.mark.parametrize("cli", ["claude"], indirect=True, scope="module")
def test_after_a_compaction_its_state_is_there(fleet: RealFleet) -> None:
    since = fleet.load(says("I begin with it now."), says("A summary of it."), says("I go on with it."))
    lead = coordinator(fleet)
    fleet.until_said(lead, "I begin with it now.")
    fleet.press(lead, "/compact", "Enter")
    fleet.until(
        "it is told what it forgot",
        lambda: fleet.json("session", "stats", lead)[0]["context"],
        lambda context: context and context["rehydrations"] == 1,
    )
    fleet.until_status(lead, "finished")
    fleet.tell(lead, "Go on, please.")
    asked = fleet.asked("Go on, please.", since=since)
    assert number_of(asked, "</coordinator_state>") == 1
    assert number_of(asked, "<title>Build the shop</title>") >= 1
