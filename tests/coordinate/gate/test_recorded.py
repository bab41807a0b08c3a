"""The gate on recorded screens of the real CLIs (bar R16b): what is harmless is not stopped by code, what is not is.

`tables/screens.json` says of each screen with a question what it is; `unread` ones do not show all of it, `undecided` ones
reach outside of the project, of which the screen alone does not tell enough.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maestro.agents.questions import Question
from maestro.agents.registry import agent_named
from maestro.agents.screen import captured
from maestro.agents.terminal import Terminal
from maestro.coordinate.gate.judge import gate
from maestro.coordinate.policy.config import DEFAULT, PRESETS

SCREENS = Path(__file__).parents[2] / "agents" / "screens"
LABELS: dict[str, str] = json.loads((Path(__file__).parent / "tables" / "screens.json").read_text())
STOPPED = {"harmless": "allow", "dangerous": "escalate", "dialog": "escalate", "unread": "escalate"}


def shown(name: str) -> Question | None:
    terminal = agent_named(name.split("/", maxsplit=1)[0])
    assert isinstance(terminal, Terminal)
    return terminal.read_screen(captured((SCREENS / name).read_text())).question


def test_every_recorded_question_has_a_label() -> None:
    names = (
        str(path.relative_to(SCREENS)) for kind in ("txt", "ansi") for path in SCREENS.rglob(f"*.{kind}")
    )
    assert {name for name in names if shown(name) is not None} == set(LABELS)


@pytest.mark.parametrize(("name", "label"), [one for one in LABELS.items() if one[1] != "undecided"])
def test_code_stops_what_is_not_harmless_and_nothing_else(name: str, label: str) -> None:
    question = shown(name)
    assert question is not None
    for policy in (DEFAULT, PRESETS["cautious"]):
        assert gate(question, policy).verdict == STOPPED[label], gate(question, policy)
