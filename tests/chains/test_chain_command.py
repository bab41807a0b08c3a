"""`maestro chain list|show|route`, as a person and as a program, without a daemon."""

from __future__ import annotations

import json

from tests.chains.support import project_at
from tests.support import Maestro

from maestro.chains.project import as_json


def test_list_shows_chains_and_commands(maestro: Maestro) -> None:
    done = maestro("chain", "list")
    assert done.returncode == 0
    assert "full-lifecycle" in done.stdout
    assert "quality-review" in done.stdout
    told = maestro.json("chain", "list")
    assert len(told["chains"]) == 12
    assert {one["name"] for one in told["commands"]} >= {"plan", "issue-create"}
    assert not (maestro.place / "m").exists()


def test_show_tells_a_chain_or_a_command_by_either_name(maestro: Maestro) -> None:
    assert [step["command"] for step in maestro.json("chain", "show", "execute-verify")["steps"]] == [
        "execute",
        "verify",
    ]
    told = maestro.json("chain", "show", "/maestro-plan")
    assert told["name"] == "plan"
    assert told["prompt"].startswith("You plan.")
    assert maestro("chain", "show", "plan", "--prompt").stdout.startswith("You plan.")
    missing = maestro("chain", "show", "exekute")
    assert missing.returncode == 3
    assert "Did you mean “execute”?" in missing.stderr


def test_route_answers_each_line_with_a_line(maestro: Maestro) -> None:
    lines = "code review\n\nclose #12\nhello there\n"
    done = maestro("chain", "route", "-", input=lines)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["intent"] for one in told] == ["code review", "", "close #12", "hello there"]
    assert [one["chain"] for one in told] == ["review", None, "issue-close", None]
    assert [bool(one["ask"]) for one in told] == [False, True, False, True]
    assert told[2]["issue"] == "ISSUE-12"


def test_route_goes_by_the_project_of_the_folder(maestro: Maestro) -> None:
    assert maestro.json("chain", "route", "continue")["chain"] == "init"
    state = maestro.cwd / ".maestro"
    state.mkdir()
    project = project_at("planned")
    assert project is not None
    (state / "project.json").write_bytes(as_json(project))
    told = maestro("chain", "route", "what's", "next?")
    assert "chain    execute" in told.stdout
    assert "phase 1 is planned" in told.stdout
    (state / "project.json").write_text("{")
    broken = maestro("chain", "route", "continue")
    assert broken.returncode == 2
    assert "project.json" in broken.stderr


def test_a_fault_in_the_projects_chains_is_told_with_its_line(maestro: Maestro) -> None:
    state = maestro.cwd / ".maestro"
    state.mkdir()
    (state / "chains.toml").write_text('[chains.mine]\npurpose = "x"\nsteps = ["plan", "fly"]\n')
    done = maestro("chain", "list")
    assert done.returncode == 2
    assert "chains.toml:3: chains.mine, step 2: there is no command or chain “fly”" in done.stderr
