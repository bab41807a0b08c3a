"""An answer that the gate let pass is given to what the gate has read, and to nothing that became known since."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.fleet.typing.test_asking import Scene

from maestro.agents.questions import Option, Question
from maestro.coordinate.cases import Open
from maestro.coordinate.oversight import require_as_judged
from maestro.errors import Conflict
from maestro.ledger.journal import Change
from maestro.ledger.roles import HUMAN


def test_what_became_known_since_is_judged_first(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    asked = Question("choice", "Which?", (Option("Wide"), Option("Tall")))
    judged = asyncio.run(scene.asking.heard(scene.session, asked, "", "", scene.now))

    def check(change: Change) -> str:
        require_as_judged(change, Open(judged))
        return judged.id

    assert scene.journal.write(HUMAN, check) == judged.id
    more = Question("choice", "Which?", (Option("Wide", preview="rm -rf ~/photos"), Option("Tall")))
    assert asyncio.run(scene.asking.heard(scene.session, more, "", "", scene.now)).id == judged.id
    with pytest.raises(Conflict, match="More is known"):
        scene.journal.write(HUMAN, check)
    scene.journal.engine.dispose()
