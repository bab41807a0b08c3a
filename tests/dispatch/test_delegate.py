"""`maestro delegate`, as a person or a program runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.dispatch.support import processes_of, script
from tests.patience import end_of, growing, patience, run, told_by
from tests.support import Maestro

from maestro.dispatch.run import mark_of
from maestro.processes import wait_for_end

SCRIPTED = ("--to", "scripted")


def runs(maestro: Maestro) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = maestro.json("delegate", "list")
    return found


def wait_until_said(maestro: Maestro, words: str) -> dict[str, Any]:
    """The newest run, as soon as it has said this."""
    while True:
        for seen in runs(maestro)[:1]:
            stdout = Path(seen["folder"]) / "stdout"
            if stdout.exists() and words.encode() in stdout.read_bytes():
                return seen


def test_an_answer(maestro: Maestro) -> None:
    done = maestro("delegate", "How are you?", *SCRIPTED)
    assert (done.returncode, done.stdout) == (0, "I was asked: How are you?\n")
    assert re.match(r"scripted-\d{6}-[0-9a-f]{4}: success, ", done.stderr)
    [seen] = runs(maestro)
    assert (seen["state"], seen["run"]["mode"], seen["run"]["timeout_s"]) == ("success", "analysis", 300)
    assert Path(seen["folder"]).parent == maestro.cwd.resolve() / ".maestro" / "runs"


def test_no_daemon_is_started_for_it(maestro: Maestro) -> None:
    maestro("delegate", "x", *SCRIPTED)
    assert not Path(maestro.home.daemon_record).exists()


def test_the_prompt_from_stdin_and_from_a_file(maestro: Maestro) -> None:
    assert maestro("delegate", "-", *SCRIPTED, input="by pipe").stdout == "I was asked: by pipe\n"
    (maestro.cwd / "ask.md").write_text("by file")
    assert maestro("delegate", "@ask.md", *SCRIPTED).stdout == "I was asked: by file\n"


def test_a_megabyte(maestro: Maestro) -> None:
    (maestro.cwd / "big.md").write_bytes(b"x" * (1024 * 1024))
    assert maestro("delegate", "@big.md", *SCRIPTED).returncode == 0
    (maestro.cwd / "big.md").write_bytes(b"x" * (1024 * 1024 + 1))
    refused = maestro("delegate", "@big.md", *SCRIPTED)
    assert (refused.returncode, "1048577 bytes" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("step", "code", "status"),
    [
        ({"say": "ok"}, 0, "success"),
        ({"fail": "broken"}, 1, "failed"),
        ({"exit": 0}, 1, "failed"),
        ({"exit": 124}, 1, "failed"),
        ({"write": {"x": "y"}}, 20, "denied"),
        ({"limit": "usage limit reached"}, 21, "limit"),
    ],
)
def test_exit_codes(maestro: Maestro, step: dict[str, Any], code: int, status: str) -> None:
    done = maestro("delegate", script(step, {"say": "end"}), *SCRIPTED, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["status"]) == (code, status)


def test_a_timeout_is_124(maestro: Maestro) -> None:
    steps = script({"ignore": ["TERM"]}, {"leave_apart": 99}, {"say": "half"}, {"sleep": 99})
    for number, seconds in enumerate(growing(1.5)):
        done = maestro("delegate", steps, *SCRIPTED, "--timeout", str(seconds), "--id", f"late-{number}")
        assert done.returncode == 124
        assert f"did not end within {seconds:g} s" in done.stderr
        seen = next(one for one in runs(maestro) if one["run"]["id"] == f"late-{number}")
        assert processes_of(mark_of(seen["folder"])) == []
        if maestro("delegate", "output", seen["run"]["id"]).stdout == "half\n":
            break


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_cancels_cleanly(maestro: Maestro, number: signal.Signals) -> None:
    steps = script({"leave_apart": 99}, {"say": "begun"}, {"sleep": 99})
    process = maestro.start("delegate", steps, *SCRIPTED, "--mode", "write")
    seen = wait_until_said(maestro, "begun")
    process.send_signal(number)
    assert end_of(process) == 130
    [seen] = runs(maestro)
    assert (seen["state"], seen["result"]["text"]) == ("cancelled", "begun")
    assert processes_of(mark_of(seen["folder"])) == []


def test_a_second_ctrl_c_does_not_wait(maestro: Maestro) -> None:
    steps = script({"ignore": ["TERM", "INT"]}, {"say": "deaf"}, {"sleep": 99})
    process = maestro.start("delegate", steps, *SCRIPTED)
    wait_until_said(maestro, "deaf")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert end_of(process) == 130
    assert runs(maestro)[0]["result"]["signal"] == signal.SIGKILL


def test_async_survives_its_caller(maestro: Maestro, place: Path) -> None:
    """Also one whose whole terminal session is gone."""
    words = [
        str(Path(maestro.env["PATH"].split(":")[0]) / "maestro"),
        "delegate",
        "--json",
        "--async",
        *SCRIPTED,
    ]
    go = place / "go"
    waiting = script({"run": ["sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"]}, {"say": "after"})
    caller = run(
        [*words, waiting], env=maestro.env, cwd=maestro.cwd, text=True, check=True,
        start_new_session=True,
    )  # fmt: skip
    told = json.loads(caller.stdout)
    assert runs(maestro)[0]["state"] == "running"
    go.touch()
    done = maestro("delegate", "wait", told["id"])
    assert (done.returncode, done.stdout) == (0, f"{told['id']}: success\n")
    assert maestro("delegate", "output", told["id"]).stdout == "after\n"


def test_cancel_wait_and_tail_of_a_run_in_the_background(maestro: Maestro) -> None:
    steps = script({"leave_apart": 99}, {"say": "one"}, {"say": "two"}, {"sleep": 99})
    run = maestro.json("delegate", steps, *SCRIPTED, "--async")
    tail = maestro.start("delegate", "tail", run["id"])
    wait_until_said(maestro, "two")
    late = maestro("delegate", "wait", run["id"], "--timeout", "0.1")
    assert (late.returncode, "still running" in late.stderr) == (124, True)
    short = run["id"][-4:]
    assert maestro("delegate", "cancel", short).stdout == f"{run['id']}: cancelled\n"
    assert processes_of(mark_of(run["folder"])) == []
    assert maestro("delegate", "wait", run["id"]).returncode == 130
    assert told_by(tail)[0] == "one\ntwo\n"
    assert tail.returncode == 130


def test_a_killed_runner_is_told_as_interrupted(maestro: Maestro) -> None:
    run = maestro.json("delegate", script({"say": "begun"}, {"sleep": 99}), *SCRIPTED, "--async")
    seen = wait_until_said(maestro, "begun")
    pid = seen["run"]["runner"]["pid"]
    os.kill(pid, signal.SIGKILL)
    assert wait_for_end(pid, patience(10))
    assert runs(maestro)[0]["state"] == "interrupted"
    assert maestro("delegate", "wait", run["id"]).returncode == 23
    assert maestro("delegate", "cancel", run["id"]).returncode == 0
    assert processes_of(mark_of(run["folder"])) == []


def test_resume(maestro: Maestro) -> None:
    first = maestro.json("delegate", "one", *SCRIPTED)
    again = maestro.json("delegate", "two", "--resume")
    assert again["session_id"] == first["session_id"]
    by_run = maestro.json("delegate", "three", "--resume", first["id"])
    by_session = maestro.json("delegate", "four", "--resume", first["session_id"])
    assert by_run["session_id"] == by_session["session_id"] == first["session_id"]
    assert [seen["run"]["resume"] for seen in runs(maestro)] == [*[first["session_id"]] * 3, ""]


def test_a_running_session_is_not_resumed(maestro: Maestro) -> None:
    run = maestro.json("delegate", script({"sleep": 99}), *SCRIPTED, "--async")
    refused = maestro("delegate", "two", "--resume", run["id"])
    assert (refused.returncode, "still running" in refused.stderr) == (4, True)
    maestro("delegate", "cancel", run["id"])


def test_rules(maestro: Maestro) -> None:
    known = {rule["name"] for rule in maestro.json("delegate", "rules")}
    assert "analysis-review-code-quality" in known
    folder = maestro.cwd / ".maestro" / "rules"
    folder.mkdir(parents=True)
    (folder / "polite.md").write_text("# Be polite\n\nSay please.")
    assert maestro("delegate", "rules", "polite").stdout.startswith("# Be polite")
    done = maestro("delegate", "Hello", *SCRIPTED, "--rule", "polite")
    assert "Say please.\n\n---\n\nHello" in done.stdout
    missing = maestro("delegate", "x", *SCRIPTED, "--rule", "rude")
    assert (missing.returncode, "polite" in missing.stderr) == (3, True)


def test_bad_input(maestro: Maestro) -> None:
    unknown = maestro("delegate", "x", "--to", "cursor")
    assert (unknown.returncode, "claude, codex, gemini, scripted" in unknown.stderr) == (3, True)
    assert maestro("delegate", "x").returncode == 2
    assert maestro("delegate", "  ", *SCRIPTED).returncode == 2
    assert maestro("delegate", "x", *SCRIPTED, "--timeout", "-1").returncode == 2
    assert maestro("delegate", "x", *SCRIPTED, "--id", "../x").returncode == 2
    assert maestro("delegate", "x", *SCRIPTED, "--cd", "nowhere").returncode == 3
    assert maestro("delegate", "@nofile", *SCRIPTED).returncode == 3
    assert maestro("delegate", "x", *SCRIPTED, "--mode", "fly").returncode == 2
    assert maestro("delegate", "show", "nothing").returncode == 3
    assert maestro("delegate", "x", "--to", "claude").returncode == 3  # not installed here
    outside = maestro("delegate", "x", *SCRIPTED, env={"MAESTRO_STATE_DIR": "../elsewhere"})
    assert (outside.returncode, "MAESTRO_STATE_DIR" in outside.stderr) == (2, True)
    assert runs(maestro) == []


def test_a_word_that_is_a_command_can_still_be_a_prompt(maestro: Maestro) -> None:
    assert maestro("delegate", "run", "list", *SCRIPTED).stdout == "I was asked: list\n"


def test_an_id_of_ones_own_is_used_once(maestro: Maestro) -> None:
    assert maestro("delegate", "x", *SCRIPTED, "--id", "mine").returncode == 0
    again = maestro("delegate", "x", *SCRIPTED, "--id", "mine")
    assert again.returncode == 4


def test_another_state_folder(maestro: Maestro) -> None:
    env = {"MAESTRO_STATE_DIR": ".gemini"}
    assert maestro("delegate", "x", *SCRIPTED, "--id", "one", env=env).returncode == 0
    assert (maestro.cwd / ".gemini" / "runs" / "one" / "result.json").exists()
    assert not (maestro.cwd / ".maestro").exists()


def test_git_does_not_see_the_runs(maestro: Maestro) -> None:
    subprocess.run(["git", "init", "-q"], cwd=maestro.cwd, check=True, env=maestro.env)
    below = maestro.cwd / "src"
    below.mkdir()
    maestro("delegate", "x", *SCRIPTED, cwd=below)
    assert (maestro.cwd / ".maestro" / "runs").is_dir()
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=maestro.cwd, env=maestro.env, capture_output=True, check=True
    )
    assert status.stdout == b""


def test_tools_of_ones_own(maestro: Maestro) -> None:
    Path(maestro.home.root).mkdir()
    Path(maestro.home.path("tools.toml")).write_text(
        'default = "shout"\n[roles]\nloud = "shout"\n'
        '[tools.shout]\ncommand = ["tr", "a-z", "A-Z"]\nmodes = ["analysis"]\n'
        '[tools.claude]\nfallbacks = ["shout"]\n'
    )
    assert maestro("delegate", "hello").stdout == "HELLO\n"
    assert maestro("delegate", "hello", "--to", "loud").stdout == "HELLO\n"
    assert maestro("delegate", "hello", "--to", "shout", "--mode", "write").returncode == 2
    fallen = maestro("delegate", "hello", "--to", "claude")
    assert (fallen.stdout, "shout takes it" in fallen.stderr) == ("HELLO\n", True)
    background = maestro.json("delegate", "quiet", "--async")
    maestro("delegate", "wait", background["id"])
    assert maestro("delegate", "output", background["id"]).stdout == "QUIET\n"


def test_what_an_agent_sets_for_its_children_does_not_reach_a_run(maestro: Maestro) -> None:
    Path(maestro.home.root).mkdir()
    Path(maestro.home.path("tools.toml")).write_text('[tools.env]\ncommand = ["env"]\nmodes = ["analysis"]\n')
    inherited = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "x",
        "CODEX_THREAD_ID": "x",
        "GEMINI_CLI": "1",
        "KEPT": "1",
    }
    seen = maestro("delegate", "x", "--to", "env", env=inherited).stdout
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names & set(inherited) == {"KEPT"}
    assert {"CLAUDE_CONFIG_DIR", "MAESTRO_RUN_ID"} <= names


def test_a_cli_gets_its_own_keys_and_a_program_of_the_persons_own_gets_all(maestro: Maestro) -> None:
    keys = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g", "UNRELATED": "u"}
    programs = maestro.place / "clis"
    programs.mkdir()
    for name in ("claude", "codex", "gemini", "mine"):
        (programs / name).write_text("#!/bin/sh\nenv\n")
        (programs / name).chmod(0o755)
    (maestro.place / "m").mkdir(mode=0o700)
    (maestro.place / "m/tools.toml").write_text('[tools.mine]\ncommand = ["mine"]\nmodes = ["analysis"]\n')
    env = keys | {"PATH": f"{programs}:{maestro.env['PATH']}"}
    found = {}
    for name in ("claude", "codex", "gemini", "mine"):
        maestro("delegate", "x", "--to", name, "--id", name, env=env)
        lines = (maestro.cwd / f".maestro/runs/{name}/stdout").read_text().splitlines()
        found[name] = {line.partition("=")[0] for line in lines} & keys.keys()
    assert found == {
        "claude": {"ANTHROPIC_API_KEY", "UNRELATED"},
        "codex": {"OPENAI_API_KEY", "UNRELATED"},
        "gemini": {"GEMINI_API_KEY", "UNRELATED"},
        "mine": keys.keys(),
    }
