"""Cases, as small as a test can say them."""

from __future__ import annotations

import json
from typing import Any

from maestro.agents.questions import Option, Question
from maestro.coordinate import ALLOWED, Case

CHOICE = Question(
    "choice",
    "Which database should we use?",
    (Option("PostgreSQL", "Relational", number=1), Option("SQLite", "Embedded", number=2)),
)
PERMISSION = Question(
    "permission",
    "Do you want to proceed?",
    (Option("Yes", number=1), Option("Yes, and don't ask again", number=2, is_lasting=True), Option("No", number=3)),
    tool="Bash",
    detail="npm test",
)  # fmt: skip
WORDS = Question("free_text", "What shall the file be called?")
ANSWER = {
    "answer": "Choose 2",
    "confidence": 0.9,
    "categories": ["test strategy"],
    "canBeUndone": True,
    "reasoning": "It is small.",
}


def case(asked: Question = CHOICE, **more: Any) -> Case:
    return Case(
        session_id="sess_1",
        session_name="w1",
        agent="claude",
        question_id="q_1",
        version=1,
        asked=asked,
        gate=ALLOWED,
        **more,
    )


def told(**changed: Any) -> str:
    return json.dumps(ANSWER | changed)
