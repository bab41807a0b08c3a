"""A brain at work: a program called `claude` that prints what the real one was recorded to print."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from tests.coordinate.brains.support import told
from tests.coordinate.brains.test_headless import recorded
from tests.coordinate.loop.overseen import Overseen, asks
from tests.fleet.typing.stage import Stage
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

PROBE = "What do you mean?"
UNSURE, SURE = told(confidence=0.4), told(confidence=0.9)
POLICY: dict[str, Any] = {
    "brain": {"kind": "claude"},
    "confidenceThreshold": 0.7,
    "preEscalation": {"probeMessage": PROBE},
    # The brain alone decides here: without a word, the default list would escalate by itself.
    "alwaysEscalate": [],
}


class Thinker:
    """`claude` on PATH: each time it is asked it says the next of these, and the last one for ever."""

    def __init__(self, stage: Stage, *says: str) -> None:
        folder = stage.place / f"bin{len(list(stage.place.glob('bin*')))}"
        folder.mkdir()
        self._asked = folder / "asked"
        self.env = {"PATH": f"{folder}:{stage.maestro.env['PATH']}"}
        (folder / "says.json").write_text(json.dumps([recorded("claude", words) for words in says]))
        program = folder / "claude"
        program.write_text(
            f"#!{sys.executable}\n"
            "import json, sys\n"
            f"folder = {str(folder)!r}\n"
            "asked = open(folder + '/asked', 'a+')\n"
            "asked.seek(0)\n"
            "before = len(asked.readlines())\n"
            "asked.write(json.dumps(sys.stdin.read()) + chr(10))\n"
            "says = json.load(open(folder + '/says.json'))\n"
            "sys.stdout.write(says[min(before, len(says) - 1)])\n"
        )
        program.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        return [json.loads(line) for line in self._asked.read_text().splitlines()]


def vague(question: str) -> dict[str, Any]:
    """It asks, and asked back says more and asks again."""
    again = asks(f"{question} I mean the door.", "Red", "Blue")
    return asks(question, "Red", "Blue", answers={"*": [{"say": "It has to be of wood."}, again]})


def asking(stage: Stage, name: str, *steps: dict[str, Any]) -> str:
    session = stage.spawn(name, *steps)
    until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    return session


def until_asked_again(stage: Stage, session: str) -> None:
    def door() -> bool:
        return "door" in (stage.explain(session)["question"] or {}).get("text", "")

    until(door, lambda: stage.screen(session))


def test_one_that_is_sure_is_believed(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "sure", asks("Which tint?", "Red", "Blue"))
    brain = Thinker(stage, SURE)
    overseen.once(of="sure", env=brain.env, **POLICY)
    stage.until_said(session, "It is Blue.")
    verdict, receipt = overseen.decided(session)
    assert (verdict["by"], verdict["confidence"], verdict["text"]) == ("claude", 0.9, "Choose 2")
    assert (receipt["action"], verdict["spent"]["calls"]) == ("submitted", 1)
    [prompt] = brain.asked
    assert "<question>Which tint?</question>" in prompt


def test_one_that_is_not_sure_asks_back_and_then_answers(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "vague", vague("Which tone?"))
    brain = Thinker(stage, UNSURE, SURE)
    overseen.once(of="vague", env=brain.env, **POLICY)
    until_asked_again(stage, session)
    [probe] = [one for one in overseen.decided(session) if one["kind"] == "verdict"]
    assert (probe["action"], probe["text"], probe["confidence"]) == ("probe", PROBE, 0.4)
    [sent] = stage.prompts(session)
    assert (sent["kind"], sent["text"], sent["state"]) == ("answer", PROBE, "submitted")
    assert overseen.inbox(session) == []
    overseen.once(of="vague", env=brain.env, **POLICY)
    stage.until_said(session, "It has to be of wood.", "It is Blue.")
    assert [action for kind, action, _ in overseen.done(session) if kind == "verdict"] == ["probe", "answer"]
    assert "It has to be of wood." in brain.asked[1], "what the worker said to it is known"
    log = overseen.log("vague")
    assert "## Pre-Escalation Probe" in log
    assert f"- **Probe**: {PROBE}" in log


def test_asked_back_once_only(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "vaguer", vague("Which hue?"))
    brain = Thinker(stage, UNSURE)
    overseen.once(of="vaguer", env=brain.env, **POLICY)
    until_asked_again(stage, session)
    for _ in range(2):
        overseen.once(of="vaguer", env=brain.env, **POLICY)
    verdicts = [action for kind, action, _ in overseen.done(session) if kind == "verdict"]
    assert verdicts == ["probe", "escalate"]
    [waits] = overseen.inbox(session)
    assert (waits["proposed"], waits["confidence"]) == ("Choose 2", 0.4)
    assert "0.40 sure; 0.70 is asked for." in waits["reason"]
    assert [one["text"] for one in stage.prompts(session)] == [PROBE]


@pytest.mark.parametrize(
    ("mode", "threshold", "of_mode", "action"),
    [("cautious", 0.1, "0.85", "escalate"), ("autonomous", 0.95, "0.5", "answer")],
)
def test_a_mode_says_how_sure_one_has_to_be(
    stage: Stage, overseen: Overseen, mode: str, threshold: float, of_mode: str, action: str
) -> None:
    session = asking(stage, mode, asks(f"Which {mode} one?", "Red", "Blue"))
    brain = Thinker(stage, told(confidence=0.6))
    policy = POLICY | {"confidenceThreshold": threshold, "preEscalation": {"enabled": False}}
    done = overseen.once("--mode", mode, of=mode, env=brain.env, **policy)
    assert f"threshold {of_mode}." in done.stdout
    [verdict] = [one for one in overseen.decided(session) if one["kind"] == "verdict"]
    assert (verdict["action"], verdict["confidence"]) == (action, 0.6)


def test_a_question_in_words_is_probed_in_words(stage: Stage, overseen: Overseen) -> None:
    ends, more = "I am through. Shall I go on with the rest?", "The rest are the docs. Shall I write them?"
    session = stage.spawn(
        "wordy", {"say": ends}, {"wait": True}, {"say": more}, {"wait": True}, {"say": "Well."}
    )
    until(lambda: stage.explain(session)["status"] == "asking", lambda: stage.explain(session))
    brain = Thinker(
        stage, told(answer="Yes.", confidence=0.4), told(answer="Yes, write them.", confidence=0.8)
    )
    overseen.once(of="wordy", env=brain.env, **POLICY)
    stage.until_said(session, ends, more)
    until(lambda: stage.explain(session)["status"] == "asking", lambda: stage.explain(session))
    overseen.once(of="wordy", env=brain.env, **POLICY)
    stage.until_said(session, ends, more, "Well.")
    assert stage.heard(session) == [PROBE, "Yes, write them."]


@pytest.mark.parametrize(
    ("says", "why"),
    [("Choose 2, surely.", "JSON"), (told(answer="Choose 9"), "option 9"), (told(confidence=7), "7")],
)
def test_one_that_makes_no_sense_decides_nothing(
    stage: Stage, overseen: Overseen, says: str, why: str
) -> None:
    name = f"nonsense-{len(why)}"
    session = asking(stage, name, asks(f"Which {name}?", "Red", "Blue"))
    overseen.once(of=name, env=Thinker(stage, says).env, **POLICY)
    assert overseen.done(session) == [("verdict", "escalate", "claude")]
    [waits] = overseen.inbox(session)
    assert why in waits["reason"]
    assert stage.prompts(session) == []


def test_one_that_is_not_there_decides_nothing(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "absent", asks("Which absent one?", "Red", "Blue"))
    overseen.once(of="absent", brain={"kind": "gemini"})
    [waits] = overseen.inbox(session)
    assert "gemini is not on PATH." in waits["reason"]
    assert stage.prompts(session) == []


def test_what_it_sees_in_a_category_is_the_humans(stage: Stage, overseen: Overseen) -> None:
    session = asking(stage, "careful", asks("Which careful one?", "Red", "Blue"))
    brain = Thinker(stage, told(confidence=1.0, categories=["spending"]))
    overseen.once(of="careful", env=brain.env, **POLICY | {"alwaysEscalate": ["spending"]})
    [waits] = overseen.inbox(session)
    assert waits["reason"].startswith("It is about spending.")
    assert stage.prompts(session) == []


def test_what_it_spends_counts(stage: Stage, overseen: Overseen) -> None:
    free = {"usage": {"input_tokens": 0, "output_tokens": 0}}
    first, second = asks("Which first one?", "Red", "Blue"), asks("Which second one?", "Red", "Blue")
    session = asking(stage, "thinking", free, first, second)
    brain = Thinker(stage, SURE)
    capped = POLICY | {"budget": {"sessionTokens": 1}}
    overseen.once(of="thinking", env=brain.env, **capped)
    stage.until_said(session, "It is Blue.")
    until(lambda: "second" in (stage.explain(session)["question"] or {}).get("text", ""))
    overseen.once(of="thinking", env=brain.env, **capped)
    kinds = {one["kind"] for one in overseen.inbox(session)}
    assert kinds == {"budget", "question"}
    assert len(brain.asked) == 1, "nobody is asked who may cost nothing any more"
    stats = stage.maestro.json("coordinate", "stats")
    assert stats["spent"]["calls"] >= 1
