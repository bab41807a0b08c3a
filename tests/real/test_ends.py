"""Real CLIs that are killed while they hold prompts in a queue of their own."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest
from tests.real import walk
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import says

from maestro.fleet.proof import LOST


@pytest.fixture(scope="module", params=list(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def killed(fleet: RealFleet, session_id: str) -> dict[str, dict[str, Any]]:
    """Kills the agent; its prompts, by their text, when that was seen."""
    shown = ("session", "show", session_id)
    os.kill(fleet.json(*shown)["place"]["panePid"], signal.SIGKILL)
    fleet.until("it has ended", lambda: fleet.json(*shown), lambda session: session["endedAt"])
    return {one["text"]: one for one in fleet.json("session", "prompts", session_id)}


def test_what_its_queue_held_has_failed(fleet: RealFleet) -> None:
    gate = threading.Event()
    fleet.load(says("Here is the first answer.", gate=gate))
    try:
        session_id = fleet.spawn("begin with this")
        fleet.asked("begin with this")
        # Until it shows that it works, Gemini CLI may drop what is typed: its receipt is then uncertain.
        walk.until_all_agree(fleet, session_id, "working", "thinking")
        texts = ("and then the second thing", "and then the third thing")
        for text in texts:
            fleet.tell(session_id, text)
        prompts = killed(fleet, session_id)
    finally:
        gate.set()
    for text in texts:
        assert (prompts[text]["state"], prompts[text]["reason"]) == ("failed", LOST), prompts[text]
    told = fleet.json("session", "show", session_id)["lastReport"]
    assert told == "It was killed by SIGKILL, and had said nothing."


def test_what_the_model_got_from_it_stays_submitted(fleet: RealFleet) -> None:
    first, second = threading.Event(), threading.Event()
    fleet.load(says("Here is the first answer.", gate=first), says("Here is the next one.", gate=second))
    try:
        session_id = fleet.spawn("begin with this")
        fleet.asked("begin with this")
        # Until it shows that it works, Gemini CLI may drop what is typed: its receipt is then uncertain.
        walk.until_all_agree(fleet, session_id, "working", "thinking")
        fleet.tell(session_id, "and then the second thing")
        first.set()
        fleet.asked("and then the second thing")
        fleet.until(
            "its log has it",
            lambda: fleet.digest(session_id)["entries"],
            lambda entries: any("and then the second thing" in entry["text"] for entry in entries),
        )
        prompts = killed(fleet, session_id)
    finally:
        first.set()
        second.set()
    assert prompts["and then the second thing"]["state"] == "submitted", prompts
