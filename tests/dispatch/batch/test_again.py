"""Agents that are run again: retries, limits, budgets; and batches that go on after any end."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from pathlib import Path

import pytest
from tests.dispatch.batch.conftest import Stage
from tests.dispatch.support import script
from tests.patience import end_of, until
from tests.support import SOAK, some_in_test

pytestmark = pytest.mark.more  # make test-more

KILLS = 100 if SOAK else 2
TIMEOUTS = 200 if SOAK else 3


def text_of(stage: Stage, name: str) -> str:
    return str(json.loads((stage.results / f"{name}.json").read_text())["text"])


def test_a_retry(stage: Stage) -> None:
    stage.write(
        coder="echo x >> tries; [ $(wc -l < tries) -ge 3 ] && echo third; exit 0",
        tester="echo never; exit 4",
    )
    done = stage.run("--retries", "2", "--backoff", "0.1")
    assert done.returncode == 1
    assert (stage.row("coder")["status"], stage.row("coder")["attempts"]) == ("success", 3)
    assert text_of(stage, "coder") == "third"
    assert (stage.row("tester")["status"], stage.row("tester")["attempts"]) == ("failed", 3)
    assert "Dispatching: coder (sh), attempt 3" in done.stdout
    assert sorted(path.name for path in (stage.folder / "runs").glob("tester.*")) == [
        "tester.1",
        "tester.2",
        "tester.3",
    ]


def test_a_limit_holds_its_tool_until_it_resets(stage: Stage) -> None:
    """One agent meets the limit; those of the same tool wait for its end, and then all come off."""
    body = (
        "if [ -e reset ] && [ $(date +%s%N) -ge $(cat reset) ]; then echo fine; exit 0; fi\n"
        "[ -e reset ] && touch early\n"
        "echo $(( $(date +%s%N) + 2000000000 )) > reset; echo usage limit reached, try again in 2 seconds >&2; exit 1"
    )
    stage.write(coder=body, debugger=body, tester=body)
    done = stage.run("--concurrent", "1", "--to", "debugger=other")
    assert done.returncode == 0, done.stdout
    assert not (stage.project / "early").exists(), "one was started before the limit had ended"
    assert [(row["name"], row["attempts"]) for row in stage.summary["agents"]] == [
        ("coder", 2),
        ("debugger", 1),
        ("tester", 1),
    ]
    assert "sh is at a limit; its agents wait until" in done.stdout


def test_a_limit_that_is_too_far_away_ends_the_batch_and_resume_goes_on(stage: Stage) -> None:
    body = "[ -e over ] && { echo fine; exit 0; }; echo usage limit reached, try again in 3 hours >&2; exit 1"
    stage.write(coder=body, tester=body)
    assert stage.run("--concurrent", "1", "--max-wait", "60").returncode == 2
    assert stage.row("coder")["status"] == "limit"
    assert (stage.row("tester")["status"], stage.row("tester")["error"]) == ("not_run", "sh is at a limit.")
    # Not before its time, even if asked again.
    assert stage.run("--concurrent", "1", "--max-wait", "60", "--resume").returncode >= 1
    assert stage.row("coder")["attempts"] == 1
    (stage.project / "over").touch()
    result = stage.folder / "runs" / "coder.1" / "result.json"
    result.write_text(json.dumps(json.loads(result.read_text()) | {"resets_at": 1000}))
    assert stage.run("--concurrent", "1", "--max-wait", "60", "--resume").returncode == 0
    assert [row["status"] for row in stage.summary["agents"]] == ["success", "success"]


def test_a_budget(stage: Stage) -> None:
    steps = script({"say": "done"}, {"usage": {"input": 100, "output": 50, "cost": 0.5}})
    stage.write(a=steps, b=steps, c=steps, d=steps)
    words = ("--to", "scripted", "--concurrent", "1")
    done = stage.run(*words, "--max-tokens", "300")
    assert done.returncode == 2
    assert [row["status"] for row in stage.summary["agents"]] == ["success", "success", "not_run", "not_run"]
    assert "c: NOT RUN (The batch has used 300 tokens; its budget is 300.)" in done.stdout
    usage = stage.summary["token_usage"]
    assert (usage["total_input"], usage["total_output"]) == (200, 100)
    assert usage["by_agent"]["a"] == {"input": 100, "output": 50, "cached": 0}
    assert stage.summary["cost_usd"] == 1.0
    assert stage.run(*words, "--max-cost", "1.5", "--resume").returncode == 1
    assert [row["status"] for row in stage.summary["agents"]] == ["success"] * 3 + ["not_run"]
    assert stage.summary["cost_usd"] == 1.5
    assert stage.run(*words, "--resume").returncode == 0


def test_finished_agents_are_not_run_again(stage: Stage) -> None:
    stage.write(good="echo x >> good; echo fine", bad="echo x >> bad; exit 3")
    assert stage.run().returncode == 1
    (stage.results / "good.exit").unlink()
    (stage.results / "good.json").unlink()
    (stage.results / "summary.json").unlink()
    done = stage.run("--resume")
    assert done.returncode == 1
    assert "Finished before: bad, good" in done.stdout
    assert (stage.project / "good").read_text() == "x\n"
    assert (stage.project / "bad").read_text() == "x\n"
    # What people look for is there again.
    assert (stage.results / "good.exit").read_text() == "0\n"
    assert text_of(stage, "good") == "fine"
    stage.write(bad="echo x >> bad; echo now", new="echo new")
    assert stage.run("--resume", "--failed").returncode == 0
    assert (stage.project / "good").read_text() == "x\n"
    assert (stage.project / "bad").read_text() == "x\nx\n"
    assert [row["status"] for row in stage.summary["agents"]] == ["success"] * 3


def test_a_half_written_result_is_not_finished(stage: Stage) -> None:
    stage.write(coder="echo x >> tries; echo fine")
    assert stage.run().returncode == 0
    result = stage.folder / "runs" / "coder.1" / "result.json"
    result.write_bytes(result.read_bytes()[:40])
    assert stage.run("--resume").returncode == 0
    assert (stage.project / "tries").read_text() == "x\nx\n"
    assert stage.row("coder")["attempts"] == 2
    assert json.loads((stage.results / "coder.json").read_text())["status"] == "success"
    assert len(result.read_bytes()) == 40, "what was found is kept"


def test_what_a_killed_dispatcher_was_about_to_write_is_cleared(stage: Stage) -> None:
    stage.write(coder="echo fine")
    assert stage.run().returncode == 0
    halves = [stage.results / ".coder.exit.123.00ff.tmp", stage.folder / ".batch.json.9.ab12.tmp"]
    for path in halves:
        path.write_text("hal")
    own = stage.results / "notes.tmp"
    own.write_text("of a person")
    assert stage.run("--resume").returncode == 0
    assert not any(path.exists() for path in halves)
    assert own.exists()


def test_an_unreadable_record_stops_the_command_and_is_kept(stage: Stage) -> None:
    stage.write(coder="echo fine")
    assert stage.run().returncode == 0
    (stage.folder / "batch.json").write_text("{")
    done = stage.run("--resume")
    assert done.returncode == 2
    assert "batch.json cannot be read" in done.stderr
    assert (stage.folder / "batch.json").read_text() == "{"


def test_ctrl_c_and_then_resume(stage: Stage) -> None:
    stage.write(
        first="echo done",
        second="touch started; [ -e go ] && { echo done; exit 0; }; sleep 100",
        third="echo done",
    )
    process = stage.start("--concurrent", "1")
    until((stage.project / "started").exists, "the second agent")
    process.send_signal(signal.SIGINT)
    assert end_of(process) == 130
    assert stage.alive() == {}
    assert {row["name"]: row["status"] for row in stage.summary["agents"]} == {
        "first": "success",
        "second": "cancelled",
        "third": "not_run",
    }
    assert stage.summary["was_cancelled"] is True
    refused = stage.run()
    assert refused.returncode == 4
    assert "did not come to its end" in refused.stderr
    (stage.project / "go").touch()
    assert stage.run("--resume").returncode == 0
    assert [row["attempts"] for row in stage.summary["agents"]] == [1, 2, 1]


def test_after_a_kill_what_was_alive_is_ended_and_run_again(stage: Stage) -> None:
    """Also what has left its parents and ignores every signal that can be ignored."""
    deaf = "setsid sh -c 'trap \"\" TERM INT HUP; touch deaf; sleep 300; echo too late > deaf' &"
    stage.write(
        coder=f"echo x >> tries; [ $(wc -l < tries) -ge 2 ] && {{ echo ok; exit 0; }}\n{deaf}\nsleep 300"
    )
    process = stage.start()
    until((stage.project / "deaf").exists, "the agent's child")
    process.kill()
    process.wait()
    assert stage.alive(), "the agent has outlived its dispatcher"
    assert stage.run("--resume").returncode == 0
    assert stage.alive() == {}
    row = stage.row("coder")
    assert (row["status"], row["attempts"]) == ("success", 2)
    assert "of its processes were alive and were ended" in row["found"][0]


def test_a_run_that_came_to_its_end_unseen_is_not_run_again(stage: Stage) -> None:
    """The dispatcher dies, the agent does not: its own words say that it has finished."""
    stage.write(coder=script({"run": ["sh", "-c", "echo x >> tries; while [ ! -e go ]; do sleep 0.05; done"]}, {"say": "all done"}))  # fmt: skip
    process = stage.start("--to", "scripted")
    until((stage.project / "tries").exists, "the agent")
    process.kill()
    process.wait()
    (stage.project / "go").touch()
    until(lambda: not stage.alive(), "the agent's end")
    assert stage.run("--resume").returncode == 0
    assert (stage.project / "tries").read_text() == "x\n"
    row = stage.row("coder")
    assert (row["status"], row["exit_code"], row["attempts"]) == ("success", 0, 1)
    assert row["found"] == ["It came to its end after its dispatcher had died."]
    assert text_of(stage, "coder") == "all done"


def test_a_restart_ends_what_is_left_and_keeps_what_there_is(stage: Stage) -> None:
    stage.write(coder="touch begun; sleep 300")
    process = stage.start()
    until((stage.project / "begun").exists, "the agent")
    process.kill()
    process.wait()
    stage.write(coder="echo anew")
    assert stage.run("--restart").returncode == 0
    assert stage.alive() == {}
    assert text_of(stage, "coder") == "anew"
    assert (stage.folder / "earlier" / "1" / "runs" / "coder.1" / "found.json").exists()


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", some_in_test(range(KILLS)))
def test_killed_at_any_moment(stage: Stage, seed: int) -> None:
    """kill -9 of the dispatcher at a random moment, then --resume, which may be killed as well."""
    chance = random.Random(seed)
    names = [f"agent-{number}" for number in range(6)]
    body = "echo begin >> log-{0}; sleep 0.{1}; echo end >> log-{0}; echo result of {0}"
    stage.write_files({f"{name}.txt": body.format(name, chance.randint(0, 9)) for name in names})
    words: tuple[str, ...] = ()
    for _ in range(chance.randint(1, 3)):
        process = stage.start("--concurrent", "3", *words)
        try:
            process.wait(chance.uniform(0.2, 2.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        words = ("--resume",)
    done = stage.run("--concurrent", "3", "--resume", timeout=120)
    assert done.returncode == 0, done.stderr
    assert stage.alive() == {}
    assert stage.summary["batch_status"] == "success"
    assert [row["name"] for row in stage.summary["agents"]] == names
    for name in names:
        ends = (stage.project / f"log-{name}").read_text().split().count("end")
        row = stage.row(name)
        assert ends >= 1
        assert ends == 1 or row["found"], f"{name} came to its end {ends} times, and nobody says why"
        assert row["attempts"] == len(row["found"]) + 1
        assert text_of(stage, name) == f"result of {name}"
        assert (stage.results / f"{name}.exit").read_text() == "0\n"
    assert (stage.folder / "results").is_dir()
    assert not list(Path(stage.results).glob("*.tmp"))


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_timeouts_leave_nothing_alive(stage: Stage) -> None:
    """Children that ignore signals, and children in sessions of their own, whose parents are gone."""
    bodies = [
        "trap '' TERM INT HUP; sleep 300",
        "setsid sh -c \"trap '' TERM INT HUP; sleep 300\" & sleep 300",
        "(setsid sh -c \"trap '' TERM; sleep 300 & sleep 300\" &) ; trap '' TERM; sleep 300",
        "(setsid setsid sleep 300 &); sleep 300 & wait",
    ]
    stage.write_files({f"agent-{n}.txt": bodies[n % len(bodies)] for n in range(TIMEOUTS)})
    done = stage.run("--timeout", "1", "--concurrent", "10", timeout=3600)
    until(lambda: stage.alive() == {}, "the end of all", seconds=5)
    assert done.returncode == min(TIMEOUTS, 100)
    assert {(row["status"], row["exit_code"]) for row in stage.summary["agents"]} == {("timeout", 124)}
    assert {path.read_text() for path in stage.results.glob("*.exit")} == {"124\n"}
