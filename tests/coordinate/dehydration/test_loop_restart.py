"""The built-in loop needs no dehydration: it goes on from its log and the ledger, and says where it stood."""

from __future__ import annotations

from typing import Any

import pytest
from tests.coordinate.dehydration.coordinated import Coordinated
from tests.coordinate.loop.overseen import Overseen, asks
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

POLICY: dict[str, Any] = {
    "rules": [{"pattern": "which colour.*", "answer": "Choose 2"}],
    "preEscalation": {"enabled": False},
}


def test_a_loop_that_begins_again_says_where_it_stood(stage: Coordinated) -> None:
    overseen = Overseen(stage)
    first = stage.spawn("first", asks("Which colour?", "Red", "Blue"))
    second = stage.spawn("second", on_prompt=[asks("Which name?", "Ada", "Bob")])
    until(lambda: stage.explain(first)["question"], lambda: stage.screen(first))
    begun = overseen.once(of="first,second", **POLICY)
    assert "Goes on" not in begun.stdout
    stage.until_said(first, "It is Blue.")
    assert stage.prompt(second, "Go on.").returncode == 0
    until(lambda: stage.explain(second)["question"], lambda: stage.screen(second))
    # One pass deals with one of them, and the first has news as well.
    until(lambda: overseen.once(of="first,second", **POLICY).stdout and overseen.inbox(second))
    [waits] = overseen.inbox(second)
    stage.kill_daemon()
    again = overseen.once(of="first,second", **POLICY)
    assert "Goes on: 1 waits for you; last decision: second: for you" in again.stdout, again.stdout
    assert [one["id"] for one in overseen.inbox(second)] == [waits["id"]], "nothing is escalated twice"
