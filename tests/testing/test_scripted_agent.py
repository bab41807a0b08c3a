"""The scripted agent as a program without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from tests.patience import end_of
from tests.testing.stage import AGENT, Home

from maestro.testing.scripted_agent.transcript import project_folder_name

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"


def test_a_whole_session_is_in_its_transcript(home: Home) -> None:
    script = home.script(
        {"think": "hm"},
        {"say": "On ${task}."},
        {"run": ["sh", "-c", "echo out; echo $0 >&2; pwd", "${task}"]},
        {"run": ["no-such-command"]},
        {"ask": {"question": "Which?", "options": ["A", "B"], "answers": {"B": [{"say": "B then."}]}}},
        {"permission": {"command": "rm x", "result": "gone"}},
        {"wait": True},
        {"say": "You said ${prompt}."},
        {"exit": 5},
    )
    done = home.play(
        script,
        *("--session-id", SESSION, "--prompt", "start", "--set", "task=T-1", "--speed", "0"),
        lines="2\nyes\n\ngo on\n",
    )
    assert (done.returncode, done.stderr) == (5, "")
    assert home.transcripts() == [
        home.config / "projects" / project_folder_name(os.path.realpath(home.project)) / f"{SESSION}.jsonl"
    ]
    records = home.records()
    assert [record.get("operation", record["type"]) for record in records] == [
        *("enqueue", "dequeue", "user", "assistant", "assistant", "assistant", "user"),
        *("assistant", "user", "assistant", "user", "assistant", "assistant", "user", "system"),
        *("enqueue", "dequeue", "user", "assistant", "system"),
    ]
    linked = [record for record in records if "uuid" in record]
    assert [record["parentUuid"] for record in linked] == [None, *(record["uuid"] for record in linked[:-1])]
    assert {record["sessionId"] for record in records} == {SESSION}
    assert home.prompts() == ["start", "go on"]
    assert home.said() == ["On T-1.", "B then.", "You said go on."]
    results = [r["message"]["content"][0] for r in records if r["type"] == "user" and "toolUseResult" in r]
    assert [result["is_error"] for result in results] == [False, True, False, False]
    assert results[0]["content"] == f"out\n{os.path.realpath(home.project)}\nT-1"
    assert results[1]["content"].startswith("Exit code 127\nno-such-command: ")
    assert "● You said go on." in done.stdout.splitlines()


def test_the_same_seed_gives_the_same_ids(home: Home) -> None:
    script = home.script({"say": "hello"})
    found = []
    for name in ("one", "two"):
        config = home.config / name
        assert home.play(script, "--seed", "7", env={"CLAUDE_CONFIG_DIR": str(config)}).returncode == 0
        found.append([path.name for path in config.glob("projects/*/*.jsonl")])
    assert found[0] == found[1] != []


def test_without_a_config_dir_the_home_is_used(home: Home) -> None:
    assert home.play(home.script({"say": "hello"}), env={"CLAUDE_CONFIG_DIR": ""}).returncode == 0
    assert list((home.config.parent / ".claude").glob("projects/*/*.jsonl"))


def test_the_end_of_input_ends_a_waiting_agent(home: Home) -> None:
    done = home.play(home.script({"say": "a"}, {"wait": True}, {"say": "never"}))
    assert done.returncode == 0
    assert home.said() == ["a"]


def test_each_further_line_is_a_prompt(home: Home) -> None:
    done = home.play(home.script(on_prompt=[{"say": "heard ${prompt}"}]), lines="one\ntwo")
    assert done.returncode == 0
    assert home.said() == ["heard one", "heard two"]


def test_the_script_may_come_from_standard_input(home: Home) -> None:
    script = home.script({"say": "hello"})
    done = subprocess.run(
        [*AGENT, "--script", "-"],
        input=script.read_bytes(),
        capture_output=True,
        cwd=home.project,
        env=home.env,
        check=False,
    )
    assert (done.returncode, home.said()) == (0, ["hello"])


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ({"tool": {}}, "steps[1].tool.name is missing."),
        ({"run": ["${nobody}"]}, "steps[1].run[0] uses ${nobody}"),
    ],
)
def test_a_wrong_script_is_refused_before_anything_is_written(
    home: Home, step: dict[str, object], fault: str
) -> None:
    done = home.play(home.script({"say": "fine"}, step), "--prompt", "hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr
    assert done.stderr.count("\n") == 1
    assert not home.config.exists()


def test_a_missing_script_or_folder_is_one_sentence(home: Home) -> None:
    for options in (("--cwd", "nowhere"), ("--script", "nowhere.json")):
        done = home.play(home.script(), *options)
        assert done.returncode == 2
        assert "nowhere" in done.stderr
        assert done.stderr.endswith("No such file or directory.\n")
        assert done.stderr.count("\n") == 1


def test_a_session_id_is_used_once(home: Home) -> None:
    script = home.script({"say": "hello"})
    assert home.play(script, "--session-id", SESSION).returncode == 0
    before = home.records()
    again = home.play(script, "--session-id", SESSION)
    assert again.returncode == 4
    assert "already in use" in again.stderr
    assert home.records() == before


def test_a_reader_that_goes_away_ends_it_quietly(home: Home) -> None:
    with subprocess.Popen(
        [
            *AGENT,
            "--script",
            str(home.script({"say": "a"}, {"say": "b"})),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.env,
        cwd=home.project,
    ) as agent:
        assert agent.stdout is not None
        assert agent.stderr is not None
        agent.stdout.close()
        assert agent.stderr.read() == b""
        assert agent.wait() in {0, 141}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("step", [{"work": 600}, {"wait": True}, {"run": ["sleep", "600"]}])
def test_a_signal_ends_it_and_leaves_whole_lines(home: Home, number: int, step: dict[str, object]) -> None:
    with subprocess.Popen(
        [*AGENT, "--script", str(home.script({"say": "ready"}, step))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=home.env,
        cwd=home.project,
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "● ready\n".encode()
        agent.send_signal(number)
        assert end_of(agent) == 128 + number
    assert home.said() == ["ready"]
