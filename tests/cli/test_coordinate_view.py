"""`maestro coordinate why|stats|audit|init|check|replay`."""

from __future__ import annotations

import json
import pty
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.cli.escalated import ask, decide, escalate
from tests.fleet.typing.stage import Stage
from tests.patience import run
from tests.support import BIN, Maestro

from maestro.cli.coordinate_view import stats_lines, why_lines
from maestro.coordinate.policy.config import PRESETS, parse_policy
from maestro.errors import Conflict, InvalidInput, LedgerError, NotFound

pytestmark = pytest.mark.more  # make test-more

WHICH = ask("Which way?", {"label": "North", "description": "where it is cold"}, "South")
DANGEROUS = {
    "id": "d-1",
    "kind": "permission",
    "question": "May I run this?",
    "detail": "git push --force origin main",
    "tool": "Bash",
    "options": ["Yes", "No"],
    "proposed": "Choose 1",
}
HARMLESS = {
    "id": "h-1",
    "kind": "choice",
    "question": "Which name reads better for the helper?",
    "options": ["parse_line", "read_line"],
    "proposed": "Choose 1",
}


@pytest.fixture(scope="module")
def at_first(theatre: Stage) -> dict[str, str]:
    """What is said while nothing was decided: asked before the first test has the stage."""
    return {verb: theatre.maestro("coordinate", verb).stdout for verb in ("stats", "replay")}


@pytest.fixture
def stage(at_first: dict[str, str], stage: Stage) -> Stage:
    return stage


# why


def test_the_story_of_an_escalation(stage: Stage) -> None:
    session = stage.spawn("Storied", WHICH)
    waits = escalate(stage, session, answer="Choose 2")
    open_story = stage.maestro("coordinate", "why", waits).stdout
    assert f"{waits} waits for you: maestro answer {waits}" in open_story
    prompt = stage.maestro.json("answer", waits, "1")["prompt"]["id"]
    told = stage.maestro.json("coordinate", "why", waits)
    assert [one["kind"] for one in told["story"]] == ["verdict", "resolution", "receipt"]
    shown = stage.maestro("coordinate", "why", waits).stdout
    for line in (
        f"{told['decision']['id']}  Storied ({session})",
        "Which way?",
        "  1  North — where it is cold",
        "verdict: escalate by claude; confidence 0.40",
        'would answer "Choose 2"',
        "Hard to say.",
        "resolution: answer by human",
        'text "Choose 1"',
        "receipt: submitted by human",
        "chain         whole",
    ):
        assert line in shown, line
    order = [shown.index(word) for word in ("verdict:", "resolution:", "receipt:", "inbox", "chain")]
    assert order == sorted(order)
    # Whatever of it is named, the same story is told.
    for word in (told["decision"]["id"], told["decision"]["questionId"], prompt, session, "Storied"):
        same = stage.maestro.json("coordinate", "why", word)
        assert [one["id"] for one in same["story"]] == [one["id"] for one in told["story"]], word


def test_the_story_of_an_answer(stage: Stage) -> None:
    session = stage.spawn("Sure", WHICH)
    done = decide(stage, session, answer="Choose 2", confidence=0.9)
    assert done["outcome"] == "answer"
    stage.until_said(session, "Got: South")
    shown = stage.maestro("coordinate", "why", done["decisionId"]).stdout
    assert "verdict: answer by claude; confidence 0.90" in shown
    assert "receipt: submitted by claude" in shown
    assert "typed         submitted: " in shown


def test_nothing_was_decided_about_it(stage: Stage) -> None:
    done = stage.maestro("coordinate", "why", "nobody")
    assert done.returncode == NotFound.exit_code
    assert "Nothing was decided about “nobody”." in done.stderr


def test_a_story_with_findings_and_a_broken_chain() -> None:
    decision = {
        "id": "deci_1", "kind": "attention", "action": "escalate", "by": "policy", "at": 0, "text": "",
        "confidence": 0.0, "categories": [], "reasons": ["It is\x1b[31m silent."], "shadow": True,
        "spent": {"calls": 2, "tokens": 1500, "costUsd": 0.25},
    }  # fmt: skip
    finding = {"category": "git operations", "where": "question", "evidence": "push", "why": "It pushes."}
    shown = "\n".join(
        why_lines(
            {
                "decision": decision,
                "session": {"id": "sess_1", "name": "Quiet"},
                "question": None,
                "story": [decision],
                "findings": [finding],
                "prompt": None,
                "escalation": None,
                "chain": "broken at deci_0",
            }
        )
    )
    assert "attention: escalate by policy; in shadow: not carried out" in shown
    assert "2 calls, 1,500 tokens, $0.25" in shown
    assert "git operations, in the question: “push”. It pushes." in shown
    assert shown.endswith("chain         broken at deci_0")
    assert "\x1b" not in shown


# stats, audit


def test_stats_agree_with_what_was_done(at_first: dict[str, str], stage: Stage) -> None:
    assert at_first["stats"].startswith("Nothing was decided yet.")
    before = stage.maestro.json("coordinate", "stats")
    waits = escalate(stage, stage.spawn("Counted", WHICH), answer="Choose 2")
    stage.maestro("answer", waits, "2", "--no-remember")
    decide(stage, stage.spawn("Counted too", WHICH), answer="Choose 1", confidence=0.9)
    after = stage.maestro.json("coordinate", "stats")
    grown = {
        name: after[name] - before[name] for name in ("decided", "answered", "escalated", "humanAnswers")
    }
    assert grown == {"decided": 2, "answered": 1, "escalated": 1, "humanAnswers": 1}
    assert after["agreement"]["agreed"] == before["agreement"]["agreed"] + 1
    shown = stage.maestro("coordinate", "stats", "--since", "1").stdout
    assert re.search(rf"^decided +{after['decided']}$", shown, re.MULTILINE)
    assert re.search(rf"^without you +{after['answered']} of {after['decided']} \(", shown, re.MULTILINE)
    assert re.search(r"^  claude: \d+ answered, \d+ escalated$", shown, re.MULTILINE)


def test_long_waits_are_told_in_fitting_units() -> None:
    waiting = {"count": 3, "median": 90_000, "p90": 3 * 3_600_000}
    told: dict[str, Any] = {
        "decided": 3, "answered": 3, "escalated": 0, "probed": 0, "shadow": 0, "humanAnswers": 0, "helped": 0,
        "agreement": {"compared": 0, "agreed": 0}, "uncertainReceipts": 0, "failedReceipts": 0, "byDecider": {},
        "byCategory": {"git operations": {"answered": 0, "escalated": 2, "probed": 0}}, "engineWaiting": waiting,
        "humanWaiting": {"count": 0}, "spent": {"calls": 0, "tokens": 0, "costUsd": 0.0},
    }  # fmt: skip
    lines = stats_lines(told)
    assert "time to answer  engine 2 min (9 of 10 within 3.0 h); you none" in lines
    assert "  git operations: 2 escalated" in lines
    assert "you agree       nothing to compare" in lines


def test_a_changed_link_shows(stage: Stage) -> None:
    decide(stage, stage.spawn("Linked", WHICH), answer="Choose 1", confidence=0.9)
    whole = stage.maestro("coordinate", "audit")
    assert whole.returncode == 0
    assert re.fullmatch(r"The chain is whole: \d+ decisions, none changed or taken out\.\n", whole.stdout)
    assert stage.maestro.json("coordinate", "audit")["brokenAt"] is None
    stage.maestro("server", "stop")
    with sqlite3.connect(stage.maestro.home.database) as connection:
        [(broken, text)] = connection.execute("select id, text from decisions where seq = 1").fetchall()
        connection.execute("update decisions set text = 'Choose 9' where id = ?", [broken])
    connection.close()
    found = stage.maestro("coordinate", "audit")
    assert (found.returncode, broken in found.stderr) == (LedgerError.exit_code, True)
    as_json = stage.maestro("coordinate", "audit", "--json")
    assert (as_json.returncode, json.loads(as_json.stdout)["brokenAt"]) == (LedgerError.exit_code, broken)
    assert f"chain         broken at {broken}" in stage.maestro("coordinate", "why", broken).stdout
    stage.maestro("server", "stop")
    with sqlite3.connect(stage.maestro.home.database) as connection:
        connection.execute("update decisions set text = ? where id = ?", [text, broken])
    connection.close()
    assert stage.maestro("coordinate", "audit").returncode == 0


# init


def test_a_policy_to_start_from(maestro: Maestro) -> None:
    path = maestro.cwd / "coordinate.config.json"
    done = maestro("coordinate", "init", "--mode", "cautious")
    assert (done.returncode, str(path) in done.stdout) == (0, True)
    assert parse_policy(path.read_bytes(), "it") == PRESETS["cautious"]
    again = maestro("coordinate", "init")
    assert again.returncode == Conflict.exit_code
    assert parse_policy(path.read_bytes(), "it") == PRESETS["cautious"], "nothing is written over"
    assert maestro.json("coordinate", "init", "--user")["path"] == maestro.home.path("coordinate.config.json")
    assert maestro("coordinate", "init", "--user", "--project").returncode == InvalidInput.exit_code
    below = maestro.cwd / "deep"
    below.mkdir()
    (maestro.cwd / ".maestro").mkdir()
    assert maestro("coordinate", "init", cwd=below).returncode == Conflict.exit_code, "it is the project's"


# check


def lines(*records: Any) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records)


def test_what_the_gate_says_needs_no_daemon(maestro: Maestro) -> None:
    done = maestro("coordinate", "check", "--json", input=lines(DANGEROUS, HARMLESS))
    assert done.returncode == 0, done.stderr
    danger, harmless = map(json.loads, done.stdout.splitlines())
    assert (danger["id"], danger["verdict"]) == ("d-1", "escalate")
    assert "git operations" in danger["categories"]
    assert danger["reasons"]
    assert harmless == {
        "id": "h-1",
        "verdict": "allow",
        "readOnly": False,
        "reasons": [],
        "categories": [],
        "labels": [],
    }
    shown = maestro("coordinate", "check", "-", input=lines(DANGEROUS, HARMLESS)).stdout
    assert re.search(r"^escalate +d-1  May I run this\?$", shown, re.MULTILINE)
    assert shown.endswith("2 checked: 1 allowed, 1 for the human.\n")
    assert not Path(maestro.home.socket).exists()


def test_a_file_with_blank_lines_and_a_byte_order_mark(maestro: Maestro) -> None:
    path = maestro.cwd / "questions.jsonl"
    text = (
        "\ufeff"
        + lines(HARMLESS, "", "   ", HARMLESS | {"id": None})
        + json.dumps({k: v for k, v in HARMLESS.items() if k != "id"})
    )
    path.write_text(text, encoding="utf-8")
    done = maestro("coordinate", "check", str(path), "--json")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("id", "none") for one in told] == ["h-1", None, "none"]
    assert maestro("coordinate", "check", "no.jsonl").returncode == NotFound.exit_code


def test_a_bad_line_is_named_and_the_others_are_checked(maestro: Maestro) -> None:
    bad = lines(HARMLESS, "{", "", [1], {"id": 7, "kind": 3, "question": "x"}, "[" * 100_000, DANGEROUS)
    done = maestro("coordinate", "check", "--json", input=bad)
    assert done.returncode == InvalidInput.exit_code
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("line") for one in told] == [None, 2, 4, 5, 6, None]
    assert (told[0]["verdict"], told[-1]["verdict"]) == ("allow", "escalate")
    assert {one["verdict"] for one in told[1:]} == {"escalate"}, "what cannot be read may not pass"
    assert "kind" in told[3]["error"]
    assert told[3]["id"] == 7
    assert "4 of 6 lines could not be checked: lines 2, 4, 5, 6." in done.stderr
    plain = maestro("coordinate", "check", input=bad)
    assert plain.returncode == InvalidInput.exit_code
    assert "line 2: It is not JSON" in plain.stderr
    assert "line 4: It is no JSON object." in plain.stderr
    assert re.search(r"^allow +h-1", plain.stdout, re.MULTILINE)


def test_strange_records_are_answered_too(maestro: Maestro) -> None:
    nested: dict[str, Any] = {"question": "x"}
    for _ in range(400):
        nested = {"kind": "several", "parts": [nested]}
    half = '{"id": "\\ud800", "kind": "free_text", "question": "\\ud83d?"}'
    done = maestro("coordinate", "check", "--json", input=lines(half, nested, HARMLESS))
    assert "Traceback" not in done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(told), told[0]["id"], told[2]["verdict"]] == [3, "\ud800", "allow"]
    plain = maestro("coordinate", "check", input=lines(half))
    assert (plain.returncode, "Traceback" in plain.stderr) == (0, False)


def test_bytes_that_are_no_text(maestro: Maestro) -> None:
    done = run(
        [BIN / "maestro", "coordinate", "check", "--json"], input=b'{"question": "\xff"}\n',
        env=maestro.env, cwd=maestro.cwd,
    )  # fmt: skip
    assert done.returncode == InvalidInput.exit_code
    told = {"line": 1, "error": "It is not UTF-8.", "verdict": "escalate", "readOnly": False}
    assert json.loads(done.stdout) == told


def test_which_policy_counts(maestro: Maestro) -> None:
    def verdict(*words: str) -> str:
        done = maestro("coordinate", "check", "--json", *words, input=lines(DANGEROUS))
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["verdict"])

    assert verdict() == "escalate", "the default"
    trusting = maestro.cwd / "trusting.json"
    trusting.write_text('{"alwaysEscalate": []}')
    assert verdict("--config", str(trusting)) == "allow"
    assert verdict("--config", str(trusting), "--mode", "autonomous") == "escalate"
    (maestro.cwd / "coordinate.config.json").write_text('{"alwaysEscalate": []}')
    assert verdict() == "allow", "this folder's"
    (maestro.cwd / "coordinate.config.json").write_text('{"alwaysEscalate": 1}')
    broken = maestro("coordinate", "check", input=lines(DANGEROUS))
    assert broken.returncode == InvalidInput.exit_code
    assert "alwaysEscalate" in broken.stderr
    assert (
        maestro("coordinate", "check", "--config", "no.json", input="").returncode == InvalidInput.exit_code
    )


def test_a_terminal_is_no_list_of_questions(maestro: Maestro) -> None:
    master, slave = pty.openpty()
    with open(master, "rb"), open(slave, "rb") as terminal:
        done = maestro("coordinate", "check", stdin=terminal)
    assert done.returncode == InvalidInput.exit_code
    assert "There are no questions to check." in done.stderr


# replay


def test_replay_compares_with_what_was_done(at_first: dict[str, str], stage: Stage) -> None:
    assert "nothing to decide again" in at_first["replay"]
    waits = escalate(stage, stage.spawn("Replayed", ask("Should retries be bounded?", "Yes", "No")))
    stage.maestro("answer", waits, "2", "--no-remember")
    decide(
        stage, stage.spawn("Again", ask("Is the name clear?", "Yes", "No")), answer="Choose 1", confidence=0.9
    )
    before = len(stage.maestro.json("inbox", "--all"))
    config = stage.place / "replay.json"
    rule = {"pattern": ".*retries.*", "answer": "Yes"}
    config.write_text(json.dumps({"rules": [rule], "preEscalation": {"enabled": False}}))
    told = stage.maestro.json("coordinate", "replay", "--config", str(config), "--since", "1")
    [otherwise] = [one for one in told["contradicted"] if one["sessionName"] == "Replayed"]
    assert (otherwise["then"], otherwise["now"], otherwise["by"]) == ("Choose 2", "Yes", "rules")
    assert [one["question"] for one in told["newlyEscalated"] if one["sessionName"] == "Again"] == [
        "Is the name clear?"
    ]
    shown = stage.maestro("coordinate", "replay", "--config", str(config)).stdout
    assert f"{told['total']} questions decided again (custom, rules)" in shown
    assert re.search(r"^You answered otherwise: \d+$", shown, re.MULTILINE)
    assert "“Should retries be bounded?”  then Choose 2, now Yes (rules, confidence 1.00)" in shown
    assert shown.endswith("Cost: nothing; no model was asked\n")
    nobody = stage.maestro.json(
        "coordinate", "replay", "--brain", "none", "--mode", "supervised", "--limit", "1"
    )
    assert (nobody["total"], nobody["answered"]) == (1, 0)
    assert len(stage.maestro.json("inbox", "--all")) == before, "nothing is opened"


def test_replay_types_nothing(stage: Stage) -> None:
    session = stage.spawn("Untouched", WHICH)
    waits = escalate(stage, session)
    config = stage.place / "eager.json"
    config.write_text(json.dumps({"rules": [{"pattern": ".*", "answer": "Choose 1"}]}))
    assert stage.maestro.json("coordinate", "replay", "--config", str(config))["answered"] >= 1
    assert stage.prompts(session) == []
    assert waits in stage.maestro("inbox").stdout
