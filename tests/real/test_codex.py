"""Codex under Maestro, against a stub of its API. Its questions take one option each: there is no multiple choice."""

from __future__ import annotations

import json

from tests.real import walk
from tests.real.fleet import RealFleet
from tests.real.turns import Failure, Used, calls, says
from tests.real.walk import Asked

from maestro.agents.codex.versions import without_shared_server

DATABASE = {
    "id": "db",
    "question": "Which database should we use?",
    "header": "Database",
    "options": [
        {"label": "PostgreSQL (Recommended)", "description": "Relational"},
        {"label": "SQLite", "description": "Embedded"},
    ],
}
LICENSE = {
    "id": "license",
    "question": "Which license?",
    "header": "License",
    "options": [
        {"label": "MIT (Recommended)", "description": "Permissive"},
        {"label": "GPL", "description": "Copyleft"},
    ],
}
CHOICE = Asked(
    (calls("One question first.", "request_user_input", questions=[DATABASE]),),
    kind="choice",
    text="Which database should we use?",
    labels=("PostgreSQL (Recommended)", "SQLite"),
    preamble="One question first.",
)


def runs(command: str) -> Asked:
    call = calls(
        "I will run it.",
        "exec_command",
        cmd=command,
        sandbox_permissions="require_escalated",
        justification="May I create the file?",
    )
    return Asked((call,), kind="permission", detail=command, labels=("Yes, proceed",))


def test_first_prompt(fleet: RealFleet) -> None:
    walk.first_prompt(
        fleet,
        used=Used(fresh=1000, output=12, cache_read=500),
        tokens={"input": 1000, "output": 12, "cacheRead": 500, "messages": 1},
    )


def test_a_version_that_it_does_not_tell(fleet: RealFleet) -> None:
    """It is launched by what every version takes."""
    folder = fleet.work.parent / "silent"
    folder.mkdir()
    program = folder / fleet.cli.name
    real = fleet.cli.bin / fleet.cli.name
    program.write_text(f'#!/bin/sh\ncase $1 in --version) exit 1;; esac\nexec {real} "$@"\n')
    program.chmod(0o755)
    path = fleet.env["PATH"]
    fleet.env["PATH"] = f"{folder}:{path}"
    try:
        walk.at_rest(fleet)
    finally:
        fleet.env["PATH"] = path


def test_status_while_it_works(fleet: RealFleet) -> None:
    walk.status_while_it_works(fleet)


def test_its_hooks_tell(fleet: RealFleet) -> None:
    walk.hooked(fleet)


def test_permission_given(fleet: RealFleet) -> None:
    walk.answered(fleet, runs("touch given.txt"), "Choose 1", results=("exited with code 0",))
    assert (fleet.work / "given.txt").exists()


def test_a_waiting_coordinator_is_woken(fleet: RealFleet) -> None:
    walk.noticed(fleet, runs("touch woken.txt"))


def test_permission_refused(fleet: RealFleet) -> None:
    walk.refused(fleet, runs("touch refused.txt"))
    assert not (fleet.work / "refused.txt").exists()


def test_choice_by_its_key(fleet: RealFleet) -> None:
    walk.answered(fleet, CHOICE, "Choose 2", results=('{"db":{"answers":["SQLite"]}}',))


def test_choice_with_a_reason(fleet: RealFleet) -> None:
    results = ('"SQLite"', "user_note: it is embedded")
    walk.answered(fleet, CHOICE, "Choose 2: it is embedded", results=results)


def test_words_instead_of_a_choice(fleet: RealFleet) -> None:
    results = ('"None of the above"', "user_note: DuckDB, please")
    walk.answered(fleet, CHOICE, "DuckDB, please", results=results)


def test_several_questions(fleet: RealFleet) -> None:
    call = calls("Two questions.", "request_user_input", questions=[DATABASE, LICENSE])
    results = ('"db":{"answers":["SQLite"]}', '"license":{"answers":["MIT (Recommended)"]}')
    walk.answered(fleet, Asked((call,), kind="several"), "Choose 2; Choose 1", results=results)


def test_plan_approved(fleet: RealFleet) -> None:
    """It proposes plans in a mode of its own, which a human switches on."""
    session_id = walk.at_rest(fleet)
    fleet.press(session_id, "BTab")
    fleet.until("it plans", lambda: fleet.screen(session_id), lambda screen: "Plan mode" in screen["content"])
    plan = "<proposed_plan>\n# Plan\n\n1. Create a.txt\n</proposed_plan>\n"
    since = fleet.load(says(plan), says("All is answered."))
    fleet.tell(session_id, "plan it")
    screen = fleet.until_asked(session_id)
    assert screen["kind"] == "plan"
    assert screen["questionText"] == "Implement this plan?"
    fleet.tell(session_id, "Choose 1")
    fleet.until_said(session_id, "All is answered.")
    assert fleet.api.received(since)[-1].user_texts()[-1] == "Implement the plan."


def test_prompt_while_idle(fleet: RealFleet) -> None:
    walk.prompted_while_idle(fleet)


def test_a_long_prompt(fleet: RealFleet) -> None:
    walk.a_long_prompt(fleet)


def test_prompts_while_busy(fleet: RealFleet) -> None:
    walk.prompted_while_busy(fleet)


def test_first_characters(fleet: RealFleet) -> None:
    walk.first_characters(fleet)


def test_api_error(fleet: RealFleet) -> None:
    walk.failed(fleet, Failure(400, "bad request stub"))


def test_retry(fleet: RealFleet) -> None:
    walk.retried(fleet, *[Failure(500, "stub 500")] * 3)


def test_limit(fleet: RealFleet) -> None:
    walk.limited(fleet, Failure(429, "the quota is used up", kind="usage_limit_reached"))


def test_adopted_from_the_users_own_tmux(fleet: RealFleet) -> None:
    walk.adopted(
        fleet,
        runs("touch adopted.txt"),
        "Choose 1",
        *without_shared_server(fleet.cli.version),
        "--config",
        f"projects={{{json.dumps(str(fleet.work))}={{trust_level='trusted'}}}}",  # older versions ask
        "--sandbox",
        "read-only",
        "--ask-for-approval",
        "on-request",
    )
    assert (fleet.work / "adopted.txt").exists()
