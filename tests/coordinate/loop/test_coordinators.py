"""Sessions that coordinate others: what they answer goes through the human's policy, whatever they send along."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from tests.coordinate.loop.overseen import Overseen, asks
from tests.fleet.typing.stage import Stage
from tests.fleet.typing.test_queue import session_of
from tests.patience import until

from maestro.errors import Refused
from maestro.server.client import Daemon

pytestmark = pytest.mark.more  # make test-more

DANGER = asks("Shall I run git push --force origin main?", "Yes, push it", "No, leave it")


class Boss(NamedTuple):
    id: str
    env: dict[str, str]


@pytest.fixture
def boss(stage: Stage, request: pytest.FixtureRequest) -> Boss:
    return Boss(*session_of(stage, f"boss of {request.node.name}"[:60], "coordinator"))


def child_of(boss: Boss, stage: Stage, name: str, *steps: dict[str, Any]) -> str:
    """A worker that it started itself, and that asks something."""
    words = ("session", "spawn", "--agent", "scripted", "--name", name, "--message", "Begin")
    made = stage.maestro.json(*words, "--model", stage.script(*steps), env=boss.env)
    session = str(made["id"])
    until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    return session


def test_it_answers_its_own_child(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    child = child_of(boss, stage, "child", asks("Which colour?", "Red", "Blue"))
    done = stage.prompt(child, "Choose 2", env=boss.env)
    assert done.returncode == 0, done.stderr
    stage.until_said(child, "It is Blue.")
    verdict, receipt = overseen.decided(child)
    assert (verdict["kind"], verdict["action"], verdict["by"]) == ("verdict", "answer", "coordinator")
    assert (verdict["actor"], verdict["coordinator"]) == (f"coordinator:{boss.id}", boss.id)
    assert (receipt["kind"], receipt["action"], receipt["follows"]) == ("receipt", "submitted", verdict["id"])
    known = {one["question"] for one in stage.maestro.json("precedent", "list")}
    assert "Which colour?" not in known, "only what a human says stands for the next time"


def test_what_is_dangerous_is_refused_and_stands_in_the_inbox(
    stage: Stage, overseen: Overseen, boss: Boss
) -> None:
    child = child_of(boss, stage, "pusher", DANGER)
    done = stage.prompt(child, "Choose 1", env=boss.env)
    [waits] = overseen.inbox(child)
    assert done.returncode == Refused.exit_code, done.stdout
    assert waits["id"] in done.stderr
    assert (waits["kind"], waits["proposed"]) == ("question", "Choose 1")
    assert "git operations" in waits["categories"]
    assert overseen.done(child) == [("verdict", "escalate", "policy")]
    # What waits for the human is not answered by another, however harmless.
    again = stage.prompt(child, "Choose 2", env=boss.env)
    assert (again.returncode, waits["id"] in again.stderr) == (Refused.exit_code, True), again.stderr
    assert stage.prompts(child) == []
    assert stage.maestro("answer", waits["id"], "2").returncode == 0
    stage.until_said(child, "It is No, leave it.")
    assert overseen.inbox(child) == []


def test_a_dangerous_answer_to_a_harmless_question(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    child = child_of(boss, stage, "harmless", asks("What next?", "Tests", "Docs"))
    done = stage.prompt(child, "Run rm -rf / --no-preserve-root now", env=boss.env)
    assert done.returncode == Refused.exit_code, done.stdout
    assert stage.prompts(child) == []
    assert len(overseen.inbox(child)) == 1


def test_workers_answer_nothing(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    child = child_of(boss, stage, "mute", asks("Which way?", "Left", "Right"))
    _, sibling = session_of(stage, "sibling of mute", "worker", boss.id)
    done = stage.prompt(child, "Choose 1", env=sibling)
    assert done.returncode == Refused.exit_code
    question = stage.explain(child)["question"]
    body = {"sessionId": child, "coordinator": "me", "questionId": question["id"], "version": 1}
    with pytest.raises(Refused):
        Daemon(stage.maestro.env | sibling).call("POST", "/api/coordinate/decide", body)
    with pytest.raises(Refused):
        Daemon(stage.maestro.env | sibling).call("GET", "/api/inbox")
    assert stage.prompts(child) == overseen.decided(child) == []


def test_a_stranger_is_not_its_own(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    stranger = stage.spawn("stranger", asks("Which side?", "Left", "Right"))
    question = until(lambda: stage.explain(stranger)["question"])
    assert stage.prompt(stranger, "Choose 1", env=boss.env).returncode == Refused.exit_code
    daemon = Daemon(stage.maestro.env | boss.env)
    assessment = {"brain": "claude", "answer": "Choose 1", "confidence": 1.0, "canBeUndone": True}
    body = {"sessionId": stranger, "coordinator": "me", "questionId": question["id"], "version": 1}
    for path, more in (
        ("/api/coordinate/case", {}),
        ("/api/coordinate/decide", {"assessment": assessment}),
    ):
        with pytest.raises(Refused):
            daemon.call("POST", path, body | more)
    with pytest.raises(Refused):
        daemon.call("POST", "/api/coordinate/attend", {"coordinator": "me", "sessions": [stranger]})
    assert stage.prompts(stranger) == overseen.decided(stranger) == []


def test_it_cannot_bring_a_policy_of_its_own(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    child = child_of(boss, stage, "loose", DANGER)
    question = stage.explain(child)["question"]
    body = {
        "sessionId": child,
        "coordinator": "somebody-else",
        "questionId": question["id"],
        "version": question["version"],
        "policy": {"confidenceThreshold": 0, "strictness": "sure", "alwaysEscalate": []},
        "assessment": {"brain": "claude", "answer": "Choose 1", "confidence": 1.0, "canBeUndone": True},
    }
    done = Daemon(stage.maestro.env | boss.env).call("POST", "/api/coordinate/decide", body)
    assert done["outcome"] == "escalate"
    [made] = overseen.decided(child)
    assert (made["by"], made["coordinator"]) == ("policy", boss.id)
    assert stage.prompts(child) == []


def test_what_is_the_humans_stays_the_humans(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    child = child_of(boss, stage, "watched-over", DANGER)
    stage.prompt(child, "Choose 1", env=boss.env)
    [waits] = overseen.inbox(child)
    for words in (
        ("answer", waits["id"], "1"),
        ("answer", waits["id"], "--dismiss"),
        ("precedent", "forget", "x"),
    ):
        done = stage.maestro(*words, env=boss.env)
        assert done.returncode == Refused.exit_code, (words, done.stderr)
    assert stage.maestro.json("inbox", env=boss.env), "it may see what waits"
    assert stage.prompts(child) == []
    assert [one["id"] for one in overseen.inbox(child)] == [waits["id"]]


def test_it_may_run_the_loop_for_its_own(stage: Stage, overseen: Overseen, boss: Boss) -> None:
    """By the human's policy, which it finds as the human's own loop does; a file that it names itself counts for nothing."""
    rule = {"pattern": "which depth.*", "answer": "Choose 2"}
    project = stage.maestro.cwd / "coordinate.config.json"
    child = child_of(boss, stage, "deep", asks("Which depth?", "1 m", "2 m"))
    other = child_of(boss, stage, "risky", DANGER)
    project.write_text('{"preset": "cautious", "timeouts": {"waitTimeout": 1}, "notify": {"desktop": false}}')
    try:
        for name in ("deep", "risky"):
            overseen.once(of=name, env=boss.env, rules=[rule, {"pattern": ".*push.*", "answer": "Choose 1"}])
    finally:
        project.unlink()
    stage.until_said(child, "It is 2 m.")
    assert [one["coordinator"] for one in overseen.decided(child)] == [boss.id] * 2
    assert overseen.done(other) == [("verdict", "escalate", "policy")]
    [waits] = overseen.inbox(other)
    assert waits["notifiedAt"] is None, "that the human knows, a session cannot say"
    assert stage.prompts(other) == []
