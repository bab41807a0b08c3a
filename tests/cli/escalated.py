"""Workers whose questions wait for the human."""

from __future__ import annotations

from typing import Any

from tests.fleet.typing.stage import Stage
from tests.patience import until

# Nothing is probed, and what was answered before does not count: every question reaches the human.
POLICY = {"preEscalation": {"enabled": False}, "precedents": {"enabled": False}}
SAY = {"*": [{"say": "Got: ${answer}"}]}


def ask(question: str, *options: Any, **named: Any) -> dict[str, Any]:
    return {
        "ask": {"question": question, "header": "Head", "options": list(options), "answers": SAY, **named}
    }


def may(command: str) -> dict[str, Any]:
    answers = {"yes": [{"say": "Got: yes"}], "no": [{"say": "Got: no"}], "*": [{"say": "Got: other"}]}
    return {"permission": {"command": command, "description": "It is needed", "answers": answers}}


def decide(
    stage: Stage, session: str, *, answer: str = "", confidence: float = 0.4, unlike: str = "", **body: Any
) -> dict[str, Any]:
    """What is decided about what a session asks now, or asks after the question `unlike`."""
    assessment = {
        "brain": "claude",
        "answer": answer,
        "confidence": confidence,
        "canBeUndone": True,
        "reasoning": "Hard to say.",
    }

    def attempt() -> dict[str, Any] | None:
        asked = stage.explain(session)["question"]
        if not asked or asked["id"] == unlike:
            return None
        if asked["kind"] == "permission" and not asked["asked"].get("options"):
            # Only its hook told of it yet: what can be chosen stands on the screen, and is a change of what is asked.
            return None
        request = {
            "sessionId": session,
            "coordinator": "tests",
            "questionId": asked["id"],
            "version": asked["version"],
            "policy": POLICY,
            "assessment": assessment,
        }
        done = stage.maestro.daemon.call("POST", "/api/coordinate/decide", request | body, timeout=60)
        # More may be seen of it in between: then it is decided as it is now.
        return None if done["outcome"] == "stale" else {**done, "questionId": asked["id"]}

    found: dict[str, Any] = until(attempt, lambda: stage.screen(session))
    return found


def escalate(stage: Stage, session: str, **named: Any) -> str:
    """The id of the escalation of what a session asks."""
    done = decide(stage, session, **named)
    assert done["outcome"] == "escalate", done
    return str(done["escalationId"])
