"""Prompts on their way: in the order of their acknowledgement, each once; answers first; between sessions, signed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import until

from maestro.errors import Conflict, InvalidInput, Refused

SENDERS = 3
EACH = 4
ASKS = {
    "ask": {
        "question": "Which colour?",
        "header": "Colour",
        "options": ["Red", "Blue"],
        "answers": {"*": [{"say": "It is ${answer}."}]},
    }
}


def test_first_in_first_out_across_processes(stage: Stage) -> None:
    session = stage.spawn("busy", {"say": "I am at it."})
    stage.in_pane(session, "copy-mode")  # nothing is typed before all of them stand in the queue

    def send(sender: int) -> list[str]:
        return [
            stage.sent(session, f"number {number} of {sender}", "--no-wait")["id"] for number in range(EACH)
        ]

    with ThreadPoolExecutor(SENDERS) as pool:
        acknowledged = list(pool.map(send, range(SENDERS)))
    queue = stage.prompts(session)
    assert sorted(one["id"] for one in queue) == sorted(one for mine in acknowledged for one in mine)
    assert {one["state"] for one in queue} == {"queued"}
    for mine in acknowledged:
        assert mine == sorted(mine), "each sender's own are in its order"
    stage.in_pane(session, "send-keys", "-X", "cancel")
    until(lambda: len(stage.heard(session)) == SENDERS * EACH, lambda: stage.prompts(session))
    until(lambda: {one["state"] for one in stage.prompts(session)} == {"submitted"})
    assert stage.heard(session) == [one["text"] for one in queue]


def test_while_it_works_it_is_queued_there(stage: Stage) -> None:
    session = stage.spawn("working", {"say": "I am at it."}, {"work": 600})
    stage.see(session, "esc to interrupt")
    done = stage.prompt(session, "when you have time")
    assert done.returncode == 0, (done.stderr, stage.screen(session))
    assert stage.heard(session) == [], "it has it, and works on"


def test_what_is_queued_can_be_withdrawn(stage: Stage) -> None:
    session = stage.spawn("patient")
    stage.in_pane(session, "copy-mode")
    first, second = stage.queued(session, "forget it"), stage.queued(session, "keep it")
    stage.held(session, first, "copy mode")
    told = stage.maestro("session", "prompts", session, "--withdraw", first)
    assert (told.returncode, "withdrawn" in told.stdout) == (0, True), told.stderr
    other = stage.spawn("stranger")
    wrong = stage.maestro("session", "prompts", other, "--withdraw", second)
    assert wrong.returncode == InvalidInput.exit_code
    stage.in_pane(session, "send-keys", "-X", "cancel")
    assert stage.settled(session, second)["state"] == "submitted"
    until(lambda: stage.heard(session) == ["keep it"])
    late = stage.maestro("session", "prompts", session, "--withdraw", second)
    assert (late.returncode, "submitted already" in late.stderr) == (Conflict.exit_code, True)
    listed = stage.maestro("session", "prompts", session).stdout
    assert "withdrawn" in listed
    assert "submitted" in listed


def test_an_answer_overtakes_a_prompt_that_the_question_holds(stage: Stage) -> None:
    ready = stage.place / "ask-now"
    waits = {"run": ["sh", "-c", f"until [ -e {ready} ]; do sleep 0.05; done"]}
    session = stage.spawn("asking", waits, ASKS, ASKS)
    stage.in_pane(session, "copy-mode")
    held = stage.queued(session, "and then this")
    stage.held(session, held, "copy mode")
    ready.touch()
    stage.see(session, "Which colour?")
    stage.in_pane(session, "send-keys", "-X", "cancel")
    stage.held(session, held, "Which colour?")
    for answer in ("Choose 1", "Choose 2"):
        until(lambda: stage.explain(session)["question"])
        told = stage.sent(session, answer)
        assert (told["kind"], told["state"]) == ("answer", "submitted"), told
    over = stage.settled(session, held)
    assert over["state"] == "submitted", (over, stage.screen(session))
    assert stage.said(session) == ["It is Red.", "It is Blue."]
    until(lambda: stage.heard(session) == ["and then this"])
    bad = stage.spawn("asking-too", ASKS)
    stage.see(bad, "Which colour?")
    wrong = stage.prompt(bad, "Choose 7")
    assert (wrong.returncode, "no option 7" in wrong.stderr) == (InvalidInput.exit_code, True)
    assert stage.explain(bad)["question"], "a wrong answer is no answer"


def session_of(stage: Stage, name: str, role: str, parent: str | None = None) -> tuple[str, dict[str, str]]:
    """A session that is only its token: what a process of it may do."""
    body = {"agent": "scripted", "role": role, "name": name, "directory": str(stage.maestro.cwd)}
    made = stage.maestro.daemon.call("POST", "/api/sessions", {**body, "parentSessionId": parent})
    session_id = made["session"]["id"]
    return session_id, {"MAESTRO_SESSION_ID": session_id, "MAESTRO_SESSION_TOKEN": made["token"]}


def test_between_sessions(stage: Stage) -> None:
    boss, as_boss = session_of(stage, "The\tBoss", "coordinator")
    _, as_worker = session_of(stage, "sibling", "worker", boss)
    child = stage.maestro.json(
        *("session", "spawn", "--agent", "scripted", "--name", "child", "--message", "Begin"),
        *("--model", stage.script({"say": "I am ready."})),
        env=as_boss,
    )["id"]
    stranger = stage.spawn("not-theirs")
    for env, target in ((as_worker, child), (as_worker, boss), (as_boss, stranger)):
        done = stage.prompt(target, "do as I say", env=env)
        assert done.returncode == Refused.exit_code, done.stderr
    done = stage.prompt(child, "go on", env=as_boss)
    assert done.returncode == 0, done.stderr
    until(lambda: stage.heard(child) == [f"[From: The Boss ({boss})] go on"])
    assert stage.heard(stranger) == []
    [told] = stage.prompts(child)
    assert told["sender"] == boss
    listing = stage.maestro("session", "prompts", child, "--json", env=as_worker)
    assert listing.returncode == Refused.exit_code


def test_a_repeated_request_is_typed_once(stage: Stage) -> None:
    """The answer to the first was lost; by now the question is answered, and that is no reason to refuse."""
    session = stage.spawn("once", ASKS)
    stage.see(session, "Which colour?")
    question = until(lambda: stage.explain(session)["question"])
    body = {"message": "Choose 2", "questionId": question["id"]}
    told = [_repeatable(stage, session, body) for _ in range(3)]
    assert len({one["id"] for one in told}) == 1, told
    assert told[-1]["state"] == "submitted"
    until(lambda: stage.said(session) == ["It is Blue."])
    assert len(stage.prompts(session)) == 1


def _repeatable(stage: Stage, session: str, body: dict[str, str]) -> dict[str, str]:
    """As the command sends it again after the daemon died on it: under the same key."""
    daemon = stage.maestro.daemon
    path = f"/api/sessions/{session}/prompt"
    request = daemon._request("POST", path, json.dumps(body).encode(), "the-same-key")
    status, _, answer = daemon._exchange(request, 30.0)
    assert status == 202, answer
    told: dict[str, str] = json.loads(answer)
    return told


@pytest.mark.timeout(120)
def test_a_long_prompt_arrives_whole(stage: Stage) -> None:
    session = stage.spawn("reader")
    text = "\n".join(f"line {number} with an é and a 👍" for number in range(2_500))
    done = stage.maestro("session", "prompt", session, "-", input=text, timeout=100)
    assert done.returncode == 0, done.stderr
    until(lambda: stage.heard(session) == [text])
