"""A prompt arrives once, also at an agent that is stopped and continued, or gets no processor, while it is typed."""

from __future__ import annotations

import random

import pytest
from tests.fleet.typing.sights import sight
from tests.fleet.typing.stage import Stage, children
from tests.patience import until
from tests.stopping import stopping
from tests.support import SOAK

from maestro.agents.screen import Screen
from maestro.fleet.delivery import AfterEnter, Allowance, is_queued, unsent_looks

PROMPTS = 60 if SOAK else 4


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "imitated",
    [pytest.param("claude", marks=pytest.mark.more), pytest.param("codex", marks=pytest.mark.more), "gemini"],
)
def test_an_agent_that_is_stopped_at_random(stage: Stage, imitated: str) -> None:
    session = stage.adopt(f"stopped-{imitated}", keeper=True, imitate=imitated)
    agents = until(lambda: children(stage.pid(session)))
    submitted, uncertain = [], []
    with stopping(agents, random.Random(imitated)):
        for number in range(PROMPTS):
            text = f"prompt {number} of {PROMPTS}."
            receipt = stage.sent(session, text, "--timeout", "110", timeout=120)
            if receipt["state"] == "uncertain":
                # It may stand in the box, in front of every other one.
                uncertain = [text]
                break
            assert receipt["state"] == "submitted", (receipt["reason"], stage.screen(session))
            submitted.append(text)
    until(
        lambda: set(submitted) <= set(stage.heard(session)),
        lambda: (stage.heard(session), stage.screen(session)),
    )
    assert stage.heard(session) in (submitted, submitted + uncertain)
    print(f"{imitated}: {len(submitted)} submitted, {len(uncertain)} uncertain")  # noqa: T201 - what a soak run reports


def after(**changed: object) -> AfterEnter:
    """A box that still holds the text though the agent has read all keys and waits; but for what is changed."""
    facts: dict[str, object] = {
        "sight": sight(Screen("working", draft="the text")),
        "has_read": True,
        "is_in_box": True,
        "queued_before": 0,
        "has_taken": False,
    }
    return AfterEnter(**(facts | changed))  # type: ignore[arg-type]  # a table's columns


def test_enter_is_lost_only_if_everything_says_so() -> None:
    assert unsent_looks(0, after(), "claude") == 1
    assert unsent_looks(1, after(), "claude") == 2


@pytest.mark.parametrize("has_read", [False, None])
def test_a_look_at_an_agent_that_has_not_read_counts_for_nothing(has_read: bool | None) -> None:  # noqa: FBT001
    assert unsent_looks(1, after(has_read=has_read), "claude") == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"is_in_box": False},
        {"has_taken": True},
        {"sight": None},
        {"sight": sight(Screen("working", draft="the text", queued=("the text",)))},
        {"sight": sight(Screen("working", draft="the text", queued_more=1))},
        {"sight": sight(Screen("working", draft="the text"), focused=True)},
        {"sight": sight(Screen("working", draft="the text"), in_mode=True)},
        {"sight": sight(Screen("working", draft="the text"), in_front=False)},
    ],
    ids=str,
)
def test_any_doubt_keeps_enter_from_being_pressed_again(changed: dict[str, object]) -> None:
    assert unsent_looks(1, after(**changed), "claude") == 0


def test_one_more_in_the_agents_own_queue() -> None:
    held = Screen("working", draft="", queued=("a", "b", "c"), queued_more=1)
    assert is_queued(sight(held), 3)
    assert not is_queued(sight(held), 2), "two more: it was sent twice, or somebody else typed"
    assert not is_queued(sight(held), 4)
    assert not is_queued(sight(Screen("working", draft="d", queued=("a",))), 0)
    assert not is_queued(sight(Screen("working", queued=("a",))), 0)


def test_time_counts_only_while_the_agent_could_act() -> None:
    allowance = Allowance(10, now=0)
    allowance.spend(9, has_read=None)
    allowance.spend(20, has_read=False)
    assert not allowance.is_spent
    allowance.spend(21, has_read=True)
    assert allowance.is_spent
    stopped = Allowance(10, now=0)
    stopped.spend(29, has_read=False)
    assert not stopped.is_spent
    stopped.spend(30, has_read=False)
    assert stopped.is_spent
