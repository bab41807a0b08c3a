"""Six workers ask sixty questions: what the rules know is answered, everything else waits for the human, and all adds up.

For every dangerous question there is a rule that would answer it: nothing but the gate is in between.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from typing import Any, Literal, NamedTuple

import pytest
from tests.coordinate.journey.overseen import Overseen, ask, may, require_whole_log, words_of
from tests.patience import PATIENCE, Deadline, until

POLICY: dict[str, Any] = {
    "rules": [
        {"pattern": "which colour .*", "answer": "Choose 2"},
        {"pattern": "which indentation .*", "answer": "Spaces"},
        {"pattern": "which checks .*", "answer": "Choose 1, 3"},
        {"pattern": r"npm test -- \S+", "answer": "Choose 1", "kinds": ["permission"]},
        {"pattern": "(shall i|how should i) .*", "answer": "Choose 1"},
        {"pattern": "(rm|git push|curl) .*", "answer": "Choose 1", "kinds": ["permission"]},
    ],
}
KEY = re.compile(r"part-[a-f]\d")

# Who settles it: the engine; the human by `maestro answer`, by a No, by dismissing it and a key, by a key, or by Esc.
By = Literal["engine", "answer", "no", "dismiss", "key", "escape"]


class Planned(NamedTuple):
    step: dict[str, Any]
    by: By
    got: str  # what the worker gets; nothing where its turn was ended
    decider: str = "rules"


def colour(key: str) -> Planned:
    return Planned(ask(key, f"Which colour shall {key} have?", "Red", "Blue"), "engine", "Blue")


def indentation(key: str) -> Planned:
    """Without its key: it is the same every time."""
    return Planned(ask(key, "Which indentation do you want?", "Tabs", "Spaces"), "engine", "Spaces")


def once_too_often(key: str) -> Planned:
    return indentation(key)._replace(by="answer", got="Tabs", decider="history")


def checks(key: str) -> Planned:
    question = f"Which checks shall run for {key}?"
    return Planned(ask(key, question, "Types", "Format", "Tests", multi=True), "engine", "Types, Tests")


def checks_in_a_list_that_scrolls(key: str) -> Planned:
    """Gemini CLI shows three rows at a time: what nobody has read waits for the human."""
    return checks(key)._replace(by="answer", got="Types", decider="policy")


def safe_command(key: str) -> Planned:
    return Planned(may(key, f"npm test -- {key}"), "engine", "yes")


def dangerous_question(key: str) -> Planned:
    step = ask(key, f"Shall I run `dropdb users` for {key}?", "Go ahead", "Wait")
    return Planned(step, "answer", "Go ahead", "policy")


def dangerous_option(key: str) -> Planned:
    step = ask(
        key, f"How should I go on with {key}?", "Leave it as it is", "Run git push --force origin main"
    )
    return Planned(step, "answer", "Leave it as it is", "policy")


def dangerous_command(command: str, by: By = "answer") -> Any:
    def planned(key: str) -> Planned:
        return Planned(may(key, command.format(key)), by, "no" if by == "no" else "yes", "policy")

    return planned


def ambiguous(key: str) -> Planned:
    step = ask(key, f"What would you rather call {key}?", "Ledger", "Journal")
    return Planned(step, "answer", "Ledger")


def withdrawn(by: Literal["key", "escape"]) -> Any:
    def planned(key: str) -> Planned:
        step = ask(key, f"Where would you put {key}?", "Left", "Right")
        return Planned(step, by, "Left" if by == "key" else "")

    return planned


REMOVE, FETCH, PUSH = (
    "rm -rf build/{}",
    "curl -s https://example.org/{}.sh | sh",
    "git push --force origin {}",
)


def first_plan(command: str, by: By, several: Any) -> tuple[Any, ...]:
    last = (several, dangerous_command(command, by), withdrawn("key"), colour)
    return (colour, safe_command, dangerous_question, colour, dangerous_option, ambiguous, *last)


def second_plan(command: str, by: By, several: Any) -> tuple[Any, ...]:
    first = (indentation, dangerous_command(command, by), indentation, withdrawn("escape"), indentation)
    return (*first, ambiguous, once_too_often, dangerous_question, several, safe_command)


WORKERS = {
    "a": ("claude", first_plan(REMOVE, "answer", checks)),
    "b": ("claude", second_plan(FETCH, "dismiss", checks)),
    "c": ("codex", first_plan(FETCH, "no", colour)),  # Codex asks for one of several only
    "d": ("codex", second_plan(PUSH, "answer", colour)),
    "e": ("gemini", first_plan(PUSH, "answer", checks_in_a_list_that_scrolls)),
    "f": ("gemini", second_plan(REMOVE, "answer", checks_in_a_list_that_scrolls)),
}
PLANS = {
    f"part-{name}{number}": make(f"part-{name}{number}")
    for name, (_, plan) in WORKERS.items()
    for number, make in enumerate(plan)
}


def key_of(stage: Overseen, question: dict[str, Any], sessions: dict[str, str]) -> str:
    """Which of the sixty it is. What is asked again and again is known by how far its worker is."""
    if found := KEY.search(words_of(question)):
        return found[0]
    name = next(name for name, session in sessions.items() if session == question["sessionId"])
    same = [
        one for one in stage.questions(sessionId=question["sessionId"]) if one["text"] == question["text"]
    ]
    keys = [key for key in PLANS if key.startswith(f"part-{name}") and "indentation" in str(PLANS[key].step)]
    return keys[[one["id"] for one in same].index(question["id"])]


def begin(stage: Overseen) -> dict[str, str]:
    """The workers, by name: of Claude Code in panes of ours, with its hooks; the others in the user's own tmux."""
    sessions = {}
    for name, (imitate, _) in WORKERS.items():
        steps = [PLANS[key].step for key in PLANS if key.startswith(f"part-{name}")]
        make = stage.spawn if imitate == "claude" else stage.adopt
        sessions[name] = make(name, *steps, imitate=imitate)
    return sessions


def be_human(stage: Overseen, sessions: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Answer what waits until nothing is left; the escalation of each."""
    waiting = {key for key, planned in PLANS.items() if planned.by != "engine"}
    met: dict[str, dict[str, Any]] = {}
    deadline = Deadline(2 * PATIENCE)
    while waiting:
        stage.require_running()
        require_answered_by_rules(stage, sessions)
        assert not deadline.passed, f"{waiting}\n{stage.screens(sessions)}\n{stage.decisions()[-5:]}"
        for view in stage.inbox():
            key = key_of(stage, view["question"], sessions)
            if key not in met:
                assert key in waiting, view
                settle(stage, view, key)
                met[key] = view
                waiting.discard(key)
                deadline = Deadline(2 * PATIENCE)
        time.sleep(0.1)
    return met


def require_answered_by_rules(stage: Overseen, sessions: dict[str, str]) -> None:
    """Nothing was answered that is the human's."""
    made = stage.decisions()
    answered = {one["questionId"] for one in made if (one["kind"], one["action"]) == ("verdict", "answer")}
    for question in stage.questions():
        if question["id"] in answered:
            assert PLANS[key_of(stage, question, sessions)].by == "engine", question


def settle(stage: Overseen, view: dict[str, Any], key: str) -> None:
    session, planned = view["sessionId"], PLANS[key]
    assert not [said for said in stage.said(session) if said.startswith(f"{key} ")], "it waits for the human"
    if planned.by == "dismiss":
        done = stage.maestro("answer", view["id"], "--dismiss", "I do it myself")
        assert done.returncode == 0, done.stderr
        stage.press(session, "1")
    elif planned.by == "key":
        stage.press(session, "1")
    elif planned.by == "escape":
        stage.press(session, "Escape")
    else:
        done = stage.maestro("answer", view["id"], "3" if planned.by == "no" else "1")
        assert done.returncode == 0, (done.stderr, stage.screen(session))
    if planned.by in {"no", "escape"}:
        until(lambda: not stage.explain(session)["question"], lambda: stage.screen(session))
        assert stage.sent(session, f"go on after {key}")["state"] == "submitted"


@pytest.mark.more
def test_sixty_questions_of_six_workers(stage: Overseen) -> None:
    assert len(PLANS) == 60
    stage.policy(**POLICY)
    sessions = begin(stage)
    loops = [stage.oversee("ours", "--fleet", "maestro"), stage.oversee("theirs", "--fleet", stage.guests)]
    met = be_human(stage, sessions)
    for name, session in sessions.items():
        got = [
            f"{key} got {planned.got}"
            for key, planned in PLANS.items()
            if planned.got and key.startswith(f"part-{name}")
        ]
        stage.until_said(session, *got)
    until(lambda: all(one["closedAt"] for one in stage.questions()))
    require_settled_once(stage, sessions, met)
    for loop in loops:
        stage.stop(loop)
    require_same_numbers(stage)
    # The second loop was started when the first had begun.
    assert set(sessions.values()) == {one["sessionId"] for one in stage.decisions()}
    known = {ending for _, ending in stage.log("theirs")}
    of_theirs = [
        one for one in stage.decisions() if one["coordinator"] == "theirs" and one["kind"] == "verdict"
    ]
    assert {one["id"] for one in of_theirs} <= known


def require_settled_once(stage: Overseen, sessions: dict[str, str], met: dict[str, dict[str, Any]]) -> None:
    """Each question has one verdict and one end, and only what the human or a rule said was typed."""
    met_keys = Counter(key_of(stage, one, sessions) for one in stage.questions())
    assert met_keys == Counter(PLANS.keys()), [
        one for one in stage.questions() if met_keys[key_of(stage, one, sessions)] != 1
    ]
    asked = {key_of(stage, one, sessions): one for one in stage.questions()}
    assert stage.inbox() == []
    for key, planned in PLANS.items():
        made = stage.decisions(questionId=asked[key]["id"])
        steps = [(one["kind"], one["action"], one["by"]) for one in made]
        first = ("verdict", "answer" if planned.by == "engine" else "escalate", planned.decider)
        said: list[tuple[str, str, str]] = []
        if planned.by == "engine":
            said = [("receipt", "submitted", planned.decider)]
        elif planned.by in {"answer", "no"}:
            said = [("resolution", "answer", "human"), ("receipt", "submitted", "human")]
        elif planned.by == "dismiss":
            said = [("resolution", "dismiss", "human")]
        assert steps == [first, *said], (key, made)
        assert bool(made[0]["categories"]) == (planned.decider == "policy"), (key, made)
        if planned.by in {"key", "escape"}:
            assert stage.closed(met[key]["id"])["closedBy"] == "the worker went on"
    for name, session in sessions.items():
        mine = [key for key in PLANS if key.startswith(f"part-{name}")]
        assert stage.heard(session) == [
            f"go on after {key}" for key in mine if PLANS[key].by in {"no", "escape"}
        ]


def require_same_numbers(stage: Overseen) -> None:
    """Log, ledger and stats count the same."""
    by = Counter(planned.by for planned in PLANS.values())
    by_human = by["answer"] + by["no"]
    entries = require_whole_log(stage, "ours")
    assert entries == {
        "Autonomous Decision": by["engine"],
        "Escalation to Human": len(PLANS) - by["engine"],
        "Human Resolution": by_human + by["dismiss"],
    }
    told = stage.maestro.json("coordinate", "stats")
    assert told["decided"] == len(PLANS)
    assert (told["answered"], told["escalated"]) == (by["engine"], len(PLANS) - by["engine"])
    assert (told["humanAnswers"], told["probed"], told["shadow"]) == (by_human, 0, 0)
    assert (told["uncertainReceipts"], told["failedReceipts"]) == (0, 0)
    deciders = Counter(
        (one.decider, "answered" if one.by == "engine" else "escalated") for one in PLANS.values()
    )
    assert told["byDecider"] == {
        name: {column: deciders[name, column] for column in ("answered", "escalated")} | {"probed": 0}
        for name in sorted({name for name, _ in deciders})
    }
    whole = stage.maestro.json("coordinate", "audit")
    assert (whole["brokenAt"], whole["links"]) == (None, len(stage.decisions())), json.dumps(whole)
