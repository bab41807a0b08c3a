"""A loop and a daemon that are killed at any moment: nothing is answered twice, nothing is lost, and the log is whole."""

from __future__ import annotations

import random
import subprocess
import time
from typing import Any

import pytest
from tests.coordinate.journey.overseen import Overseen, ask, require_whole_log, words_of
from tests.patience import until
from tests.support import SOAK

from maestro.errors import Conflict
from maestro.ledger.decisions import NOT_TYPED

KILLS = 200 if SOAK else 3
QUESTIONS = max(12, KILLS)  # of each worker
OPTIONS = ("Red", "Blue", "Green")
# What the next question wants is never what the one before wanted: an answer that comes too late shows.
WANTED = (("colour", "Choose 1", "Red"), ("shade", "Choose 2", "Blue"), ("name", "Choose 3", "Green"))
POLICY: dict[str, Any] = {
    "preset": "autonomous",
    "rules": [
        {"pattern": f"which {word} .*", "answer": choice} for word, choice, _ in WANTED if word != "name"
    ],
    "precedents": {"enabled": False},
}


def question(key: str, number: int) -> dict[str, Any]:
    word = WANTED[number % len(WANTED)][0]
    return ask(key, f"Which {word} shall {key} have?", *OPTIONS)


def expected(name: str) -> list[str]:
    return [f"{name}{number} got {WANTED[number % len(WANTED)][2]}" for number in range(QUESTIONS)]


def answer_what_waits(stage: Overseen) -> None:
    """As the human does, once; what is over meanwhile is over."""
    for view in stage.inbox():
        text = words_of(view["question"])
        choice = next(choice for word, choice, _ in WANTED if f"Which {word} " in text)
        try:
            stage.maestro.daemon.call(
                "POST", f"/api/inbox/{view['id']}/answer", {"message": choice}, timeout=60
            )
        except Conflict:
            continue


def go_on(stage: Overseen, name: str, session: str) -> None:
    """Until this worker has one answer more, whoever gives it."""
    before = len(stage.said(session))

    def without_answer() -> list[tuple[str, Any]]:
        """The questions that the worker said nothing to, with all that was decided about them."""
        said = stage.said(session)
        keys = [wanted.partition(" ")[0] for wanted in expected(name) if wanted not in said]
        about = {key: [one for one in stage.questions() if f" {key} " in words_of(one)] for key in keys[:3]}
        return [
            (key, [(one, stage.decisions(questionId=one["id"])) for one in found])
            for key, found in about.items()
        ]

    def has_more() -> bool:
        answer_what_waits(stage)
        return len(stage.said(session)) > before

    until(has_more, lambda: (stage.screen(session), without_answer()))


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_oversight_survives_kills(stage: Overseen) -> None:
    rng = random.Random(20261116)
    stage.policy(**POLICY)
    sessions = {
        "hooked": stage.spawn("hooked", *(question(f"hooked{n}", n) for n in range(QUESTIONS))),
        "other": stage.spawn("other", *(question(f"other{n}", n) for n in range(QUESTIONS)), imitate="codex"),
    }
    loop = stage.oversee()
    for _ in range(KILLS):
        time.sleep(rng.uniform(0.0, 1.2))
        target = rng.choice(["loop", "daemon", "both"])
        if target != "daemon":
            kill(loop)
        if target != "loop":
            stage.kill_daemon()
        if loop.poll() is not None:
            loop = stage.oversee()
        answer_what_waits(stage)
    for name, session in sessions.items():
        while len(stage.said(session)) < QUESTIONS:
            go_on(stage, name, session)
        assert stage.said(session) == expected(name), "answered once, each with its own answer"
        assert stage.heard(session) == [], "no answer became a prompt"
    until(lambda: all(one["closedAt"] for one in stage.questions()))
    stage.stop(loop)
    require_answered_once(stage)
    require_whole_log(stage)
    for session in sessions.values():
        assert stage.in_pane(session, "display-message", "-p", "#{@pane_coordinator_active}").strip() == "0"
        assert not stage.explain(session)["draft"], "nothing is left in its box"


def require_answered_once(stage: Overseen) -> None:
    assert stage.inbox() == []
    assert stage.get("decisions/audit")["brokenAt"] is None
    made = stage.decisions()
    undone = {one["follows"] for one in made if one["kind"] == "receipt" and one["action"] in NOT_TYPED}
    given = [
        one["questionId"]
        for one in made
        if (one["kind"], one["action"]) == ("verdict", "answer") and one["id"] not in undone
    ]
    assert len(given) == len(set(given)), "decided twice"
    assert len(given) >= QUESTIONS // 2, "the loop has answered"


def test_what_a_dead_loop_was_engaged_with(stage: Overseen) -> None:
    """The next one of its name takes the pane up again, and lets go of it when it is through."""
    stage.policy(**POLICY)
    session = stage.spawn("left", question("left0", 0))
    stage.asked(session)

    def is_engaged() -> bool:
        return stage.in_pane(session, "display-message", "-p", "#{@pane_coordinator_active}").strip() == "1"

    body = {"coordinator": "oversight", "fleet": "maestro", "timeout": 20}
    taken = stage.maestro.daemon.call("POST", "/api/fleets/coordinate-wait", body, timeout=60)
    assert taken["capture"]["sessionId"] == session
    until(is_engaged)
    loop = stage.oversee()
    stage.until_said(session, "left0 got Red")
    until(lambda: not is_engaged())
    stage.stop(loop)
    require_whole_log(stage)
