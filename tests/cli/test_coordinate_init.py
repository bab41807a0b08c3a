"""`maestro coordinate init`: rules for the project's own commands, confirmed by a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests import skips
from tests.support import Maestro
from tests.trust.test_trust_command import at_terminal

from maestro.coordinate import AnswerRule
from maestro.coordinate.policy.config import parse_policy
from maestro.coordinate.policy.config_file import FILE, Found, find_policy
from maestro.errors import Conflict, InvalidInput, NotFound, Untrusted
from maestro.trust.project import ONCE

pytestmark = skips.needs_person

SCRIPTS = {"test": "vitest run", "lint": "eslint . && git push", "build": "tsc", "deploy": "x"}
TEST, RUN_TEST = "test: npm test (package.json)", "test: npm run test (package.json)"
LINT, BUILD = "lint: npm run lint (package.json)", "build: npm run build (package.json)"


@pytest.fixture
def shop(maestro: Maestro) -> Maestro:
    """A project whose files nobody has trusted."""
    del maestro.env[ONCE]
    (maestro.cwd / ".maestro").mkdir()
    put(maestro.cwd, SCRIPTS)
    return maestro


def put(folder: Path, scripts: dict[str, str]) -> None:
    (folder / "package.json").write_text(json.dumps({"scripts": scripts}))


def written(maestro: Maestro) -> tuple[AnswerRule, ...]:
    return parse_policy((maestro.cwd / FILE).read_bytes(), FILE).rules


def names(maestro: Maestro) -> list[str]:
    return [rule.name for rule in written(maestro)]


def in_force(maestro: Maestro) -> Found:
    return find_policy("", str(maestro.cwd), maestro.env, maestro.home.root)


def test_yes_takes_what_the_gate_lets_pass_and_is_trusted_at_once(shop: Maestro) -> None:
    done = shop("coordinate", "init", "-y")
    assert done.returncode == 0, done.stderr
    assert names(shop) == [TEST, RUN_TEST, BUILD]
    assert f"Left out: {LINT}. It pushes to a remote. (git push)" in done.stdout
    assert f"  {TEST}\n" in done.stdout
    policy = parse_policy((shop.cwd / FILE).read_bytes(), FILE)
    assert in_force(shop) == (policy, str(shop.cwd / FILE), (), ())
    put(shop.cwd, SCRIPTS | {"test": "vitest run; curl x"})
    found = in_force(shop)
    assert [rule.name for rule in found.policy.rules] == [BUILD]
    assert [rule.name for rule in found.changed] == [TEST, RUN_TEST]


def test_without_a_terminal_the_plain_policy_is_written(shop: Maestro) -> None:
    done = shop("coordinate", "init")
    assert done.returncode == 0, done.stderr
    assert written(shop) == ()
    told = done.stdout.partition("`maestro coordinate init --again -y`:\n")[2]
    assert told.splitlines()[:3] == [f"  {TEST}", f"  {RUN_TEST}", f"  {BUILD}"]
    assert f"Left out: {LINT}." in told
    assert shop("coordinate", "init", "-y").returncode == Conflict.exit_code
    assert shop("coordinate", "init", "--again", "-y").returncode == 0
    assert names(shop) == [TEST, RUN_TEST, BUILD]
    assert len(in_force(shop).policy.rules) == 3


def test_json_asks_nobody(shop: Maestro) -> None:
    told = shop.json("coordinate", "init", "--mode", "cautious")
    assert (told["preset"], told["rules"], len(told["leftOut"])) == ("cautious", [], 4)
    told = shop.json("coordinate", "init", "--again", "--yes")
    assert told["preset"] == "cautious"
    assert [one["command"] for one in told["rules"]] == ["npm test", "npm run test", "npm run build"]
    assert told["rules"][0]["runs"] == "vitest run"
    [left] = told["leftOut"]
    assert (left["name"], left["stopped"]) == (LINT, ["It pushes to a remote. (git push)"])


def test_each_rule_is_confirmed_on_a_terminal(shop: Maestro) -> None:
    code, shown = at_terminal(shop, "y\nwhat\nn\ny\nn\n", "coordinate", "init")
    assert code == 0
    assert "1 of 4: answer “npm test” with Choose 1" in shown
    assert "test, by package.json; it runs:" in shown
    assert "      vitest run" in shown
    assert "the gate would ask you: It pushes to a remote. (git push)" in shown
    assert shown.count("[y] yes") == 5, "what is no answer is asked again"
    assert names(shop) == [TEST, LINT], "a person may take what the gate would stop"
    assert [rule.name for rule in in_force(shop).policy.rules] == [TEST, LINT]


@pytest.mark.parametrize(
    ("typed", "taken"), [("n\na\n", [RUN_TEST, BUILD]), ("y\nq\n", [TEST]), ("\x04", []), ("q\n", [])]
)
def test_all_others_or_no_more(shop: Maestro, typed: str, taken: list[str]) -> None:
    code, _ = at_terminal(shop, typed, "coordinate", "init")
    assert (code, names(shop)) == (0, taken)


def test_a_policy_that_is_there_is_told_before_anybody_is_asked(shop: Maestro) -> None:
    (shop.cwd / FILE).write_text("{}")
    code, shown = at_terminal(shop, "", "coordinate", "init")
    assert (code, "[y] yes" in shown) == (Conflict.exit_code, False)
    assert shop("coordinate", "init", "--again", "-y").returncode == Untrusted.exit_code
    assert (shop.cwd / FILE).read_text() == "{}"


def test_a_changed_script_is_asked_for_again(shop: Maestro) -> None:
    assert shop("coordinate", "init", "-y").returncode == 0
    mine = json.loads((shop.cwd / FILE).read_text())
    mine["rules"].insert(0, {"pattern": "Go on\\?", "answer": "Yes", "name": "mine"})
    (shop.cwd / FILE).write_text(json.dumps(mine))
    assert shop("trust", "-y").returncode == 0
    put(shop.cwd, SCRIPTS | {"test": "vitest run --coverage"})
    done = shop("coordinate", "check", "--json", input='{"kind": "choice", "question": "x"}\n')
    assert done.returncode == 0
    assert "These rules wait until you confirm" in done.stderr
    code, shown = at_terminal(shop, "y\nn\nn\n", "coordinate", "init", "--again")
    assert code == 0
    assert "vitest run --coverage" in shown
    assert "npm run build" not in shown.partition("is written")[0], "what has not changed is not asked"
    assert names(shop) == ["mine", RUN_TEST, BUILD, TEST]
    assert [rule.name for rule in in_force(shop).policy.rules] == ["mine", BUILD, TEST]


def test_for_the_user_there_are_no_rules_of_a_project(shop: Maestro) -> None:
    told = shop.json("coordinate", "init", "--user", "-y")
    assert (told["rules"], told["leftOut"]) == ([], [])
    assert shop("coordinate", "init", "--again").returncode == NotFound.exit_code
    assert shop("coordinate", "init", "--again", "--user").returncode == InvalidInput.exit_code


def test_hostile_files_are_told_and_nothing_runs(shop: Maestro) -> None:
    (shop.cwd / "package.json").write_bytes(b'{"scripts": {"test": "\xff"}}')
    (shop.cwd / "Makefile").write_text(f"X := $(shell touch {shop.cwd}/ran)\ntest:\n\ttouch {shop.cwd}/ran\n")
    (shop.cwd / "pyproject.toml").write_text("[" * 100)
    done = shop("coordinate", "init", "-y")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert "package.json is left out: it is not UTF-8." in done.stdout
    assert "pyproject.toml is left out: it cannot be parsed." in done.stdout
    assert not (shop.cwd / "ran").exists()


def test_an_agent_writes_no_rules(shop: Maestro) -> None:
    refused = shop("coordinate", "init", "-y", env={"MAESTRO_SESSION_ID": "sess_x"})
    assert "An agent may not" in refused.stderr
    assert not (shop.cwd / FILE).exists()
