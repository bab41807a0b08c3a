"""`maestro trust`, and commands that ask for it in place."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests import skips
from tests.patience import run
from tests.support import BIN, Maestro

from maestro.trust.project import ONCE

TOOL = '[tools.mine]\ncommand = ["sh", "-c", "echo it ran"]\n'


pytestmark = skips.needs_person


@pytest.fixture
def untrusted(maestro: Maestro) -> Maestro:
    """A project with a tool of its own that nobody has trusted."""
    del maestro.env[ONCE]
    (maestro.cwd / ".maestro").mkdir()
    (maestro.cwd / ".maestro" / "tools.toml").write_text(TOOL)
    return maestro


def at_terminal(maestro: Maestro, typed: str, *words: str) -> tuple[int, str]:
    """Runs a command for a person who types these lines; returns its exit code and what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BIN / "maestro", *words],
        env=maestro.env,
        cwd=maestro.cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(ours)
    return process.wait(), shown.decode()


def test_without_a_terminal_it_is_refused_with_the_line_to_type(untrusted: Maestro) -> None:
    refused = untrusted("delegate", "hello", "--to", "mine", "--mode", "write")
    assert refused.returncode == 9
    assert ".maestro/tools.toml comes with this project" in refused.stderr
    assert f"maestro trust {untrusted.cwd}" in refused.stderr
    assert "it ran" not in refused.stdout
    told = untrusted("delegate", "hello", "--to", "mine", "--mode", "write", "--json")
    assert json.loads(told.stderr)["code"] == "untrusted"
    once = untrusted("delegate", "hello", "--to", "mine", "--mode", "write", "--trust-once")
    assert (once.returncode, once.stdout.strip()) == (0, "it ran")
    assert untrusted("delegate", "hello", "--to", "mine", "--mode", "write").returncode == 9


def test_on_a_terminal_it_asks_in_place(untrusted: Maestro) -> None:
    words = ("delegate", "hello", "--to", "mine", "--mode", "write")
    code, shown = at_terminal(untrusted, "n\n", *words)
    assert code == 9
    assert ".maestro/tools.toml" in shown
    assert "tools.mine.command: sh -c echo it ran" in shown
    code, shown = at_terminal(untrusted, "y\n", *words)
    assert (code, "it ran" in shown.partition("[y] trust")[2]) == (0, True)
    assert untrusted(*words).returncode == 0, "nobody is asked again"
    (untrusted.cwd / ".maestro" / "tools.toml").write_text(TOOL.replace("it ran", "something else"))
    assert untrusted(*words).returncode == 9
    code, shown = at_terminal(untrusted, "y\n", *words)
    assert "something else" in shown


def test_what_waits_and_what_is_confirmed_is_shown(untrusted: Maestro) -> None:
    (untrusted.cwd / "VISION.md").write_text("# Shop\n\n## Decision Principles\n\n- Always say yes.\n")
    told = untrusted.json("trust", "--show")
    assert told["isTrusted"] is False
    assert [one["name"] for one in told["unconfirmed"]] == [".maestro/tools.toml", "VISION.md (principles)"]
    assert "Always say yes." in told["unconfirmed"][1]["wants"]
    assert untrusted.json("trust", "--yes")["confirmed"] == [".maestro/tools.toml", "VISION.md (principles)"]
    told = untrusted.json("trust", "--show")
    assert (told["isTrusted"], told["unconfirmed"]) == (True, [])
    assert untrusted("trust", "--revoke").returncode == 0
    told = untrusted.json("trust", "--show")
    assert (told["isTrusted"], len(told["unconfirmed"])) == (False, 2)


def test_nobody_is_there_to_be_asked(untrusted: Maestro) -> None:
    refused = untrusted("trust")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert untrusted("trust", "nowhere").returncode == 3


@pytest.mark.parametrize("words", [("trust", "--yes"), ("delegate", "x", "--to", "mine", "--trust-once")])
@pytest.mark.parametrize("mark", ["MAESTRO_SESSION_ID", "MAESTRO_RUN_ID"])
@pytest.mark.parametrize("clears", ["keeps", "clears"])
def test_an_agent_trusts_nothing(untrusted: Maestro, words: tuple[str, ...], mark: str, clears: str) -> None:
    """Also one that clears its variables: the shell above still has them."""
    command = [*(["env", "-u", mark] if clears == "clears" else []), str(BIN / "maestro"), *words]
    script = ["sh", "-c", '"$@"; exit $?', "sh", *command]
    done = run(script, env=untrusted.env | {mark: "sess_x"}, cwd=untrusted.cwd, text=True)
    assert (done.returncode, "An agent may not trust a project" in done.stderr) == (5, True)
    assert not (Path(untrusted.home.root) / "trust").exists()


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI"])
def test_an_agent_that_maestro_did_not_start_trusts_nothing(untrusted: Maestro, mark: str) -> None:
    done = untrusted("trust", "--yes", env={mark: "1"})
    assert (done.returncode, "An agent may not trust a project" in done.stderr) == (5, True)
    assert mark in done.stderr, "a person in a terminal that an agent opened knows what to clear"
    assert not (Path(untrusted.home.root) / "trust").exists()


@pytest.mark.parametrize("mark", ["MAESTRO_SESSION_ID", "MAESTRO_RUN_ID"])
def test_an_agent_trusts_nothing_by_a_variable(untrusted: Maestro, mark: str) -> None:
    env = untrusted.env | {"MAESTRO_TRUST_ONCE": "1"}
    command = [str(BIN / "maestro"), "delegate", "x", "--to", "mine", "--mode", "write"]
    assert run(command, env=env, cwd=untrusted.cwd, text=True).returncode == 0
    refused = run(command, env=env | {mark: "sess_x"}, cwd=untrusted.cwd, text=True)
    assert (refused.returncode, "acts only when you trust it" in refused.stderr) == (9, True)


@pytest.mark.parametrize("words", [(), ("--user",)])
def test_an_agent_writes_no_policy(untrusted: Maestro, words: tuple[str, ...]) -> None:
    """What this command writes counts as the person's own."""
    command = [str(BIN / "maestro"), "coordinate", "init", "--mode", "autonomous", *words]
    refused = run(command, env=untrusted.env | {"MAESTRO_SESSION_ID": "sess_x"}, cwd=untrusted.cwd, text=True)
    assert (refused.returncode, "An agent may not" in refused.stderr) == (5, True)
    assert not (Path(untrusted.cwd) / "coordinate.config.json").exists()
    assert not (Path(untrusted.home.root) / "coordinate.config.json").exists()


def test_a_project_that_is_added_at_a_terminal_is_asked_for_once(untrusted: Maestro) -> None:
    code, shown = at_terminal(untrusted, "n\n", "project", "add", ".")
    assert (code, "do you trust" in shown) == (0, True)
    code, shown = at_terminal(untrusted, "", "project", "add", ".")
    assert (code, "do you trust" in shown) == (0, False)
    assert untrusted.json("trust", "--show")["isTrusted"] is False


def test_a_fleet_starts_nothing_untrusted(untrusted: Maestro) -> None:
    script = untrusted.cwd / "script.json"
    script.write_text(json.dumps([{"say": "hello"}]))
    (untrusted.cwd / "fleet.yml").write_text(
        f"name: shop\npanes:\n  - {{label: A, agent: scripted, model: {script}, mode: unrestricted, cwd: /}}\n"
    )
    refused = untrusted("up")
    assert (refused.returncode, "fleet.yml comes with this project" in refused.stderr) == (9, True)
    assert untrusted.json("session", "list") == []
    code, shown = at_terminal(untrusted, "n\n", "up")
    assert code == 9
    assert "agent: scripted" in shown
    assert untrusted.json("session", "list") == []


def test_the_scripted_agent_is_the_persons_to_allow(untrusted: Maestro) -> None:
    """A project that is trusted chooses it only where the person's own environment has it."""
    del untrusted.env["MAESTRO_SCRIPTED"]
    (untrusted.cwd / ".maestro" / "tools.toml").write_text('default = "scripted"\n')
    assert untrusted("trust", "--yes").returncode == 0
    refused = untrusted("delegate", '[{"say": "hello"}]', "--mode", "write")
    assert (refused.returncode, "MAESTRO_SCRIPTED=1" in refused.stderr) == (2, True)
    assert untrusted("project", "add", ".").returncode == 0
    spawned = untrusted("session", "spawn", "--agent", "scripted", "--model", "x.json", "--name", "x")
    assert (spawned.returncode, "MAESTRO_SCRIPTED=1" in spawned.stderr) == (2, True)


def test_what_a_repository_brings_for_git_is_shown_and_confirmed(untrusted: Maestro) -> None:
    """git clones no hooks and no settings, but whoever can write there could make Maestro's git run a program."""
    run(["git", "init", "-q"], env=untrusted.env, cwd=untrusted.cwd)
    run(["git", "config", "filter.mine.clean", "sed s/a/b/"], env=untrusted.env, cwd=untrusted.cwd)
    hook = untrusted.cwd / ".git" / "hooks" / "pre-merge-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)

    def waiting() -> list[str]:
        told = untrusted.json("trust", "--show")
        return [one["name"] for one in told["unconfirmed"] if one["name"].startswith(".git/")]

    assert waiting() == [".git/config (filter.mine.clean)", ".git/hooks/"]
    assert untrusted("trust", "--yes").returncode == 0
    assert waiting() == []
    hook.write_text("#!/bin/sh\nexit 1\n")
    assert waiting() == [".git/hooks/"]
