"""Gemini CLI under Maestro, against a stub of its API."""

from __future__ import annotations

import json
import re

from tests.real import walk
from tests.real.fleet import RealFleet
from tests.real.turns import Failure, Received, Reply, Used, calls
from tests.real.walk import Asked
from tests.support import SOAK

DATABASE = {
    "question": "Which database should we use?",
    "header": "Database",
    "type": "choice",
    "options": [
        {"label": "PostgreSQL", "description": "Relational"},
        {"label": "SQLite", "description": "Embedded"},
    ],
}
FEATURES = {
    "question": "Which features do you want?",
    "header": "Features",
    "type": "choice",
    "multiSelect": True,
    "options": [
        {"label": "Logging", "description": "Logs"},
        {"label": "Metrics", "description": "Numbers"},
        {"label": "Tracing", "description": "Spans"},
    ],
}
NAME = {"question": "Any name?", "header": "Name", "type": "text"}
CHOICE = Asked(
    (calls("One question first.", "ask_user", questions=[DATABASE]),),
    kind="choice",
    text="Which database should we use?",
    labels=("PostgreSQL", "SQLite"),
    preamble="One question first.",
)
# What the API says of a day's quota; of a minute's, the CLI says nothing and waits.
LIMIT = Failure(
    429,
    "the quota is used up",
    details=(
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
        },
    ),
)


def runs(command: str) -> Asked:
    return Asked(
        (calls("I will run it.", "run_shell_command", command=command, description="Create a file"),),
        kind="permission",
        detail=command,
        labels=("Allow once",),
    )


def plans() -> Asked:
    shown = calls("Here is the plan.", "exit_plan_mode", plan_filename="the-plan.md")
    return Asked((_write_plan, shown), kind="plan", mode="plan")


def _write_plan(request: Received) -> Reply:
    """The plan goes into a folder that the CLI has named."""
    named = re.search(r"/[^\s\"\\`]*/home/\.gemini/[^\s\"\\`]*/plans", json.dumps(request.body))
    assert named, "no folder for plans was named"
    return calls(
        "Writing it down.",
        "write_file",
        file_path=f"{named[0]}/the-plan.md",
        content="# Plan\n\n1. Create a.txt\n",
    )


def test_first_prompt(fleet: RealFleet) -> None:
    walk.first_prompt(
        fleet,
        used=Used(fresh=1000, output=12, cache_read=500),
        tokens={"input": 1000, "output": 12, "cacheRead": 500, "messages": 1},
    )


def test_status_while_it_works(fleet: RealFleet) -> None:
    walk.status_while_it_works(fleet)


def test_its_hooks_tell(fleet: RealFleet) -> None:
    """It takes them from the person's own settings only."""
    fleet.json("install", "gemini")
    try:
        walk.hooked(fleet)
    finally:
        fleet.json("uninstall", "gemini")


def test_permission_given(fleet: RealFleet) -> None:
    walk.answered(fleet, runs("touch given.txt"), "Choose 1", results=("(empty)",))
    assert (fleet.work / "given.txt").exists()


def test_a_waiting_coordinator_is_woken(fleet: RealFleet) -> None:
    walk.noticed(fleet, runs("touch woken.txt"))


def test_permission_refused(fleet: RealFleet) -> None:
    walk.refused(fleet, runs("touch refused.txt"))
    assert not (fleet.work / "refused.txt").exists()


def test_choice_by_its_key(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "Choose 2", results=('"0":"SQLite"',))


def test_choice_with_a_reason(fleet: RealFleet) -> None:
    """It takes an option or words, not both: that is said, and nothing is typed."""
    session_id, _ = walk.seen(fleet, CHOICE)
    walk.refused_words(fleet, session_id, "Choose 2: it is embedded")
    fleet.tell(session_id, "Choose 2")
    fleet.until_said(session_id, "All is answered.")
    assert '"0":"SQLite"' in fleet.api.received()[-1].tool_results()[-1]


def test_words_instead_of_a_choice(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "DuckDB, please", results=('"0":"DuckDB, please"',))


def test_words(fleet: RealFleet) -> None:
    asked = Asked((calls("A question.", "ask_user", questions=[NAME]),), kind="free_text", text="Any name?")
    walk.answered(fleet, asked, "Maestro", results=('"0":"Maestro"',))


def test_multiple_choice(fleet: RealFleet) -> None:
    asked = Asked(
        (calls("Pick some.", "ask_user", questions=[FEATURES]),),
        kind="multi_choice",
        text="Which features do you want?",
        labels=("Logging", "Metrics", "Tracing"),
    )
    walk.answered(fleet, asked, "Choose 1, 3", results=('"0":"Logging, Tracing"',))


def test_several_questions(fleet: RealFleet) -> None:
    call = calls("Three questions.", "ask_user", questions=[DATABASE, FEATURES, NAME])
    results = ('"0":"SQLite"', '"1":"Logging, Metrics"', '"2":"Maestro"')
    walk.answered(fleet, Asked((call,), kind="several"), "Choose 2; Choose 1, 2; Maestro", results=results)


def test_plan_approved(fleet: RealFleet) -> None:
    walk.answered(fleet, plans(), "Choose 2", results=("approved",))


def test_prompt_while_idle(fleet: RealFleet) -> None:
    walk.prompted_while_idle(fleet)


def test_a_long_prompt(fleet: RealFleet) -> None:
    walk.a_long_prompt(fleet)


def test_prompts_while_busy(fleet: RealFleet) -> None:
    walk.prompted_while_busy(fleet)


def test_prompts_while_it_is_stopped_at_random(fleet: RealFleet) -> None:
    walk.stopped_at_random(fleet, 50 if SOAK else 4)


def test_first_characters(fleet: RealFleet) -> None:
    walk.first_characters(fleet)


def test_api_error(fleet: RealFleet) -> None:
    walk.failed(fleet, Failure(400, "bad request stub"))


def test_retry(fleet: RealFleet) -> None:
    """It shows nowhere that it tries again: all that can be told is that it is not done."""
    walk.retried(fleet, Failure(500, "stub 500"), status="thinking")


def test_limit(fleet: RealFleet) -> None:
    """It asks whether to keep trying, and its transcript does not say so."""
    walk.limited(fleet, LIMIT, by_transcript=False)


def test_adopted_from_the_users_own_tmux(fleet: RealFleet) -> None:
    walk.adopted(fleet, runs("touch adopted.txt"), "Choose 1", "--skip-trust")
    assert (fleet.work / "adopted.txt").exists()


def test_trust(fleet: RealFleet) -> None:
    walk.trusted(fleet)
