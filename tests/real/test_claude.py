"""Claude Code under Maestro, against a stub of its API."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tests.real import walk
from tests.real.fleet import RealFleet
from tests.real.turns import Failure, Received, Reply, Used, calls
from tests.real.walk import Asked

DATABASE = {
    "question": "Which database should we use?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "PostgreSQL", "description": "Relational, robust"},
        {"label": "SQLite", "description": "Embedded, zero config"},
    ],
}
FEATURES = {
    "question": "Which features do you want?",
    "header": "Features",
    "multiSelect": True,
    "options": [
        {"label": "Logging", "description": "Structured logs"},
        {"label": "Metrics", "description": "Prometheus"},
        {"label": "Tracing", "description": "OpenTelemetry"},
    ],
}
CHOICE = Asked(
    (calls("One question first.", "AskUserQuestion", questions=[DATABASE]),),
    kind="choice",
    text="Which database should we use?",
    labels=("PostgreSQL", "SQLite"),
    preamble="One question first.",
)
LIMIT = Failure(429, "the quota is used up", headers={"retry-after": "3600"})


def runs(command: str) -> Asked:
    return Asked(
        (calls("I will run it.", "Bash", command=command, description="Create a file"),),
        kind="permission",
        detail=command,
        labels=("Yes",),
    )


def plans(mode: str = "plan") -> Asked:
    return Asked((_write_plan, calls("Here is the plan.", "ExitPlanMode")), kind="plan", mode=mode)


def _write_plan(request: Received) -> Reply:
    """The plan goes into a file that the CLI has named."""
    named = re.search(r"/[^\s\"\\`]*/\.claude/plans/[^\s\"\\`]*\.md", json.dumps(request.body))
    assert named, "no file for the plan was named"
    return calls("Writing it down.", "Write", file_path=named[0], content="# Plan\n\n1. Create a.txt\n")


def test_first_prompt(fleet: RealFleet) -> None:
    walk.first_prompt(
        fleet,
        used=Used(fresh=1000, output=12, cache_read=500, cache_write=20),
        tokens={"input": 1000, "output": 12, "cacheRead": 500, "cacheWrite": 20, "messages": 1},
    )


def test_status_while_it_works(fleet: RealFleet) -> None:
    walk.status_while_it_works(fleet)


def test_its_hooks_tell(fleet: RealFleet) -> None:
    walk.hooked(fleet)


def test_permission_given(fleet: RealFleet) -> None:
    walk.answered(fleet, runs("touch given.txt"), "Choose 1", results=("no output",))
    assert (fleet.work / "given.txt").exists()


def test_a_waiting_coordinator_is_woken(fleet: RealFleet) -> None:
    walk.noticed(fleet, runs("touch woken.txt"))


def test_permission_refused(fleet: RealFleet) -> None:
    walk.refused(fleet, runs("touch refused.txt"))
    assert not (fleet.work / "refused.txt").exists()


def test_choice_by_its_key(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "Choose 2", results=('"Which database should we use?"="SQLite"',))


def test_choice_with_a_reason(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "Choose 2: it is embedded", results=('="SQLite"', "it is embedded"))


def test_a_preview_with_a_reason_by_keys(fleet: RealFleet) -> None:
    """Without hooks, an option takes words where it has a preview; elsewhere that is said, and nothing is typed."""
    options = [{**option, "preview": "+--+"} for option in cast("list[Any]", DATABASE["options"])]
    call = calls("Look.", "AskUserQuestion", questions=[{**DATABASE, "options": options}])
    walk.adopted(
        fleet, Asked((call,), kind="choice"), "Choose 2: it is embedded", "--permission-mode", "default"
    )
    result = fleet.api.received()[-1].tool_results()[-1]
    assert '="SQLite"' in result, result
    assert "it is embedded" in result, result
    walk.adopted(
        fleet, CHOICE, "Choose 2", "--permission-mode", "default", refuses="Choose 2: it is embedded"
    )
    assert '="SQLite"' in fleet.api.received()[-1].tool_results()[-1]


def test_a_permission_with_words(fleet: RealFleet) -> None:
    walk.answered(fleet, runs("touch amended.txt"), "Choose 1: then list it", results=())
    assert (fleet.work / "amended.txt").exists()


def test_words_instead_of_a_choice(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "DuckDB, please", results=('="DuckDB, please"',))


def test_multiple_choice(fleet: RealFleet) -> None:
    asked = Asked(
        (calls("Pick some.", "AskUserQuestion", questions=[FEATURES]),),
        kind="multi_choice",
        text="Which features do you want?",
        labels=("Logging", "Metrics", "Tracing"),
    )
    walk.answered(fleet, asked, "Choose 1, 3", results=('="Logging, Tracing"',))


def test_several_questions(fleet: RealFleet) -> None:
    asked = Asked(
        (calls("Two questions.", "AskUserQuestion", questions=[DATABASE, FEATURES]),), kind="several"
    )
    results = ('"Which database should we use?"="SQLite"', '"Which features do you want?"="Logging, Metrics"')
    walk.answered(fleet, asked, "Choose 2; Choose 1, 2", results=results)


def test_several_questions_by_keys(fleet: RealFleet) -> None:
    """Without hooks, part by part and with the review at their end."""
    call = calls("Two questions.", "AskUserQuestion", questions=[DATABASE, FEATURES])
    words = "Choose 2; Choose 1, 2"
    walk.adopted(fleet, Asked((call,), kind="several"), words, "--permission-mode", "default")
    result = fleet.api.received()[-1].tool_results()[-1]
    assert '"Which database should we use?"="SQLite"' in result, result
    assert '"Which features do you want?"="Logging, Metrics"' in result, result


def test_plan_approved(fleet: RealFleet) -> None:
    walk.answered(fleet, plans(), "Choose 2", results=("approved your plan",))


def test_plan_with_words(fleet: RealFleet) -> None:
    walk.answered(fleet, plans(), "Choose 3: use b.txt", results=("use b.txt",))


def test_prompt_while_idle(fleet: RealFleet) -> None:
    walk.prompted_while_idle(fleet, tab="    ")


def test_a_long_prompt(fleet: RealFleet) -> None:
    walk.a_long_prompt(fleet)


def test_prompts_while_busy(fleet: RealFleet) -> None:
    walk.prompted_while_busy(fleet)


def test_first_characters(fleet: RealFleet) -> None:
    walk.first_characters(fleet)


def test_api_error(fleet: RealFleet) -> None:
    walk.failed(fleet, Failure(400, "bad request stub"))


def test_retry(fleet: RealFleet) -> None:
    walk.retried(fleet, *[Failure(500, "stub 500")] * 4)


def test_limit(fleet: RealFleet) -> None:
    walk.limited(fleet, LIMIT)


def test_adopted_from_the_users_own_tmux(fleet: RealFleet) -> None:
    walk.adopted(fleet, runs("touch adopted.txt"), "Choose 1", "--permission-mode", "default")
    assert (fleet.work / "adopted.txt").exists()


def test_trust(fleet: RealFleet) -> None:
    walk.trusted(fleet)
