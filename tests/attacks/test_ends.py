"""Workers, prompts, fleets and oversights that end while others still count on them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.coordinate.loop.overseen import Overseen, asks
from tests.fleet.typing.stage import Stage
from tests.patience import end_of, until

from maestro.errors import InvalidInput
from maestro.fleet.proof import LOST

pytestmark = pytest.mark.more  # make test-more

BUSY = ({"say": "I work on the parser. It takes its time."}, {"work": 600})


@pytest.fixture
def stage(theatre: Stage) -> Iterator[Stage]:
    """One daemon for all; each test has a project and a fleet of its own, which it takes down."""
    theatre.begin_anew()
    yield theatre
    theatre.send_everybody_home()
    theatre.maestro("down", "maestro")


@pytest.mark.parametrize("name", ["SIGKILL", pytest.param("SIGTERM", marks=pytest.mark.more)])
def test_a_killed_worker_reports_in_a_sentence(stage: Stage, name: str) -> None:
    session = stage.spawn("killed", *BUSY)
    stage.see(session, "I work on the parser.")
    os.kill(stage.pid(session), getattr(signal, name))
    until(lambda: stage.show(session)["endedAt"])
    told = stage.show(session)
    words = f"It was killed by {name}; it last said: “I work on the parser.”"
    assert (told["status"], told["lastReport"]) == ("error", words)


def in_its_queue(stage: Stage, session: str, text: str) -> str:
    """A prompt that the agent, at work, put into its own queue; its id."""
    receipt = stage.sent(session, text)
    assert receipt["state"] == "submitted", receipt
    stage.see(session, "Press up to edit queued messages")
    return str(receipt["id"])


def kill_and_see(stage: Stage, session: str) -> None:
    os.kill(stage.pid(session), signal.SIGKILL)
    until(lambda: stage.show(session)["endedAt"])


def test_what_an_agent_had_queued_when_it_was_killed_has_failed(stage: Stage) -> None:
    go = stage.place / "go-on"
    until_told = {"run": ["sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done"]}
    session = stage.spawn("queued", until_told, on_prompt=[{"say": "That is done."}, {"work": 600}])
    taken = in_its_queue(stage, session, "first this, please")
    go.touch()
    stage.until_heard(session, "first this, please")
    stage.see(session, "That is done.")
    left = [in_its_queue(stage, session, f"then number {number}") for number in (1, 2)]
    kill_and_see(stage, session)
    assert stage.receipt(session, taken)["state"] == "submitted"
    for prompt_id in left:
        receipt = stage.receipt(session, prompt_id)
        assert (receipt["state"], receipt["reason"]) == ("failed", LOST)
    told = [one for one in events(stage, session) if one["kind"] == "prompt.failed"]
    assert [one["data"]["prompt"]["promptId"] for one in told] == left


def test_nor_is_it_lost_when_the_daemon_dies_first(stage: Stage) -> None:
    session = stage.spawn("unseen", *BUSY)
    left = in_its_queue(stage, session, "and then the other one")
    pid = stage.pid(session)
    stage.kill_daemon()
    os.kill(pid, signal.SIGKILL)
    until(lambda: stage.show(session)["endedAt"])
    assert (stage.receipt(session, left)["state"], stage.receipt(session, left)["reason"]) == ("failed", LOST)


def test_stopped_by_a_person_it_has_failed_as_well(stage: Stage) -> None:
    session = stage.spawn("stopped", *BUSY)
    left = in_its_queue(stage, session, "and then the last one")
    stage.maestro("session", "stop", session)
    assert stage.receipt(session, left)["state"] == "failed"


@pytest.mark.parametrize("of", ["", pytest.param("busy,asker", marks=pytest.mark.more)])
def test_down_ends_a_running_oversight_in_order(stage: Stage, of: str) -> None:
    overseen = Overseen(stage)
    stage.spawn("busy", *BUSY)
    asker = stage.spawn("asker", asks("Which size?", "S", "L"))
    words = overseen.command(of=of, timeouts={"waitTimeout": 600})
    running = stage.maestro.start(*words)
    until(lambda: overseen.inbox(asker))
    down = stage.maestro("down")
    assert (down.returncode, "2 sessions ended" in down.stdout) == (0, True), down
    code = end_of(running)
    told, errors = running.communicate()
    assert (code, errors) == (0, "")
    name = of.replace(",", "-") or "oversight"
    debrief = overseen.folder(name) / "DEBRIEF.md"
    assert told.splitlines()[-1] == f"The fleet has ended. The debrief is in {debrief}."
    assert "- busy (scripted): stopped" in debrief.read_text()
    assert "- asker (scripted): stopped" in debrief.read_text()
    assert "Which size?" in overseen.log(name)
    # Nothing of it is in the way of the next one.
    stage.spawn("busy", *BUSY)
    overseen.once(of="busy")


def test_adopted_panes_leave_no_doubt_which_fleet_is_meant(stage: Stage) -> None:
    overseen = Overseen(stage)
    stage.spawn("ours", *BUSY)
    stage.adopt("theirs", *BUSY)
    overseen.once("--as", "beside-a-guest")
    waited = stage.maestro("fleet", "coordinate-wait", "--timeout", "0", "--as", "me")
    assert (waited.returncode, "total=1" in waited.stdout) == (0, True), waited
    stage.tmux("kill-server")
    until(lambda: not any(one["running"] for one in guests(stage)))
    overseen.once("--as", "after-a-guest")
    # A dead guest alone is no fleet.
    assert stage.maestro("down").stdout.startswith("maestro: 1 session ended")
    alone = stage.maestro("coordinate", "--once")
    assert "There is no running fleet." in alone.stderr
    waited = stage.maestro("fleet", "coordinate-wait", "--timeout", "0", "--as", "me")
    assert "No fleet runs." in waited.stderr


def test_of_two_fleets_one_is_named(stage: Stage) -> None:
    stage.spawn("ours", *BUSY)
    body = {"agent": "scripted", "model": stage.script(*BUSY), "name": "other", "message": "Begin"}
    place = {"directory": str(stage.maestro.cwd), "environment": stage.maestro.env, "fleet": "second"}
    stage.maestro.daemon.call("POST", "/api/sessions/spawn", body | place, timeout=60)
    try:
        for words, option in (
            (("coordinate", "--once"), "--fleet NAME"),
            (("fleet", "coordinate-wait", "--timeout", "0", "--as", "me"), "--fleet: maestro, second"),
            (("down",), "maestro down NAME"),
        ):
            done = stage.maestro(*words)
            assert done.returncode == InvalidInput.exit_code
            assert "Which fleet?" in done.stderr
            assert option in done.stderr, done.stderr
    finally:
        stage.maestro("down", "second")


def events(stage: Stage, session: str) -> list[dict[str, Any]]:
    found = stage.maestro.daemon.call("GET", "/api/events", query={"subjects": session})
    return list(found["events"])


def guests(stage: Stage) -> list[dict[str, object]]:
    return [one for one in stage.maestro.daemon.call("GET", "/api/fleets") if one["isGuest"]]
