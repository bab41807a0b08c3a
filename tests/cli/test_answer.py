"""`maestro answer`: what is said reaches the worker, and the receipt says so."""

from __future__ import annotations

import asyncio
import json
import re

import msgspec
import pytest
from tests.cli.escalated import POLICY, ask, decide, escalate, may
from tests.fleet.typing.stage import Stage
from tests.patience import patience, until
from tests.support import Maestro

from maestro.coordinate import AnswerRule, Case
from maestro.coordinate.brains.rules import Rules
from maestro.coordinate.policy.config import parse_policy
from maestro.errors import Conflict, InvalidInput, NotFound, TimedOut, Uncertain

WHICH = ask("Which way?", "North", "South")
DAYS = ask("Which days?", "Monday", "Tuesday", "Friday", multi=True)


@pytest.mark.parametrize(
    ("step", "words", "got"),
    [
        (WHICH, ("2",), "Got: South"),
        (WHICH, ("Choose 1",), "Got: North"),
        (WHICH, ("Choose 2: it is warmer",), "Got: South"),
        (WHICH, ("neither;", "stay", "here"), "Got: neither; stay here"),
        (WHICH, ("--option", "1"), "Got: North"),
        (WHICH, ("--option", "2", "--text", "warmer"), "Got: South"),
        (WHICH, ("--text", "42"), "Got: 42"),
        (DAYS, ("1,3",), "Got: Monday, Friday"),
        (DAYS, ("--option", "1, 2"), "Got: Monday, Tuesday"),
        (may("make release"), ("1",), "Got: yes"),
    ],
)
def test_every_way_to_answer(stage: Stage, step: dict[str, object], words: tuple[str, ...], got: str) -> None:
    session = stage.spawn("asks", step)
    waits = escalate(stage, session)
    done = stage.maestro("answer", waits, *words, "--no-remember")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"prom_\w{26}  · submitted  .+\n", done.stdout)
    stage.until_said(session, got)
    assert waits not in stage.maestro("inbox").stdout


def test_a_number_without_options_is_the_answer_itself(stage: Stage) -> None:
    step = {
        "ask": {
            "question": "Which port?",
            "header": "Port",
            "free_text": True,
            "answers": {"*": [{"say": "Got: ${answer}"}]},
        }
    }
    session = stage.spawn("port", step, imitate="gemini")
    waits = escalate(stage, session)
    done = stage.maestro("answer", waits, "8080")
    assert done.returncode == 0, done.stderr
    stage.until_said(session, "Got: 8080")


def test_the_whole_receipt_as_json(stage: Stage) -> None:
    session = stage.spawn("precise", WHICH)
    waits = escalate(stage, session, answer="Choose 2")
    told = stage.maestro.json("answer", waits, "2")
    assert (told["escalation"]["id"], told["prompt"]["state"]) == (waits, "submitted")
    assert (told["decision"]["by"], told["decision"]["text"]) == ("human", "Choose 2")
    assert told["prompt"]["evidence"]


def test_dismissing_types_nothing(stage: Stage) -> None:
    session = stage.spawn("dismissed", WHICH)
    waits = escalate(stage, session)
    done = stage.maestro("answer", waits, "--dismiss", "it can wait")
    assert (done.returncode, done.stdout) == (0, f"{waits}  dismissed by a human: it can wait\n")
    assert stage.prompts(session) == []
    assert stage.explain(session)["question"], "it still asks"
    assert stage.maestro("answer", waits, "1").returncode == Conflict.exit_code


def test_what_the_question_does_not_take_is_said_with_its_options(stage: Stage) -> None:
    session = stage.spawn("strict", may("make release"))
    waits = escalate(stage, session)
    done = stage.maestro("answer", waits, "7")
    assert done.returncode == InvalidInput.exit_code
    assert "It has no option 7." in done.stderr
    assert "Choose N: 1 Yes" in done.stderr
    assert waits in stage.maestro("inbox").stdout, "it still waits"


def test_a_question_that_is_over_is_not_answered(stage: Stage) -> None:
    session = stage.spawn("fast", WHICH, {"say": "Gone on."})
    waits = escalate(stage, session)
    assert stage.prompt(session, "Choose 1").returncode == 0
    late = stage.maestro("answer", waits, "2")
    assert late.returncode == Conflict.exit_code
    assert "maestro inbox" in late.stderr
    stage.until_said(session, "Got: North", "Gone on.")


def test_an_answer_waits_while_somebody_looks(stage: Stage) -> None:
    session = stage.adopt("looked-at", WHICH)
    waits = escalate(stage, session)
    stage.human(session)
    done = stage.maestro("answer", waits, "2", "--timeout", "0.5")
    assert done.returncode == TimedOut.exit_code, done
    assert "It is still queued." in done.stderr
    stage.send_everybody_home()
    stage.until_said(session, "Got: South")


def test_without_waiting(stage: Stage) -> None:
    session = stage.spawn("later", WHICH)
    waits = escalate(stage, session)
    assert stage.maestro("answer", waits, "2", "--no-wait").returncode == 0
    stage.until_said(session, "Got: South")


@pytest.mark.more
def test_uncertain_has_a_code_of_its_own(stage: Stage) -> None:
    session = stage.adopt("deaf", WHICH, keeper=True)
    waits = escalate(stage, session)
    with stage.frozen(session):
        done = stage.maestro("answer", waits, "2", "--timeout", str(patience(60)), timeout=90)
        assert (done.returncode, "nothing proves" in done.stderr) == (Uncertain.exit_code, True), done
    assert len(stage.prompts(session)) == 1, "it is never typed twice"


def test_no_rule_is_offered_for_what_the_gate_stops(stage: Stage) -> None:
    step = ask("Should I run `git push origin main` now?", "Yes, run it", "No")
    for name in ("push one", "push two", "push three"):
        waits = escalate(stage, stage.spawn(name, step))
        done = stage.maestro("answer", waits, "1")
        assert (done.returncode, "rule" in done.stdout) == (0, False), (
            "it would come to the human all the same"
        )


def test_three_equal_answers_offer_a_rule(stage: Stage) -> None:
    step = ask("Should the suite run in parallel?", "Yes, in parallel", "No")
    outputs = []
    for name in ("one", "two", "three"):
        waits = escalate(stage, stage.spawn(name, step))
        done = stage.maestro("answer", waits, "1")
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert [len(out.splitlines()) for out in outputs[:2]] == [1, 1], "nothing is offered before"
    assert "You have given this answer 3 times." in outputs[2]
    assert "`rules` in coordinate.config.json (`maestro coordinate init` writes one):" in outputs[2]
    rule = json.loads(outputs[2].splitlines()[-1])
    [read] = parse_policy(json.dumps({"rules": [rule]}), "the offer").rules
    assert isinstance(read, AnswerRule)
    assert read.answer == "Yes, in parallel"
    # As a rule it answers the next one, and the human is not asked.
    fourth = stage.spawn("four", step)
    policy = POLICY | {"rules": [rule]}
    body = {"sessionId": fourth, "coordinator": "tests", "policy": policy}
    found = until(lambda: stage.maestro.daemon.call("POST", "/api/coordinate/case", body)["case"])
    case = msgspec.convert(found, Case)
    said = asyncio.run(Rules().assess(case, parse_policy(json.dumps(policy), "the policy")))
    ruled = decide(stage, fourth, policy=policy, assessment=msgspec.to_builtins(said))
    assert (ruled["outcome"], ruled["verdict"]["by"]) == ("answer", "rules")
    stage.until_said(fourth, "Got: Yes, in parallel")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "There is no answer."),
        (("2", "--text", "x"), "There is more than one answer."),
        (("2", "--dismiss"), "There is more than one answer."),
        (("--option", "two"), "“two” is no option."),
        (("--option", ""), "“” is no option."),
    ],
)
def test_one_answer_and_no_more(maestro: Maestro, words: tuple[str, ...], told: str) -> None:
    done = maestro("answer", "esca_1", *words)
    assert done.returncode == InvalidInput.exit_code
    assert told in done.stderr


def test_nothing_of_that_name(maestro: Maestro) -> None:
    done = maestro("answer", "nobody", "yes")
    assert done.returncode == NotFound.exit_code
    assert "maestro inbox" in done.stderr
