"""`maestro precedent`: answers that count, until they are forgotten or expire."""

from __future__ import annotations

import re
from typing import Any

from tests.cli.escalated import POLICY, ask, decide, escalate
from tests.fleet.typing.stage import Stage
from tests.support import Maestro

from maestro.cli.precedent import _expires
from maestro.errors import NotFound

STEP = ask("Should the parser be strict?", "Yes, strict", "No")
WITH_PRECEDENTS = POLICY | {"precedents": {"enabled": True}}


def test_none_yet(maestro: Maestro) -> None:
    done = maestro("precedent", "list")
    assert (done.returncode, done.stdout[:33]) == (0, "No answers are remembered yet. `m")
    assert maestro.json("precedent", "list") == []
    assert maestro("precedent", "show", "prec_1").returncode == NotFound.exit_code
    assert maestro("precedent", "forget", "prec_1").returncode == NotFound.exit_code


def test_an_answer_counts_until_it_is_forgotten(stage: Stage) -> None:
    waits = escalate(stage, stage.spawn("first", STEP))
    assert stage.maestro("answer", waits, "1").returncode == 0
    [known] = stage.maestro.json("precedent", "list")
    assert (known["question"], known["answers"], known["uses"]) == ("Should the parser be strict?", 1, 0)
    listed = stage.maestro("precedent", "list").stdout.splitlines()[1]
    assert re.split(r" {2,}", listed) == [
        known["id"], "Choose 1", "Should the parser be strict?", "1", "0", "in 30 d",
    ]  # fmt: skip
    again = decide(stage, stage.spawn("second", STEP), policy=WITH_PRECEDENTS)
    assert (again["outcome"], again["verdict"]["by"]) == ("answer", "precedent")
    shown = stage.maestro("precedent", "show", known["id"][-6:]).stdout
    assert re.search(r"^options +1  Yes, strict\n +2  No\n", shown, re.MULTILINE)
    assert re.search(r"^used +1 times, \d+s ago$", shown, re.MULTILINE)
    gone = stage.maestro("precedent", "forget", known["id"])
    assert gone.stdout == f"Forgotten {known['id']}: the next time you are asked.\n"
    assert stage.maestro.json("precedent", "list") == []
    [kept] = stage.maestro.json("precedent", "list", "--all")
    assert kept["forgottenAt"]
    assert "forgotten" in stage.maestro("precedent", "list", "--all").stdout
    third = decide(stage, stage.spawn("third", STEP), policy=WITH_PRECEDENTS)
    assert third["outcome"] == "escalate"


def test_what_is_not_to_be_remembered(stage: Stage) -> None:
    before = len(stage.maestro.json("precedent", "list", "--all"))
    waits = escalate(stage, stage.spawn("quiet", ask("Should it be quiet about that?", "Yes", "No")))
    assert stage.maestro("answer", waits, "2", "--no-remember").returncode == 0
    assert len(stage.maestro.json("precedent", "list", "--all")) == before


def test_when_it_expires() -> None:
    def said(**fields: Any) -> str:
        return _expires({"forgottenAt": None, "expiresAt": 10**15} | fields)

    assert said().startswith("in ")
    assert said(expiresAt=0).startswith("expired ")
    assert said(forgottenAt=0).startswith("forgotten ")
