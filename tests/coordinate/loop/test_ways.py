"""The ways to run `maestro coordinate`: once, in shadow, by mode, without a brain; how it ends, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.coordinate.loop.overseen import Overseen, asks
from tests.fleet.typing.stage import Stage
from tests.patience import end_of, until
from tests.support import Maestro

from maestro.errors import Conflict, InvalidInput

pytestmark = pytest.mark.more  # make test-more

COLOUR = asks("Which colour?", "Red", "Blue")
RULE = {"pattern": "which colour.*", "answer": "Choose 2"}


def asking(stage: Stage, name: str, *steps: dict[str, Any]) -> str:
    session = stage.spawn(name, *(steps or (COLOUR,)))
    until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    return session


def test_once_is_one_engagement(stage: Stage, overseen: Overseen) -> None:
    first, second = asking(stage, "first"), asking(stage, "second")
    for answered in (1, 2):
        done = overseen.once(of="first,second", rules=[RULE])
        made = overseen.done(first) + overseen.done(second)
        assert made.count(("verdict", "answer", "rules")) == answered
        assert "debrief" not in done.stdout
    for session in (first, second):
        stage.until_said(session, "It is Blue.")


def test_in_shadow_nothing_is_typed_and_the_humans_answer_is_compared(
    stage: Stage, overseen: Overseen
) -> None:
    # A question of its own: what a human answers here stands as a precedent for the next of its words.
    shade = asks("Which shade?", "Light", "Dark")
    agreed, other = asking(stage, "agreed", shade), asking(stage, "other", shade)
    before = stage.maestro.json("coordinate", "stats")
    for name in ("agreed", "other"):
        done = overseen.once("--shadow", of=name, rules=[{"pattern": "which shade.*", "answer": "Choose 2"}])
        assert "in shadow: nothing is typed" in done.stdout
        assert f"{name}: would have answered" in done.stdout
    for session, answer in ((agreed, "Choose 2"), (other, "Choose 1")):
        [made] = overseen.decided(session)
        assert (made["action"], made["shadow"], made["promptId"]) == ("answer", True, None)
        assert stage.prompts(session) == overseen.inbox(session) == []
        assert stage.sent(session, answer)["state"] == "submitted"
    after = stage.maestro.json("coordinate", "stats")
    assert after["shadow"] - before["shadow"] == 2
    assert after["agreement"]["compared"] - before["agreement"]["compared"] == 2
    assert after["agreement"]["agreed"] - before["agreement"]["agreed"] == 1


def test_without_a_brain_everything_is_the_humans(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "brainless")
    told = overseen.once("--brain", "none", of="brainless", rules=[RULE]).stdout
    assert "Oversight by none" in told
    assert overseen.done(session) == [("verdict", "escalate", "none")]
    [waits] = overseen.inbox(session)
    assert "There is no brain." in waits["reason"]
    assert stage.prompts(session) == []


def test_when_all_are_done_there_is_a_debrief(stage: Stage, overseen: Overseen) -> None:
    task = stage.maestro.json("task", "create", "Paint the *door*")["id"]
    report = {"run": ["maestro", "task", "report", "complete", task, "It is blue"]}
    end = {"run": ["maestro", "session", "report", "complete", "Painted"]}
    steps = (asks("Which colour?", "Red", "Blue", answers={"*": [report, end, {"say": "It is done."}]}),)
    session = overseen.spawn_for(task, "painter", *steps)
    until(lambda: stage.explain(session)["question"])
    waiting = asking(stage, "waiting", asks("Which size?", "S", "L"))
    overseen.once(of="waiting")
    done = stage.maestro(*overseen.command(of="painter", rules=[RULE], timeouts={"waitTimeout": 30}))
    assert done.returncode == 0, done.stderr
    path = overseen.folder("painter") / "DEBRIEF.md"
    assert f"All workers are done. The debrief is in {path}." in done.stdout
    text = path.read_text()
    assert "all done." in text
    assert r"- Paint the \*door\*: completed. It is blue" in text
    assert "- painter (scripted): completed" in text
    assert "painter: answer by rules: Choose 2 (The rule number 1 matches.)" in text
    [waits] = overseen.inbox(waiting)
    assert f"- waiting: Which size? (`maestro answer {waits['id']}`)" in text
    assert "Decided: 1; answered without you: 1 (100%)" in text


def test_nothing_happens_for_too_long(stage: Stage, overseen: Overseen) -> None:
    stage.spawn("idler", {"say": "I work."}, {"work": 600})
    told = stage.place / "told.json"
    script = stage.place / "notice.py"
    script.write_text(f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read() + chr(10))")
    timeouts = {"waitTimeout": 1, "consecutiveTimeoutLimit": 2, "idleHeartbeatInterval": 1}
    notify = {"desktop": False, "command": [sys.executable, str(script)]}
    words = overseen.command(of="idler", timeouts=timeouts, notify=notify)
    done = stage.maestro(*words, "--json")
    ended = json.loads(done.stdout)
    assert (ended["ended"], Path(ended["debrief"]).name) == ("idle", "DEBRIEF.md")
    log = overseen.log("idler")
    assert log.count("## Idle Heartbeat") == 2
    assert "- **Worker count**: 1\n- **Statuses**: 1 working" in log
    [notice] = map(json.loads, told.read_text().splitlines())
    assert (notice["kind"], notice["sessionName"]) == ("idle", "the fleet")
    assert "2 waits in a row were in vain." in notice["reason"]


def test_the_human_is_told_of_an_escalation_once(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "notified", asks("Which size?", "S", "L"))
    told = stage.place / "escalated.json"
    script = stage.place / "escalated.py"
    script.write_text(f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read() + chr(10))")
    notify = {"desktop": False, "command": [sys.executable, str(script)]}
    for _ in range(3):
        overseen.once(of="notified", notify=notify)
    [waits] = overseen.inbox(session)
    mine = [one for one in map(json.loads, told.read_text().splitlines()) if one["id"] == waits["id"]]
    assert [(one["kind"], one["text"]) for one in mine] == [("question", "Which size?")]


def test_where_the_human_looks_nothing_is_idle(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "looked-at")
    human = stage.human(session)
    timeouts = {"waitTimeout": 1, "consecutiveTimeoutLimit": 1, "idleHeartbeatInterval": 1}
    config = overseen.policy(rules=[RULE], timeouts=timeouts)
    running = stage.maestro.start(*overseen.command(of="looked-at", config=config))
    # It would have ended after one idle wait; it goes on, and answers when the human is gone.
    assert running.stdout is not None
    until(lambda: overseen.folder("looked-at").exists())
    probe = stage.maestro(
        "fleet", "coordinate-wait", "--as", "probe", "--managed", "looked-at", "--timeout", "2"
    )
    assert probe.stdout.startswith("FOCUSED"), (probe.stdout, probe.stderr)
    assert running.poll() is None
    assert overseen.done(session) == []
    human.leave()
    stage.until_said(session, "It is Blue.")
    running.terminate()
    end_of(running)


def test_two_of_one_name_are_refused(stage: Stage, overseen: Overseen) -> None:
    stage.spawn("busy", {"say": "I work."}, {"work": 600})
    words = overseen.command(of="busy", timeouts={"waitTimeout": 60})
    first = stage.maestro.start(*words)
    assert first.stdout is not None
    assert first.stdout.readline().startswith("Oversight by rules")
    second = stage.maestro(*words, "--once")
    assert second.returncode == Conflict.exit_code, second.stderr
    assert "An oversight named “busy” runs in this project already." in second.stderr
    assert "--as NAME" in second.stderr
    first.terminate()
    end_of(first)
    overseen.once(of="busy")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ('{\n  "confidenceThreshold": 7\n}', ":2:26", "confidenceThreshold"),
        ('{"timeouts": {"waitTimeuot": 5}}', ":1:15", "waitTimeuot"),
        ("{", ":1:", "JSON"),
    ],
)
def test_an_invalid_policy_is_refused_with_its_place(
    stage: Stage, overseen: Overseen, text: str, where: str, words: str
) -> None:
    config = stage.place / "wrong.json"
    config.write_text(text)
    done = stage.maestro("coordinate", "--once", "--config", str(config), "--as", "refused")
    assert done.returncode == InvalidInput.exit_code
    assert f"{config}{where}" in done.stderr
    assert words in done.stderr
    assert not overseen.folder("refused").exists(), "nothing was begun"


def test_without_a_policy_the_defaults_are_offered(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "unruled")
    words = ("coordinate", "--once", "--managed", "unruled", "--as", "unruled")
    done = stage.maestro(*words, timeout=400)
    assert done.returncode == 0, done.stderr
    assert "no coordinate.config.json was found" in done.stdout
    assert "`maestro coordinate init` writes one" in done.stdout
    assert overseen.done(session) == [("verdict", "escalate", "rules")]
    assert stage.maestro("coordinate", "init").returncode == 0
    path = stage.maestro.cwd / "coordinate.config.json"
    try:
        asking(stage, "ruled")
        again = stage.maestro("coordinate", "--once", "--managed", "ruled", "--as", "ruled")
        assert str(path) in again.stdout, again.stderr
    finally:
        path.unlink()


def test_without_a_fleet_there_is_nothing_to_oversee(maestro: Maestro, project: dict[str, Any]) -> None:
    done = maestro("coordinate", "--once")
    assert done.returncode != 0
    assert "fleet" in done.stderr
    assert not (maestro.cwd / ".maestro" / "coordinate").exists()
