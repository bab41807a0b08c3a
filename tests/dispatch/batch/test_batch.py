"""A batch point by point: layout, names, variables, results, statuses, exit codes and messages."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from tests.dispatch.batch.conftest import Stage
from tests.patience import end_of, patience, until


def test_two_agents_two_files(repository: Stage) -> None:
    """The proof that the original system brought: two agents, each writes the time into its own file."""
    stage = repository
    agents = stage.project / ".maestro" / "agents"
    agents.mkdir(parents=True)
    for name in ("agent-a", "agent-b"):
        (agents / f"{name}.md").write_text("---\nname: x\n---\nAn agent.\n")
    stage.write(
        agent_a="date +%s%N > src/file-a.txt; echo wrote; echo seen >&2",
        agent_b="date +%s%N > src/file-b.txt; echo wrote",
    )
    done = stage.run(known_only=True, env={"MAESTRO_AGENT_TIMEOUT": "5"})
    assert done.returncode == 0, done.stderr
    for name in ("a", "b"):
        assert re.fullmatch(r"\d+\n", (stage.project / "src" / f"file-{name}.txt").read_text())
    summary = stage.summary
    assert {key: summary[key] for key in ("batch_status", "total_agents", "succeeded", "failed")} == {
        "batch_status": "success",
        "total_agents": 2,
        "succeeded": 2,
        "failed": 0,
    }
    assert isinstance(summary["wall_time_seconds"], int)
    assert [(row["name"], row["exit_code"], row["status"]) for row in summary["agents"]] == [
        ("agent-a", 0, "success"),
        ("agent-b", 0, "success"),
    ]
    assert {path.name for path in stage.results.iterdir()} == {
        *(f"agent-{x}.{kind}" for x in "ab" for kind in ("json", "exit", "log")),
        "summary.json",
    }
    assert json.loads((stage.results / "agent-a.json").read_text())["text"] == "wrote"
    assert (stage.results / "agent-a.log").read_text() == "seen\n"
    assert (stage.results / "agent-a.exit").read_text() == "0\n"
    assert "Dispatching: agent-a" in done.stdout
    assert "agent-b: SUCCESS (exit 0)" in done.stdout
    # Both ran side by side, each named its own file: no conflict is made up.
    assert summary["file_conflicts"] == []
    assert stage.row("agent-a")["files_changed"] == ["src/file-a.txt"]
    assert stage.row("agent-b")["files_changed"] == ["src/file-b.txt"]


def test_statuses_and_exit_codes(stage: Stage) -> None:
    stage.write(
        good="echo yes",
        by_itself="echo partly; exit 124",
        silent="true",
        broken="echo no >&2; exit 3",
        killed="kill -9 $$",
        slow="echo begun; sleep 600",
        limited="echo usage limit reached >&2; exit 1",
    )
    # The others have to end by then.
    limit = math.ceil(patience(3))
    done = stage.run("--timeout", str(limit), "--max-wait", "0", timeout=60 + limit)
    assert done.returncode == 6
    found = {row["name"]: (row["status"], row["exit_code"]) for row in stage.summary["agents"]}
    assert found == {
        "good": ("success", 0),
        "by-itself": ("failed", 124),
        "silent": ("failed", 1),
        "broken": ("failed", 3),
        "killed": ("failed", 137),
        "slow": ("timeout", 124),
        "limited": ("limit", 1),
    }
    for name, (_, code) in found.items():
        assert (stage.results / f"{name}.exit").read_text() == f"{code}\n"
    assert stage.row("silent")["error"] == "It ended with exit code 0 and said nothing."
    assert json.loads((stage.results / "slow.json").read_text())["text"] == "begun"
    assert stage.summary["batch_status"] == "partial_failure"
    types = {error["agent"]: error["type"] for error in stage.summary["errors"]}
    assert (types["slow"], types["broken"], types["limited"]) == ("timeout", "runtime", "quota")
    shown = f"{limit}s" if limit < 60 else f"{limit / 60:g}m"  # on a machine that is very slow just now
    assert f"slow: TIMEOUT (exceeded {shown})" in done.stdout
    assert "broken: FAILED (exit 3)" in done.stdout


@pytest.mark.more
def test_256_failures_do_not_look_like_success(stage: Stage) -> None:
    stage.write_files({f"agent-{number}.txt": "exit 1" for number in range(256)})
    done = stage.run("--concurrent", "16", timeout=240)
    assert done.returncode == 100
    assert stage.summary["failed"] == 256


def test_names_do_not_collide(stage: Stage) -> None:
    stage.write_files(
        {
            "a.b.txt": "echo dotted",
            "ab.txt": "echo plain",
            "ab-2.txt": "echo two",
            "summary.txt": "echo mine",
        }
    )
    assert stage.run().returncode == 0
    texts = {row["name"]: json.loads((stage.results / f"{row['name']}.json").read_text())["text"] for row in stage.summary["agents"]}  # fmt: skip
    assert texts == {"ab": "plain", "ab-2": "two", "ab-3": "dotted", "summary-2": "mine"}
    assert stage.summary["total_agents"] == 4


def test_two_prompts_for_one_agent(stage: Stage) -> None:
    stage.write_files({"coder.txt": "echo 0", "coder.api.txt": "echo 1", "co.der.txt": "echo 2"})
    assert stage.run(known_only=True).returncode == 0
    assert {(row["name"], row["agent"]) for row in stage.summary["agents"]} == {
        ("coder", "coder"),
        ("coder-api", "coder"),
        ("coder-2", "coder"),
    }


def test_underscores_are_dashes_in_the_roster(stage: Stage) -> None:
    stage.write_files({"code_reviewer.txt": "echo fine"})
    assert stage.run(known_only=True).returncode == 0
    assert stage.row("code_reviewer")["status"] == "success"


def test_every_prompt_begins_with_the_project_root(stage: Stage) -> None:
    stage.write(coder='cat "$1"')
    assert stage.run().returncode == 0
    text = json.loads((stage.results / "coder.json").read_text())["text"]
    first, second, third, rest = text.split("\n", 3)
    assert first == f"PROJECT ROOT: {stage.project.resolve()}"
    assert "relative to this directory" in second
    assert (third, rest) == ("", 'cat "$1"')


def test_a_prompt_of_1_mb(stage: Stage) -> None:
    stage.write_files({"coder.txt": b"wc -c < $1; exit 0\n" + b"#" * (1024 * 1024 - 19)})
    assert stage.run().returncode == 0
    assert int(json.loads((stage.results / "coder.json").read_text())["text"]) > 1024 * 1024


@pytest.mark.parametrize(
    ("prompts", "words", "code"),
    [
        (None, "No prompts directory found at", 3),
        ({}, "No prompt files found in", 2),
        ({"coder.txt": " \n\t\n"}, "Prompt file coder is empty or whitespace-only", 2),
        ({"coder.txt": b"x" * (1024 * 1024 + 1)}, "Prompt file coder exceeds 1MB size limit (1048577 bytes)", 2),
        ({"wizard.txt": "echo"}, "Agent 'wizard' not found. Available agents: api-designer, architect, code-reviewer", 3),
        ({"...txt": "echo"}, "No prompt files found", 2),
        ({"§.txt": "echo"}, "Prompt file §.txt produces an empty agent name after sanitization", 2),
        ({"coder.md": "echo"}, "Prompt file coder.md in", 2),
    ],
)  # fmt: skip
def test_bad_prompts(stage: Stage, prompts: dict[str, str | bytes] | None, words: str, code: int) -> None:
    if prompts is not None:
        stage.write_files(prompts)
    done = stage.run(known_only=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert not stage.results.exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MAESTRO_AGENT_TIMEOUT", "0", "must be a positive integer (got: 0)"),
        ("MAESTRO_AGENT_TIMEOUT", "1minutes", "must be a positive integer (got: 1minutes)"),
        ("MAESTRO_AGENT_TIMEOUT", "-5", "must be a positive integer (got: -5)"),
        ("MAESTRO_AGENT_TIMEOUT", "99999999", "must be at most"),
        ("MAESTRO_MAX_CONCURRENT", "2workers", "must be a non-negative integer (got: 2workers)"),
        ("MAESTRO_MAX_CONCURRENT", "٣", "must be a non-negative integer (got: ٣)"),
        ("MAESTRO_STAGGER_DELAY", "5s", "must be a non-negative integer (got: 5s)"),
        ("MAESTRO_STAGGER_DELAY", "9" * 6000, "must be a non-negative integer"),
        ("MAESTRO_CLEANUP_DISPATCH", "maybe", "must be true or false (got: maybe)"),
    ],
)
def test_bad_variables(stage: Stage, name: str, value: str, words: str) -> None:
    stage.write(coder="echo")
    done = stage.run(env={name: value})
    assert done.returncode == 2
    assert f"{name} {words}" in done.stderr
    assert not stage.results.exists()


def test_variables(stage: Stage) -> None:
    stage.write(coder="echo $(($(date +%s%N) / 1000000))", tester="echo $(($(date +%s%N) / 1000000))")
    env = {
        "MAESTRO_STAGGER_DELAY": "001",
        "MAESTRO_MAX_CONCURRENT": "0",
        "MAESTRO_CLEANUP_DISPATCH": "true",
        "MAESTRO_AGENT_TIMEOUT": "90",
    }
    words = ["dispatch", str(stage.folder), "--engine", stage.engine]
    done = stage.maestro(*words, env=env)
    assert done.returncode == 0, done.stderr
    assert "WARNING: Agent timeout set to 90 minutes (over 1 hour)." in done.stdout
    first, second = (
        int(json.loads((stage.results / f"{name}.json").read_text())["text"]) for name in ("coder", "tester")
    )
    assert second - first >= 1000 - 200  # the second start is a second after the first
    assert not (stage.folder / "prompts").exists()
    kept = stage.folder / "runs" / "coder.1" / "prompt.md"
    assert kept.read_text().endswith("echo $(($(date +%s%N) / 1000000))")
    again = stage.maestro(*words, "--resume", env=env)
    assert again.returncode == 0, again.stderr


def test_at_most_so_many_at_once(stage: Stage) -> None:
    """Each agent notes how many run at the moment; with two places it is never a third."""
    (stage.project / "now").mkdir()
    body = "touch now/$$; ls now | wc -l; sleep 0.2; rm now/$$"
    stage.write_files({f"agent-{number}.txt": body for number in range(8)})
    assert stage.run("--concurrent", "2").returncode == 0
    seen = [int(json.loads(path.read_text())["text"]) for path in stage.results.glob("agent-*.json")]
    assert len(seen) == 8
    assert max(seen) <= 2


def test_a_tool_for_all_and_for_one(stage: Stage) -> None:
    agents = Path(stage.maestro.env["MAESTRO_HOME"]) / "agents"
    agents.mkdir()
    (agents / "writer.md").write_text("---\ncli: other\nmodel: small\n---\n")
    stage.write(coder="echo sh", tester="echo sh", writer="echo sh")
    assert stage.run("--to", "tester=other", known_only=True).returncode == 0
    assert [(row["name"], row["tool"]) for row in stage.summary["agents"]] == [
        ("coder", "sh"),
        ("tester", "other"),
        ("writer", "other"),
    ]
    assert json.loads((stage.results / "writer.json").read_text())["text"] == "other tool, model small"
    override = stage.run("--to", "other", known_only=True, env={"MAESTRO_DEFAULT_MODEL": "big"})
    assert override.returncode == 0
    assert json.loads((stage.results / "writer.json").read_text())["text"] == "other tool, model big"
    assert [row["tool"] for row in stage.summary["agents"]] == ["other"] * 3


def test_a_tool_that_is_not_installed(stage: Stage) -> None:
    """Its fallback takes over, with the time that its own file gives it; without one nothing begins."""
    more = (
        '[tools.absent]\ncommand = ["no-such-program"]\nfallbacks = ["quick"]\n'
        '[tools.quick]\ncommand = ["sleep", "60"]\ntimeout = 1\n'
        '[tools.alone]\ncommand = ["no-such-program"]\n'
    )
    with (Path(stage.maestro.env["MAESTRO_HOME"]) / "tools.toml").open("a") as file:
        file.write(more)
    stage.write(coder="echo")
    done = stage.run("--to", "alone")
    assert done.returncode == 3
    assert "no-such-program is not on PATH." in done.stderr
    assert not stage.results.exists()
    done = stage.run("--to", "absent")
    assert "coder: TIMEOUT (exceeded 1s)" in done.stdout
    assert stage.row("coder")["tool"] == "quick"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "wizard"), "There is no tool “wizard”."),
        (("--to", "nobody=sh"), "No prompt is for “nobody”"),
        (("--apply",), "--apply merges what --isolate worktree kept apart."),
        (("--isolate", "worktree"), "is not in a git repository"),
        (("--retries", "often"), "does not say how often"),
        (("--retries", "success=1"), "does not say how often"),
        (("--timeout", "0"), "A timeout of 0 s is not possible."),
        (("--timeout", "nan"), "--timeout must not be nan."),
        (("--max-cost", "-1"), "--max-cost must not be -1."),
        (("--resume", "--restart"), "exclude each other"),
        (("--failed",), "--failed goes with --resume."),
        (("--cd", "nowhere"), "There is no folder"),
    ],
)
def test_bad_options(stage: Stage, words: tuple[str, ...], said: str) -> None:
    stage.write(coder="echo")
    done = stage.run(*words)
    assert done.returncode in {2, 3}
    assert said in done.stderr
    assert not stage.results.exists()


def test_json(stage: Stage) -> None:
    stage.write(coder="echo one")
    done = stage.run("--json")
    assert json.loads(done.stdout) == stage.summary


def test_two_batches_in_one_folder(stage: Stage) -> None:
    stage.write(coder="mkfifo wait; cat wait; echo done")
    first = stage.start()
    until((stage.project / "wait").exists)
    for words in ((), ("--resume",), ("--restart",)):
        second = stage.run(*words)
        assert second.returncode == 4
        assert f"A batch is running in {stage.folder} (pid {first.pid})." in second.stderr
    (stage.project / "wait").write_text("")
    assert end_of(first) == 0
    assert stage.row("coder")["status"] == "success"


def test_a_new_batch_keeps_the_results_of_the_last(stage: Stage) -> None:
    stage.write(coder="echo one")
    assert stage.run().returncode == 0
    stage.write(coder="echo two")
    assert stage.run().returncode == 0
    assert json.loads((stage.results / "coder.json").read_text())["text"] == "two"
    earlier = stage.folder / "earlier" / "1"
    assert json.loads((earlier / "results" / "coder.json").read_text())["text"] == "one"


def test_attempts_without_a_record_are_kept(stage: Stage) -> None:
    stage.write(coder="echo one")
    assert stage.run().returncode == 0
    (stage.folder / "batch.json").unlink()
    stage.write(coder="echo two")
    assert stage.run().returncode == 0
    kept = stage.folder / "earlier" / "1" / "runs" / "coder.1" / "result.json"
    assert json.loads(kept.read_text())["text"] == "one"


def test_events_of_a_daemon_that_is_up(stage: Stage) -> None:
    stage.write(coder="echo one", tester="exit 1")
    assert stage.run().returncode == 1
    assert not Path(stage.maestro.home.socket).exists(), "a batch starts no daemon"
    stage.maestro.json("project", "add", ".")
    stage.write(coder="echo one", tester="exit 1")
    assert stage.run().returncode == 1
    events = [
        e for e in stage.maestro.daemon.call("GET", "/api/events")["events"] if e["kind"].startswith("batch.")
    ]
    assert [event["kind"] for event in events] == ["batch.started", "batch.ended"]
    assert events[1]["data"]["failed"] == 1


def test_a_record_does_not_lead_out_of_its_project(stage: Stage) -> None:
    """A repository may bring a batch that names a folder above itself, such as the person's home."""
    (stage.project / ".maestro").mkdir(exist_ok=True)
    stage.folder = stage.project / "brought"
    stage.write(coder="touch here")
    record = {"id": "batch_01", "root": str(stage.project.parent), "mode": "write", "started_at": 1}
    agent = {"name": "coder", "agent": "coder", "prompt": "coder.txt", "tool": "sh"}
    (stage.folder / "batch.json").write_text(json.dumps(record | {"agents": [agent]}))
    refused = stage.run("--resume")
    assert (refused.returncode, "The batch was begun in" in refused.stderr) == (2, True)
    assert not (stage.project.parent / "here").exists()
