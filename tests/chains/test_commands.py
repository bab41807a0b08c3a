"""The package's commands: all of them, each with a prompt that stands by itself."""

from __future__ import annotations

import re

import pytest
from tests.chains.support import package, weights

from maestro.chains import Command
from maestro.chains.routing.route import route

NAMES = [
    "analyze",
    "brainstorm",
    "ui-design",
    "init",
    "roadmap",
    "spec-generate",
    "plan",
    "execute",
    "verify",
    "quick",
    "milestone-audit",
    "milestone-complete",
    "review",
    "test",
    "test-gen",
    "integration-test",
    "debug",
    "refactor",
    "retrospective",
    "sync",
    "issue-create",
    "issue-discover",
    "issue-analyze",
    "issue-plan",
    "issue-execute",
    "issue-close",
    "status",
    "memory-capture",
    "learn",
    "spec-setup",
    "spec-add",
    "spec-load",
    "codebase-rebuild",
    "codebase-refresh",
]
SEED_FLAGS = {
    "maestro-analyze": "-y",
    "maestro-brainstorm": "-y",
    "maestro-ui-design": "-y",
    "maestro-plan": "--auto",
    "maestro-spec-generate": "-y",
    "quality-test": "--auto-fix",
    "quality-retrospective": "--auto-yes",
}


@pytest.fixture(params=NAMES)
def command(request: pytest.FixtureRequest) -> Command:
    return package().commands[request.param]


def test_they_are_all_there_and_no_others() -> None:
    assert sorted(package().commands) == sorted(NAMES)


def test_the_seeds_auto_flags_hold() -> None:
    flags = {one.seed_name: one.auto_flag for one in package().commands.values()}
    assert {name: flags[name] for name in SEED_FLAGS} == SEED_FLAGS


def test_a_prompt_says_how_to_work_and_when_it_is_done(command: Command) -> None:
    lines = command.prompt.splitlines()
    assert 25 <= len(lines) <= 60
    assert "### Done when" in lines
    assert re.search(
        r"^### (?:Do not|With|When|Mending|Keep|Place|Check|Choose|Judge|Verdict)",
        command.prompt,
        re.MULTILINE,
    )
    assert "SUMMARY" in command.prompt.split("### Done when")[1]


def test_what_it_must_leave_and_report_is_named_in_its_prompt(command: Command) -> None:
    told = command.prompt + " ".join(package().formats[name] for name in command.formats)
    for path in command.artifacts:
        # An id that the command itself gives is not in its prompt yet.
        known = re.split(r"\{(?:issue_id|spec_session_id)\}", path)
        assert all(part in told for part in known), path
    for field in command.result:
        assert field in command.prompt, field
    assert bool(command.artifacts) == (command.mode == "write")


def test_its_chain_can_be_told_what_it_needs(command: Command) -> None:
    """By its name and some words, with an issue where it needs one."""
    found = route(f"/{command.name} about ISSUE-4", package(), None, weights())
    assert found.chain == command.name
    assert found.clarity == 3
    assert found.description == "about ISSUE-4"
