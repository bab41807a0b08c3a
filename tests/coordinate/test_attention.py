"""Workers that do not get on: every kind of trouble by every setting."""

from __future__ import annotations

from typing import Any

import pytest

from maestro.agents.screen import Screen, ScreenState
from maestro.coordinate import Budget, Policy, StuckSettings
from maestro.coordinate.attention import (
    BLOCKED_AFTER,
    MOST_FAILURES,
    RESET_MARGIN,
    Past,
    Response,
    Trouble,
    over_budget,
    respond,
    troubles,
)
from maestro.ledger.facts import Progress, Task, TaskStatus
from maestro.observe.digest import Digest, Entry, Metrics, Source, with_screen
from maestro.observe.status import Status
from maestro.observe.stuck import Stuck, StuckKind

NOW = 1_800_000_000_000
SPOKE = NOW - 300_000
WROTE = NOW - 200_000
PATIENCE = 120_000
HELP, RESUME = "What is in the way?", "Go on."


def policy(**settings: Any) -> Policy:
    return Policy(stuck=StuckSettings(help_message=HELP, resume_message=RESUME, **settings))


def said(source: Source, at: int | None, text: str = "I read the files.") -> Entry:
    return Entry(at, text, source, is_first_sentence=False)


def digest(
    stuck: Stuck | None = None,
    status: Status = "working",
    entries: tuple[Entry, ...] = (said("user", SPOKE - 1), said("assistant", SPOKE)),
    last: int | None = WROTE,
) -> Digest:
    return Digest(
        session_id="sess_1",
        session_name="Main",
        worker_name=None,
        task_ids=(),
        agent="claude",
        state="active",
        status=status,
        evidence=(),
        entries=entries,
        stuck=stuck,
        metrics=Metrics(0, last, 0),
        last_activity_timestamp=last,
    )


def stuck(kind: StuckKind, *, resets: int | None = None, silent: int = NOW - SPOKE) -> Stuck:
    return Stuck(kind, f"It is {kind}", "as it says", "Look.", silent, 9, resets)


def task(status: TaskStatus = "in_progress", *, at: int = SPOKE, name: str = "task_1", **more: Any) -> Task:
    fields: dict[str, Any] = {
        "id": name,
        "project_id": "proj_1",
        "title": "Mend the parser",
        "description": "",
        "parent_id": None,
        "depends_on": (),
        "assignee": None,
        "priority": "normal",
        "status": status,
        "blocked_reason": None,
        "last_report": None,
        "created_by": None,
        "session_ids": (),
        "progress": Progress(completed=0, total=0),
        "created_at": at,
        "updated_at": at,
        "started_at": None,
        "ended_at": None,
    }
    return Task(**fields | more)


def found(seen: Digest, *tasks: Task, screen: Screen | None = None, now: int = NOW) -> list[Trouble]:
    told = seen if screen is None else with_screen(seen, screen, now)
    return troubles("sess_1", told, tasks, now)


# What is the matter.


@pytest.mark.parametrize(
    ("kind", "escalated_as", "since", "can_be_helped"),
    [
        ("silent", "stuck", SPOKE, True),
        ("finished", "stuck", SPOKE, True),
        ("wedged", "stuck", SPOKE, False),
        ("limit", "limit", WROTE, False),
        ("api_errors", "error", WROTE, False),
    ],
)
def test_each_way_of_being_stuck(kind: StuckKind, escalated_as: str, since: int, can_be_helped: bool) -> None:  # noqa: FBT001 - a column of the table
    [trouble] = found(digest(stuck(kind, resets=NOW + 5)), task())
    assert (trouble.kind, trouble.since, trouble.can_be_helped) == (escalated_as, since, can_be_helped)
    assert (trouble.text, trouble.reason, trouble.resets_at) == ("as it says", f"It is {kind}.", NOW + 5)


def test_nothing_is_the_matter() -> None:
    calm = Screen("idle")
    assert found(digest(), task(), screen=calm) == []
    assert found(digest(stuck("question"))) == [], "what it asks is decided as a question"


def test_a_blocked_task_is_trouble_after_a_minute() -> None:
    fresh = task("blocked", at=NOW - BLOCKED_AFTER + 1, blocked_reason="No key")
    old = task("blocked", at=NOW - BLOCKED_AFTER, blocked_reason="No key")
    assert found(digest(), fresh) == []
    [trouble] = found(digest(), old, task("completed", name="task_2"))
    assert (trouble.kind, trouble.text) == ("blocked", "No key")
    assert "Mend the parser" in trouble.reason
    again = task("blocked", at=NOW - BLOCKED_AFTER - 1, blocked_reason="No key")
    assert found(digest(), again)[0].subject != trouble.subject, "blocked anew is another trouble"


@pytest.mark.parametrize(("state", "kind"), [("error", "error"), ("limit", "limit")])
def test_what_only_the_screen_shows(state: ScreenState, kind: str) -> None:
    [trouble] = found(digest(), screen=Screen(state, evidence="API Error: 500"))
    assert (trouble.kind, trouble.text, trouble.can_be_helped) == (kind, "API Error: 500", False)
    [one] = found(digest(stuck("limit"), "failed"), screen=Screen("error", evidence="the same"))
    assert one.text == "as it says", "the transcript tells more of it"
    states: tuple[ScreenState, ...] = ("idle", "working", "question", "exited", "unknown")
    assert [found(digest(), screen=Screen(other)) for other in states] == [[]] * len(states)


@pytest.mark.parametrize("kind", ["silent", "finished"])
def test_our_own_prompt_about_it_makes_it_no_new_trouble(kind: StuckKind) -> None:
    [before] = found(digest(stuck(kind)), task())
    prompted = digest(stuck(kind), entries=(said("assistant", SPOKE), said("user", NOW - 5, HELP)))
    assert found(prompted, task())[0].subject == before.subject


def test_what_is_another_trouble() -> None:
    spoke_again = (said("assistant", SPOKE), said("assistant", NOW - 5))
    prompted_again = (said("assistant", SPOKE), said("user", NOW - 5))
    [silent], [limit] = found(digest(stuck("silent"))), found(digest(stuck("limit")))
    assert found(digest(stuck("silent"), entries=spoke_again))[0].subject != silent.subject
    assert found(digest(stuck("limit"), entries=prompted_again))[0].subject != limit.subject
    [finished] = found(digest(stuck("finished")), task())
    assert found(digest(stuck("finished"), entries=spoke_again), task())[0].subject == finished.subject, (
        "it answered, stopped again, and the same task is still open"
    )
    other = found(digest(stuck("finished")), task("completed"), task(name="task_2"))[0]
    assert other.subject != finished.subject


def test_every_retry_is_the_same_trouble() -> None:
    def retrying(at: int) -> Trouble:
        entries = (said("assistant", SPOKE), said("system", at, "API Error: 529"))
        [one] = found(digest(stuck("api_errors"), "retrying", entries))
        return one

    assert retrying(NOW - 9) == retrying(NOW - 5)


# What to do about it.


SILENT = Trouble("stuck", "s", "silent", "It is silent.", NOW - PATIENCE, can_be_helped=True)
WEDGED = Trouble("stuck", "s", "wedged", "It is wedged.", NOW - PATIENCE)
BLOCKED = Trouble("blocked", "s", "No key", "It is blocked.", NOW)
FAILED = Trouble("error", "s", "500", "It failed.", NOW)
LIMIT = Trouble("limit", "s", "limit", "It is at a limit.", NOW - 1, resets_at=NOW - RESET_MARGIN)


def later(trouble: Trouble, **changes: Any) -> Trouble:
    fields = {name: getattr(trouble, name) for name in trouble.__struct_fields__}
    return Trouble(**fields | changes)


RETRYING = later(FAILED, can_pass=True)


@pytest.mark.parametrize(
    ("trouble", "past", "settings", "move", "words"),
    [
        # A worker that is silent, or has finished with an open task.
        (later(SILENT, since=NOW - PATIENCE + 1), Past(), {}, "wait", ""),
        (SILENT, Past(), {}, "help", "silent"),
        (SILENT, Past(), {"most_helps": 0}, "escalate", "silent"),
        (SILENT, Past(helps=1, last_help=NOW - PATIENCE + 1), {}, "wait", ""),
        (SILENT, Past(helps=1, last_help=NOW - PATIENCE), {}, "escalate", "prompted once, and nothing"),
        (SILENT, Past(helps=1, last_help=NOW - PATIENCE), {"most_helps": 2}, "help", "silent"),
        (SILENT, Past(helps=2, last_help=NOW - PATIENCE), {"most_helps": 2}, "escalate", "prompted 2 times"),
        (SILENT, Past(failures=MOST_FAILURES - 1), {}, "help", "silent"),
        (SILENT, Past(failures=MOST_FAILURES), {}, "escalate", "could not be prompted"),
        (SILENT, Past(), {"intervene_after": 121}, "wait", ""),
        # One that hangs reads nothing.
        (WEDGED, Past(), {}, "escalate", "wedged"),
        (later(WEDGED, since=NOW - 1), Past(), {}, "wait", ""),
        # What no prompt mends is told at once.
        (BLOCKED, Past(), {}, "escalate", "blocked"),
        (FAILED, Past(), {}, "escalate", "failed"),
        (FAILED, Past(), {"on_limit": "resume", "most_helps": 5}, "escalate", "failed"),
        # It tries again by itself, for a while.
        (RETRYING, Past(), {}, "wait", ""),
        (later(RETRYING, since=NOW - PATIENCE), Past(), {}, "escalate", "failed"),
        # Limits.
        (LIMIT, Past(), {}, "escalate", "at a limit"),
        (later(LIMIT, resets_at=None), Past(), {}, "escalate", "at a limit"),
        (LIMIT, Past(), {"on_limit": "resume"}, "resume", "The limit is over"),
        (later(LIMIT, resets_at=NOW - RESET_MARGIN + 1), Past(), {"on_limit": "resume"}, "wait", ""),
        (later(LIMIT, resets_at=NOW + 3_600_000), Past(), {"on_limit": "resume"}, "wait", ""),
        (later(LIMIT, resets_at=None), Past(), {"on_limit": "resume"}, "escalate", "is not told"),
        (LIMIT, Past(resumes=2), {"on_limit": "resume"}, "resume", "The limit is over"),
        (LIMIT, Past(resumes=3), {"on_limit": "resume"}, "escalate", "resumed 3 times"),
        (LIMIT, Past(), {"on_limit": "resume", "most_resumes": 0}, "escalate", "resumed 0 times"),
        (LIMIT, Past(resumes=1, resumed_at=NOW - 1), {"on_limit": "resume"}, "wait", ""),
        (LIMIT, Past(resumes=1, resumed_at=NOW - PATIENCE), {"on_limit": "resume"}, "escalate", "told to go on"),
        (LIMIT, Past(failures=MOST_FAILURES), {"on_limit": "resume"}, "escalate", "could not be prompted"),
    ],
)  # fmt: skip
def test_what_is_done(trouble: Trouble, past: Past, settings: dict[str, Any], move: str, words: str) -> None:
    response = respond(trouble, past, policy(**settings), NOW)
    assert response.move == move
    assert words in response.reason
    assert response.text == {"help": HELP, "resume": RESUME}.get(move, "")


IN_TWENTY = Screen("limit", evidence="■ You've hit your usage limit. Try again in 20 minutes.")
AT_THREE = Screen("limit", evidence="■ You've hit your usage limit. Try again at 3:00 PM.")
AT_STAMP = Screen("limit", evidence="■ You've hit your usage limit. It resets at 2027-01-15T09:00:00Z.")


def by_screen(screen: Screen, hours: float, *, seen: Digest | None = None) -> tuple[str, str]:
    """What is done, and advised, so long after the last record of a limit that only the screen tells of."""
    now = WROTE + round(hours * 3_600_000)
    told = with_screen(seen or digest(), screen, now)
    assert told.stuck is not None
    [trouble] = found(told, now=now)
    return respond(trouble, Past(), policy(on_limit="resume"), now).move, told.stuck.remedy


@pytest.mark.parametrize("screen", [IN_TWENTY, AT_THREE, AT_STAMP])
def test_a_limit_that_only_the_screen_tells_of_ends_when_it_says(screen: Screen) -> None:
    assert by_screen(screen, 0.1)[0] == "wait"
    assert by_screen(screen, 0.1)[1].startswith("Wait for the reset")
    for later_on in (24.1, 72.0):
        assert by_screen(screen, later_on) == ("resume", "The limit is over: prompt it to go on.")


def test_a_limit_that_counts_from_an_unknown_time_is_the_humans() -> None:
    """Nothing tells when it was said: it would end in twenty minutes for ever."""
    unseen = digest(entries=(), last=None)
    for screen in (IN_TWENTY, AT_THREE):
        assert by_screen(screen, 1, seen=unseen)[0] == "escalate"
    assert by_screen(AT_STAMP, 0, seen=unseen)[0] == "wait"
    assert by_screen(AT_STAMP, 48, seen=unseen)[0] == "resume"


def test_waiting_says_nothing() -> None:
    assert respond(RETRYING, Past(), policy(), NOW) == Response("wait")


# Budgets.


@pytest.mark.parametrize(
    ("caps", "session", "fleet", "told"),
    [
        ({}, (10**9, 1e6), (10**9, 1e6), ""),
        ({"session_tokens": 1000}, (999, 0.0), (9999, 0.0), ""),
        ({"session_tokens": 1000}, (1000, 0.0), (1000, 0.0), "The session's budget is used up: 1,000 of 1,000 tokens."),
        ({"session_cost_usd": 1.5}, (0, 1.499), (0, 9.0), ""),
        ({"session_cost_usd": 1.5}, (0, 1.75), (0, 1.75), "The session's budget is used up: 1.75 of 1.50 US dollars."),
        ({"fleet_tokens": 12_000}, (100, 0.0), (12_345, 0.0), "The fleet's budget is used up: 12,345 of 12,000 tokens."),
        ({"fleet_cost_usd": 20.0}, (0, 2.0), (0, 20.0), "The fleet's budget is used up: 20 of 20 US dollars."),
        ({"fleet_cost_usd": 20.0, "session_tokens": 5}, (5, 2.0), (5, 30.0), "The session's budget is used up: 5 of 5 tokens."),
    ],
)  # fmt: skip
def test_budgets(
    caps: dict[str, Any], session: tuple[int, float], fleet: tuple[int, float], told: str
) -> None:
    assert over_budget(Policy(budget=Budget(**caps)), session, fleet) == told
