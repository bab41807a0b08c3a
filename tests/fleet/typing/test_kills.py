"""`kill -9` of the daemon while prompts and answers are on their way (bar R4).

What was acknowledged is not lost, nothing is typed twice, and what cannot be known is called uncertain.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.fleet.typing.stage import Stage, staged
from tests.patience import Deadline, patience, until
from tests.support import SOAK

from maestro.errors import MaestroError

KILLS = 200 if SOAK else 3
SETTLED = {"submitted", "uncertain", "failed"}


def ask(number: int) -> dict[str, Any]:
    return {
        "ask": {
            "question": f"Question {number}?",
            "header": "Q",
            "options": ["Red", "Blue"],
            "answers": {"*": [{"say": f"Answer {number}: ${{answer}}"}]},
        }
    }


def during_a_kill(stage: Stage, session: str, body: dict[str, Any], delay: float) -> dict[str, Any] | None:
    """The answer to a request during which the daemon was killed; None when it was refused or failed."""
    with ThreadPoolExecutor(1) as pool:
        path = f"/api/sessions/{session}/prompt"
        going = pool.submit(stage.maestro.daemon.call, "POST", path, body, timeout=60)
        time.sleep(delay)
        stage.kill_daemon()
        try:
            told: dict[str, Any] = going.result(patience(120))
        except MaestroError:
            return None
        return told


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_prompts_survive_kills_of_the_daemon() -> None:
    rng = random.Random(20261115)
    with staged() as stage:
        session = stage.spawn("survivor")
        acknowledged: dict[str, str] = {}
        for number in range(KILLS):
            text = f"prompt {number}"
            body = {"message": text, "wait": rng.random() < 0.5, "timeout": 20}
            told = during_a_kill(stage, session, body, rng.uniform(0.0, 0.9))
            if told is not None:
                acknowledged[told["id"]] = text
            _press_what_was_left(stage, session)
        until(lambda: all(one["settledAt"] for one in stage.prompts(session)))
        until(lambda: stage.explain(session)["status"] == "finished")
        heard = stage.heard(session)
        receipts = {one["id"]: one for one in stage.prompts(session)}
        assert len(heard) == len(set(heard)), "typed twice"
        for prompt_id, text in acknowledged.items():
            state = receipts[prompt_id]["state"]
            assert state in {"submitted", "uncertain"}, receipts[prompt_id]
            assert text in heard or state == "uncertain", (text, receipts[prompt_id])
        for one in receipts.values():
            assert one["state"] != "failed" or one["text"] not in heard, one
        # One request at a time, so what arrived has the order in which it was sent.
        assert heard == sorted(heard, key=lambda text: int(text.split()[1]))
        assert len(heard) >= len(acknowledged) // 2


def _press_what_was_left(stage: Stage, session: str) -> None:
    """What the daemon pasted and could not send stands in the box: a person sends it."""
    until(lambda: all(one["settledAt"] for one in stage.prompts(session)), lambda: stage.prompts(session))
    if stage.explain(session)["draft"]:
        stage.in_pane(session, "send-keys", "Enter")
        until(lambda: not stage.explain(session)["draft"])


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_answers_survive_kills_of_the_daemon() -> None:
    rng = random.Random(20261116)
    with staged() as stage:
        session = stage.spawn("asker", *(ask(number) for number in range(KILLS)))
        for number in range(KILLS):
            stage.see(session, f"Question {number}?")
            until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
            choice, label = rng.choice([("Choose 1", "Red"), ("Choose 2", "Blue"), ("my words", "my words")])
            body = {"message": choice, "wait": rng.random() < 0.5, "timeout": 20}
            told = during_a_kill(stage, session, body, rng.uniform(0.0, 0.6))
            until(lambda: all(one["settledAt"] for one in stage.prompts(session)))
            if told is not None:
                told = stage.receipt(session, told["id"])
                assert told["state"] in SETTLED, told
            expected = f"Answer {number}: {label}"
            if told is not None and told["state"] == "submitted":
                until(partial(_is_answered, stage, session, number), str(told))
            elif not _answered(stage, session, number):
                # Not typed, or not whole: a person finishes it.
                stage.in_pane(session, "send-keys", "Escape")
                until(lambda: stage.explain(session)["status"] in {"interrupted", "finished"})
                stage.in_pane(session, "send-keys", "-l", "go on")
                stage.in_pane(session, "send-keys", "Enter")
            elif told is not None:
                assert told["state"] != "failed", (told, stage.said(session))
            said = [text for text in stage.said(session) if text.startswith(f"Answer {number}:")]
            assert said in ([], [expected]), said
        assert len(stage.said(session)) >= KILLS // 2


def _answered(stage: Stage, session: str, number: int) -> bool:
    """Whether the question gets an answer in the next second or so."""
    deadline = Deadline(1.0)
    while not _is_answered(stage, session, number):
        if deadline.passed:
            return False
        time.sleep(0.05)
    return True


def _is_answered(stage: Stage, session: str, number: int) -> bool:
    return any(text.startswith(f"Answer {number}:") for text in stage.said(session))
