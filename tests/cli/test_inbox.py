"""`maestro inbox`: what waits, whole, and as it comes and goes."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from tests.cli.escalated import ask, decide, escalate, may
from tests.fleet.typing.stage import Stage
from tests.patience import told_by, until
from tests.support import Maestro

from maestro.cli import inbox

WHICH = ask("Which way?", {"label": "North", "description": "where it is cold"}, "South")


def masked(text: str) -> str:
    return re.sub(r"_[0-9A-HJKMNP-TV-Z]{26}", "_ID", re.sub(r"\b\d+[smh]\b", "AGE", text))


def test_an_empty_inbox_is_friendly(maestro: Maestro) -> None:
    for words in (("inbox",), ("inbox", "list"), ("inbox", "--all")):
        done = maestro(*words)
        assert (done.returncode, done.stdout) == (0, "Nothing waits for you.\n")
    assert maestro.json("inbox") == []
    missing = maestro("inbox", "show", "nobody")
    assert missing.returncode == 3
    assert "maestro inbox" in missing.stderr


def test_what_waits_in_short_and_whole(stage: Stage) -> None:
    session = stage.spawn("Compass", WHICH)
    waits = escalate(stage, session, answer="Choose 2")
    listed = masked(stage.maestro("inbox").stdout)
    assert (
        "■ esca_ID  AGE  Compass  Which way?\n"
        "    why  0.40 sure; 0.70 is asked for. Hard to say.\n"
        "    would answer  Choose 2 (confidence 0.40)\n"
    ) in listed
    [view] = [one for one in stage.maestro.json("inbox") if one["id"] == waits]
    assert (view["sessionName"], view["question"]["asked"]["kind"]) == ("Compass", "choice")
    shown = stage.maestro("inbox", "show", "Compass").stdout
    assert shown.startswith(f"{waits}  Compass (scripted)")
    assert (
        "Which way?\n  1  North — where it is cold\n  2  South\n  3  Type something  (takes words)\n" in shown
    )
    assert "would answer  Choose 2 (confidence 0.40)" in shown
    assert f"  maestro answer {waits} N\n" in shown
    assert f"  maestro answer {waits} --dismiss" in shown
    assert stage.maestro.json("inbox", "show", waits[-6:])["id"] == waits
    assert stage.maestro.json("inbox", "show", view["questionId"])["id"] == waits


def test_what_lasts_and_what_it_is_for_are_shown(stage: Stage) -> None:
    session = stage.spawn("Builder", may("make release"))
    waits = escalate(stage, session)
    assert "Builder" in stage.maestro("inbox").stdout
    assert "make release" in stage.maestro("inbox").stdout
    shown = stage.maestro("inbox", "show", waits).stdout
    assert re.search(r"^ +2  .*\(lasts: it changes what is asked later\)$", shown, re.MULTILINE)
    assert not re.search(r"^ +1  .*lasts", shown, re.MULTILINE)
    assert "make release" in shown


def test_what_the_gate_found_is_shown_with_its_evidence(stage: Stage) -> None:
    waits = escalate(stage, stage.spawn("Pusher", may("git push --force origin main")))
    shown = stage.maestro("inbox", "show", waits).stdout
    assert re.search(r"^found         git operations, in the .+: “git push.*”\.", shown, re.MULTILINE), shown


def test_with_all_what_is_over_comes_last(stage: Stage) -> None:
    first = escalate(stage, stage.spawn("Earlier", WHICH))
    assert stage.maestro("answer", first, "--dismiss", "no time").returncode == 0
    second = escalate(stage, stage.spawn("Later", WHICH))
    lines = stage.maestro("inbox", "--all").stdout
    assert lines.index(second) < lines.index(first)
    assert "over  dismissed by a human: no time" in lines
    assert first not in stage.maestro("inbox").stdout
    assert "dismissed by a human: no time" in stage.maestro("inbox", "show", first).stdout


class Watcher:
    """`maestro inbox --watch --json`, read line by line."""

    def __init__(self, stage: Stage) -> None:
        self.process = stage.maestro.start("inbox", "--watch", "--json")

    def next(self, escalation_id: str) -> dict[str, Any]:
        """The next line about this one."""
        assert self.process.stdout
        for line in self.process.stdout:
            told: dict[str, Any] = json.loads(line)
            if told["escalation"]["id"] == escalation_id:
                return told
        raise AssertionError(self.process.stderr.read() if self.process.stderr else "")

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, err = told_by(self.process)
        return self.process.returncode, err


def test_watching_tells_what_comes_and_goes(stage: Stage) -> None:
    session = stage.spawn("Watched", WHICH, ask("How fast?", "Slowly", "Quickly"))
    first = escalate(stage, session)
    watcher = Watcher(stage)
    told = watcher.next(first)
    assert (told["event"], told["escalation"]["sessionName"]) == ("open", "Watched")
    again = decide(stage, session, confidence=0.1)
    assert again["outcome"] == "ignore", "the same is told once"
    # The human answers at the terminal: nobody is asked any more.
    question = told["escalation"]["questionId"]
    assert stage.prompt(session, "Choose 1").returncode == 0
    closed = watcher.next(first)
    assert closed["event"] == "closed"
    assert closed["escalation"]["closedBy"]
    second = escalate(stage, session, unlike=question)
    assert watcher.next(second)["event"] == "opened"
    stage.kill_daemon()
    assert stage.maestro("answer", second, "--dismiss").returncode == 0
    assert watcher.next(second)["event"] == "closed", "a killed daemon ends no watch"
    assert watcher.end() == (130, "")


def test_watching_tells_what_changes(stage: Stage) -> None:
    both = [{"question": "Which way?", "header": "Way", "options": ["North", "South"]},
            {"question": "How fast?", "header": "Speed", "options": ["Slowly", "Quickly"]}]  # fmt: skip
    session = stage.adopt("Several", {"ask": {"questions": both, "answers": {"*": []}}})
    waits = escalate(stage, session)
    watcher = Watcher(stage)
    assert watcher.next(waits)["event"] == "open"
    # Somebody leafs through the dialog: more of it is seen.
    version = stage.explain(session)["question"]["version"]
    stage.in_pane(session, "send-keys", "Right")
    stage.see(session, "How fast?")
    stage.in_pane(session, "send-keys", "Right")
    until(lambda: stage.explain(session)["question"]["version"] > version)
    assert escalate(stage, session) == waits, "it is the same escalation"
    told = watcher.next(waits)
    assert (told["event"], told["escalation"]["news"]) == ("changed", 1)
    assert watcher.end() == (130, "")


def test_watching_is_readable(stage: Stage) -> None:
    session = stage.spawn("Readable", WHICH)
    watching = stage.maestro.start("inbox", "--watch")
    assert watching.stdout
    while not watching.stdout.readline().endswith("Watching; Ctrl-C ends it.\n"):
        assert watching.poll() is None
    waits = escalate(stage, session, answer="Choose 2")
    lines = [masked(watching.stdout.readline()) for _ in range(3)]
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d\] new +esca_ID  Readable  Which way\?\n", lines[0])
    assert lines[1].split()[:2] == ["why", "0.40"]
    assert lines[2].strip() == "answer   maestro answer esca_ID N"
    stage.maestro("answer", waits, "--dismiss")
    assert re.search(r"\] over +esca_ID  Readable  dismissed", masked(watching.stdout.readline()))
    watching.send_signal(signal.SIGINT)
    _, err = told_by(watching)
    assert (watching.returncode, err) == (130, "")


# What is shown, without a daemon.


def view(**fields: Any) -> dict[str, Any]:
    return {
        "id": "esca_1",
        "sessionId": "sess_1",
        "sessionName": "Back\x1b[31mend",
        "agent": "claude",
        "location": "maestro:%1",
        "kind": "question",
        "text": "May I?",
        "reason": "It pushes.",
        "categories": ["git operations"],
        "proposed": "",
        "confidence": 0.0,
        "openedAt": 0,
        "closedAt": None,
        "closedBy": "",
        "question": None,
        "findings": [],
    } | fields


def asked(**fields: Any) -> dict[str, Any]:
    return {"asked": {"kind": "choice", "text": "May I?"} | fields}


def test_findings_show_their_evidence() -> None:
    finding = {"category": "git operations", "where": "option 2", "evidence": "git push", "why": "It pushes."}
    shown = "\n".join(inbox.sheet(view(findings=[finding], question=asked(preamble="I am done.\nNow:"))))
    assert "found         git operations, in the option 2: “git push”. It pushes." in shown
    assert "I am done.\nNow:\n\nMay I?" in shown
    assert "why           git operations: It pushes." in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("question", "commands"),
    [
        (None, ["maestro answer esca_1 'your words'"]),
        (asked(options=[{"label": "a"}]), ["maestro answer esca_1 N"]),
        (
            asked(kind="multi_choice", options=[{"label": "a"}]),
            ["maestro answer esca_1 N   or 1,3 for several"],
        ),
        (
            asked(options=[{"label": "a"}, {"label": "b", "isFreeText": True}]),
            ["maestro answer esca_1 N", "maestro answer esca_1 --text 'your own words'"],
        ),
        (
            asked(kind="several", parts=[{"text": "x"}, {"text": "y"}]),
            ["maestro answer esca_1 'Choose 1; …'   one answer for each question, in their order"],
        ),
    ],
)
def test_how_to_answer(question: Any, commands: list[str]) -> None:
    told = inbox.how_to_answer(view(question=question))
    assert told == [*commands, "maestro answer esca_1 --dismiss   leaves it as it is"]


def test_several_questions_are_shown_each_with_its_options() -> None:
    parts = [{"text": "Which way?", "options": [{"label": "North"}]}, {"text": "", "options": []}]
    shown = inbox.sheet(view(question=asked(kind="several", text="Which way?", parts=parts)))
    assert shown[2:7] == [
        "Question 1 of 2",
        "  Which way?",
        "    1  North",
        "Question 2 of 2",
        "  (it was not on the screen yet)",
    ]
