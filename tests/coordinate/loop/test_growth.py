"""A loop that runs for days: nothing that it keeps grows, whatever it meets."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from maestro.agents.questions import Option, Question
from maestro.coordinate import ALLOWED, Assessment, Case, NotifySettings, Policy, StuckSettings, Timeouts
from maestro.coordinate.brains import Metered
from maestro.coordinate.brains.rules import Rules
from maestro.coordinate.gate.folding import fold_text
from maestro.coordinate.log import CoordinateLog
from maestro.coordinate.loop import Loop, Reason
from maestro.coordinate.notices import Notices

WORKERS = 50
STEPS = 300
STATUS = "STATUS total=50 working=49 unchecked=1 error=0 done=0 checked=0 focused=0"


class Days:
    """The daemon as a loop meets it day after day: questions answered and escalated, errors, idle waits, each with words
    of its own. What it holds itself is one decision and one escalation."""

    def __init__(self) -> None:
        self.step = 0
        self._decision: dict[str, Any] | None = None
        self._waits: dict[str, Any] | None = None
        self.attended = 0
        self.notified_of: str = ""

    def wait(self, seconds: float, *, handled: bool) -> dict[str, Any]:  # noqa: ARG002 - the port's
        self.step += 1
        if self.step % 5 == 0:
            return {"capture": None, "status": STATUS, "firstLine": "TIMEOUT"}
        kind = ("unchecked", "error", "done")[self.step % 3]
        capture = {
            "sessionId": f"sess_{self.step % WORKERS}",
            "paneLabel": f"worker {self.step % WORKERS}",
            "notifyState": kind,
            "content": "x" * 10_000,
        }
        return {"capture": capture, "status": STATUS, "firstLine": "%1|unchecked|worker|0.0"}

    def let_go(self, *, handled: bool) -> None:
        """It is never told to end here."""

    def consider(self, session_id: str) -> dict[str, Any]:
        asked = Question("choice", f"Which one of {self.step}?" + "y" * 1000, (Option("A"), Option("B")))
        name = f"ques_{self.step}"
        case = Case(session_id, "w", "claude", name, 1, asked, ALLOWED, digest=("z" * 4000,))
        return {"case": msgspec.to_builtins(case), "verdict": None}

    def decide(self, case: Case, assessment: Assessment | None) -> dict[str, Any]:
        assert assessment is not None
        self._decision = {
            "id": f"deci_{self.step:026}",
            "seq": self.step,
            "at": 1_800_000_000_000 + self.step,
            "kind": "verdict",
            "sessionId": case.session_id,
            "questionId": case.question_id,
            "action": "answer" if assessment.answer else "escalate",
            "by": assessment.brain,
            "text": assessment.answer,
            "confidence": assessment.confidence,
            "categories": [],
            "reasons": [assessment.reasoning],
            "shadow": False,
            "promptId": None,
        }
        if not assessment.answer:
            self._waits = {
                "id": f"esca_{self.step}",
                "news": 0,
                "kind": "question",
                "notifiedAt": None,
                "text": "?",
            }
        return {"outcome": self._decision["action"], "reason": ""}

    def attend(self, session_ids: Sequence[str] | None = None) -> list[dict[str, Any]]:  # noqa: ARG002 - the port's
        self.attended += 1
        return []

    def last_decision(self) -> int:
        return 0

    def sequence_of(self, decision_id: str) -> int:
        return int(decision_id.removeprefix("deci_"))

    def decisions(self, since: int) -> list[dict[str, Any]]:
        made = self._decision
        return [made] if made is not None and made["seq"] > since else []

    def question(self, decision: Mapping[str, Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the port's
        return None

    def session_name(self, session_id: str) -> str:
        return session_id

    def inbox(self) -> list[dict[str, Any]]:
        return [self._waits] if self._waits is not None else []

    def fleet_runs(self) -> bool:
        return True

    def notified(self, escalation_id: str) -> None:
        self._waits = None
        self.notified_of = escalation_id


def test_nothing_grows(place: Path) -> None:
    days, said = Days(), 0

    def say(line: str) -> None:
        nonlocal said
        said += 1

    policy = msgspec.convert(
        {"rules": [{"pattern": r"which one of \d*[02468].*", "answer": "Choose 1"}]}, Policy
    )
    policy = msgspec.structs.replace(
        policy,
        timeouts=Timeouts(wait_timeout=1, consecutive_timeout_limit=10**6, idle_heartbeat_interval=1),
        stuck=StuckSettings(intervene_after=1),
        notify=NotifySettings(desktop=False),
    )
    seconds = 0.0

    def clock() -> float:
        nonlocal seconds
        seconds += 1.0
        return seconds

    loop = Loop(
        days,
        policy,
        Metered(Rules(), 10),
        CoordinateLog(str(place / "COORDINATE_LOG.md")),
        Notices(policy.notify, {}),
        say=say,
        clock=clock,
        now=lambda: 1_800_000_000_000,
    )

    def steps(number: int) -> None:
        for _ in range(number):
            ended: Reason | None = loop.step()
            assert ended is None
        fold_text.cache_clear()  # it holds so many texts and no more
        gc.collect()

    steps(STEPS)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        steps(STEPS)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # Ids of what the human was told of, of which so many are kept; a question of each step would be ten times as much.
    assert grown < STEPS * 200, f"{grown} bytes in {STEPS} steps"
    assert days.step >= 2 * STEPS
    assert said > STEPS
    assert days.attended > STEPS
    assert days.notified_of
    text = (place / "COORDINATE_LOG.md").read_text()
    assert text.count("## Autonomous Decision") > STEPS / 10
    assert text.count("## Escalation to Human") > STEPS / 10
    assert text.count("## Idle Heartbeat") > STEPS / 10
