"""`maestro hook`: it reaches the daemon, or keeps what it has; it never fails, and never delays an agent."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hooks.stage import Stage
from tests.patience import end_of, run, until

from maestro.agents.hook_command import _LAUNCHER, hook_command
from maestro.home import locate
from maestro.server import lifecycle


def test_it_is_delivered_and_the_answer_printed(listening: Stage) -> None:
    assert listening.run({"a": "é", "answer": '{"ok": 1}'}, "SessionStart") == b'{"ok": 1}'
    assert listening.run({"a": 2}) == b""
    first, second = listening.hears(2)
    assert (first["agent"], first["event"], first["payload"]["a"]) == ("claude", "SessionStart", "é")
    assert (second["session"], second["waits"]) == (None, False)
    assert second["at"] >= first["at"] > 1_700_000_000_000
    assert listening.kept == []


def test_the_command_is_the_same(listening: Stage) -> None:
    done = listening.maestro("hook", "claude", "Stop", "--wait", input='{"answer": "yes"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, "yes", "")
    assert listening.heard[0]["waits"] is True


def session_env(stage: Stage) -> tuple[str, dict[str, str]]:
    stage.maestro("project", "add", ".")
    made = stage.maestro.daemon.call(
        "POST", "/api/sessions", {"agent": "claude", "directory": str(stage.maestro.cwd)}
    )
    session = made["session"]["id"]
    return session, stage.maestro.env | {
        "MAESTRO_SESSION_ID": session,
        "MAESTRO_SESSION_TOKEN": made["token"],
    }


def test_a_session_speaks_for_itself_only(listening: Stage) -> None:
    one, env = session_env(listening)
    other, _ = session_env(listening)
    listening.run({"n": 1}, env=env)
    assert (
        listening.run({"n": 2, "answer": "x"}, "SessionStart", env=env | {"MAESTRO_SESSION_ID": other}) == b""
    )
    assert (
        listening.run({"n": 3, "answer": "x"}, "SessionStart", env=env | {"MAESTRO_SESSION_TOKEN": "wrong"})
        == b""
    )
    env.pop("MAESTRO_SESSION_ID")
    listening.run({"n": 4}, env=env)
    assert [(told["payload"]["n"], told["session"]) for told in listening.hears(2)] == [(1, one), (4, one)]
    assert listening.kept == []


def test_it_needs_no_variable_but_its_home(listening: Stage) -> None:
    assert (
        listening.run({"answer": "here"}, "SessionStart", env={"MAESTRO_HOME": listening.home.root})
        == b"here"
    )


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_it_finds_the_home_as_every_command_does(stage: Stage, variable: str) -> None:
    env = {variable: str(stage.maestro.place)}
    root = locate(env).root
    Path(root, "spool").mkdir(parents=True)
    stage.maestro.env["MAESTRO_HOME"] = root
    again = Stage(stage.maestro)
    again.forbid_start()
    again.run({"n": 1}, env=env)
    assert len(again.kept) == 1


def test_without_a_daemon_it_is_kept_and_heard_later_once(stage: Stage) -> None:
    stage.forbid_start()
    for number in range(3):
        assert (
            stage.run(
                {"n": number, "answer": "too late"}, env=stage.maestro.env | {"MAESTRO_SESSION_ID": "sess_x"}
            )
            == b""
        )
    stage.run({"n": 3}, "PermissionRequest", wait=True)
    assert len(stage.kept) == 4
    assert {path.stat().st_mode & 0o777 for path in stage.kept} == {0o600}
    assert stage.spool.stat().st_mode & 0o777 == 0o700
    stage.listen()
    assert [told["payload"]["n"] for told in stage.heard] == [0, 1, 2, 3]
    assert [told["session"] for told in stage.heard] == ["sess_x"] * 3 + [None]
    assert not any(told["waits"] for told in stage.heard)
    assert stage.heard[0]["at"] < stage.heard[3]["at"]
    assert stage.kept == []
    stage.kill_daemon()
    stage.listen()
    assert len(stage.heard) == 4


def test_it_starts_a_daemon_of_its_own(stage: Stage) -> None:
    """From a folder and with variables that could mislead it."""
    trap = stage.maestro.cwd
    (trap / "json.py").write_text("raise SystemExit('the wrong json')")
    (trap / "maestro").mkdir()
    assert stage.run({"n": 1}, env=stage.maestro.env | {"PYTHONPATH": str(trap), "CLAUDECODE": "1"}) == b""
    until(lambda: lifecycle.read_record(stage.home), "a daemon")
    record = lifecycle.read_record(stage.home)
    assert record
    assert lifecycle.is_alive(record)
    assert stage.kept == []
    environment = Path(f"/proc/{record['pid']}/environ").read_bytes()
    assert b"CLAUDECODE" not in environment
    assert os.getsid(record["pid"]) == record["pid"]


def test_a_dead_daemon_is_started_seldom(stage: Stage) -> None:
    stage.forbid_start()
    for number in range(3):
        stage.run({"n": number})
    assert not lifecycle.is_running(stage.home)
    assert not os.path.exists(stage.home.start_lock)


def test_a_daemon_that_hangs_does_not_hold_the_agent(stage: Stage) -> None:
    stage.forbid_start()
    pid = stage.listen()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert stage.run({"n": 1, "answer": "x"}, "SessionStart") == b""
        assert len(stage.kept) == 1
    finally:
        os.kill(pid, signal.SIGCONT)
    # The next one brings it to light; what the daemon had in its ear already is not heard twice.
    stage.run({"n": 2})
    until(lambda: not stage.kept, "an empty spool")
    assert sorted(told["payload"]["n"] for told in stage.hears(2)) == [1, 2]


def test_a_request_that_is_read_after_its_payload_was_kept_is_not_heard_again(stage: Stage) -> None:
    """A busy daemon comes to the spool before it comes to the request that its hook gave up."""
    stage.forbid_start()
    assert stage.run({"n": 1}) == b""
    (kept,) = stage.kept
    stage.listen()
    stage.run({"n": 2})
    until(lambda: not stage.kept, "an empty spool")
    connection = socket.socket(socket.AF_UNIX)
    with connection:
        connection.connect(stage.home.socket)
        connection.sendall(
            b"POST /api/hooks/claude/Stop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nContent-Length: 8\r\n"
            b"Maestro-Delivery: " + kept.name.encode() + b'\r\n\r\n{"n": 1}'
        )
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 204")
    stage.run({"n": 3})
    assert sorted(told["payload"]["n"] for told in stage.hears(3)) == [1, 2, 3]


def test_a_waiting_hook_waits_for_the_answer(listening: Stage) -> None:
    hook = listening.start({"forever": True}, "PermissionRequest", wait=True)
    until(lambda: listening.heard, "the question")
    assert hook.poll() is None
    # The agent ends it when the human has answered on the screen.
    hook.terminate()
    end_of(hook)
    until(lambda: {"left": "PermissionRequest"} in listening.heard, "that nobody waits any more")
    assert listening.kept == []


def test_what_a_session_says_is_heard_in_its_order(listening: Stage) -> None:
    for number, slow in enumerate((0.5, 0.2, 0)):
        listening.run({"n": number, "session_id": "one", "slow": slow})
    assert (
        listening.run({"n": 3, "session_id": "one", "answer": "last"}, "SessionStart", wait=True) == b"last"
    )
    assert [told["payload"]["n"] for told in listening.heard] == [0, 1, 2, 3]


def test_a_waiting_hook_does_not_outlive_its_agent(listening: Stage) -> None:
    command = f"import subprocess; subprocess.run(['/bin/sh', '-c', {hook_command('claude', 'PermissionRequest', True)!r}])"
    agent = subprocess.Popen(
        [sys.executable, "-c", command], env=listening.maestro.env, stdin=subprocess.PIPE
    )
    listening.started.append(agent)
    assert agent.stdin
    agent.stdin.write(b'{"forever": true}')
    agent.stdin.close()
    agent.stdin = None
    until(lambda: listening.heard, "the question")
    agent.kill()
    until(lambda: {"left": "PermissionRequest"} in listening.heard, "that nobody waits any more")
    assert listening.kept == []


def test_a_killed_daemon_lets_a_waiting_hook_go(listening: Stage) -> None:
    hook = listening.start({"forever": True}, "PermissionRequest", wait=True)
    until(lambda: listening.heard, "the question")
    listening.kill_daemon()
    assert listening.end_of(hook) == b""


def test_a_daemon_that_ends_lets_a_waiting_hook_go(listening: Stage) -> None:
    hook = listening.start({"forever": True}, "PermissionRequest", wait=True)
    until(lambda: listening.heard, "the question")
    record = lifecycle.read_record(listening.home)
    assert record
    os.kill(record["pid"], signal.SIGTERM)
    assert listening.end_of(hook) == b""
    assert listening.kept == []


def test_what_is_no_payload_is_nothing(listening: Stage) -> None:
    for said in (b"", b"\xff\x00{", b"[1]", b"nonsense", b"[" * 100_000, b'"x"', b"9" * 6000):
        assert listening.run(said) == b""
        assert (listening.heard, listening.kept) == ([], []), said[:20]


def test_what_is_too_long_is_taken_and_dropped(listening: Stage) -> None:
    hook = listening.open("Stop")
    assert hook.stdin
    hook.stdin.write(json.dumps({"long": "x" * 3_000_000}).encode())
    hook.stdin.close()
    hook.stdin = None
    assert listening.end_of(hook) == b""
    assert (listening.heard, listening.kept) == ([], [])


def test_what_is_just_short_enough_is_heard(listening: Stage) -> None:
    listening.run({"long": "x" * ((1 << 20) - 12)})
    assert len(listening.hears(1)[0]["payload"]["long"]) == (1 << 20) - 12


def test_an_agent_that_never_closes_its_end(listening: Stage) -> None:
    hook = listening.open("Stop")
    assert hook.stdin
    hook.stdin.write(b'{"n": 1}')
    hook.stdin.flush()
    assert end_of(hook) == 0
    assert listening.hears(1)[0]["payload"] == {"n": 1}


def test_closed_descriptors(listening: Stage) -> None:
    command = hook_command("claude", "Stop")
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec <&- >&- 2>&-; {command}"], env=listening.maestro.env, check=False
    )
    assert done.returncode == 0
    # Nobody reads the answer any more.
    hook = listening.start({"n": 1, "answer": "x" * 200_000}, "SessionStart")
    assert hook.stdout
    hook.stdout.close()
    assert end_of(hook) == 0


@pytest.mark.parametrize(
    "words", [[], ["claude"], ["claude", "Stop", "--what"], ["../x", "Stop"], ["claude", "S p"], ["", ""]]
)
def test_words_that_make_no_sense(stage: Stage, words: list[str]) -> None:
    done = run(
        [sys.executable, "-I", "-S", _LAUNCHER, *words],
        env=stage.maestro.env, input=b"{}",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not stage.spool.exists()


def test_a_home_that_cannot_be_used(stage: Stage) -> None:
    file = stage.maestro.place / "file"
    file.touch()
    assert stage.run({"n": 1}, env=stage.maestro.env | {"MAESTRO_HOME": str(file)}) == b""
    assert stage.run({"n": 1}, env=stage.maestro.env | {"MAESTRO_HOME": "/proc/nothing"}) == b""
    assert (
        stage.run({"n": 1}, env=stage.maestro.env | {"MAESTRO_HOME": str(stage.maestro.place / ("x" * 200))})
        == b""
    )


def test_a_home_that_is_gone_does_not_come_back(stage: Stage) -> None:
    gone = stage.maestro.place / "gone"
    assert stage.run({"n": 1}, env=stage.maestro.env | {"MAESTRO_HOME": str(gone)}) == b""
    assert not gone.exists()


def test_when_maestro_is_gone_its_commands_do_nothing(stage: Stage) -> None:
    """Python ends with 2 when there is no such file; to Claude Code that means: stop the agent."""
    for path in (_LAUNCHER, hook_command("a", "b").split()[3]):
        command = hook_command("claude", "Stop").replace(path, "/gone" + path)
        done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hundred_at_once(listening: Stage) -> None:
    hooks = [listening.start({"n": number}) for number in range(100)]
    for hook in hooks:
        assert listening.end_of(hook) == b""
    listening.run({"n": 100})
    until(lambda: not listening.kept, "an empty spool")
    assert sorted(told["payload"]["n"] for told in listening.hears(101)) == list(range(101))


def test_a_hundred_at_once_without_a_daemon_start_one(stage: Stage) -> None:
    for hook in [stage.start({"n": number}) for number in range(100)]:
        assert stage.end_of(hook) == b""
    until(lambda: lifecycle.read_record(stage.home), "a daemon")
    stage.run({"n": 100})
    until(lambda: not stage.kept, "an empty spool")


def test_no_secret_is_shown(listening: Stage) -> None:
    session, env = session_env(listening)
    hook = listening.start({"forever": True}, "PermissionRequest", wait=True, env=env)
    until(lambda: listening.heard, "the question")
    assert listening.heard[0]["session"] == session
    line = Path(f"/proc/{hook.pid}/cmdline").read_bytes()
    assert b"hook.py" in line
    assert env["MAESTRO_SESSION_TOKEN"].encode() not in line
    listening.kill_daemon()
    assert listening.end_of(hook) == b""
    assert [
        path for path in listening.kept if env["MAESTRO_SESSION_TOKEN"].encode() in path.read_bytes()
    ] == []


def test_the_spool_is_bounded(stage: Stage) -> None:
    stage.forbid_start()
    for number in range(600):
        (stage.spool / f"{number:020d}-1-x").write_bytes(b"x")
    stage.run({"n": 1})
    assert len(stage.kept) == 500
    assert stage.kept[0].name.startswith("00000000000000000101")
    for number in range(499):
        (stage.spool / f"{number:020d}-1-x").unlink(missing_ok=True)
    for number in range(20):
        (stage.spool / f"{number:020d}-2-x").write_bytes(b"x" * (1 << 20))
    stage.run({"n": 2})
    assert sum(path.stat().st_size for path in stage.kept) <= 16 << 20
    assert b'{"n": 2}' in stage.kept[-1].read_bytes()


def test_it_imports_what_is_built_in(stage: Stage) -> None:
    """Each import from the disk costs an agent a part of a millisecond at every turn."""
    done = run(
        [sys.executable, "-I", "-S", "-X", "importtime", _LAUNCHER, "claude", "Stop"],
        env={"MAESTRO_HOME": str(stage.maestro.place / "m")}, input="", text=True,
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "posix" in loaded
    assert (
        loaded & {"os", "re", "json", "socket", "signal", "enum", "select", "site", "__future__", "typing"}
        == set()
    )


def test_an_error_of_the_ear_is_not_the_agents(listening: Stage) -> None:
    assert listening.run({"broken": True}) == b""
    assert listening.run({"broken": True, "answer": "x"}, "SessionStart") == b""
    assert listening.run({"answer": "x"}, "SessionStart") == b"x"
    assert listening.kept == []


def kinds(stage: Stage, session: str) -> list[str]:
    page = stage.maestro.daemon.call("GET", "/api/events", query={"subjects": session})
    return [event["kind"] for event in page["events"]]


def test_the_ledger_has_what_a_session_said(stage: Stage) -> None:
    """With the daemon's own ear; a session that was started by hand is known by its transcript."""
    session, env = session_env(stage)
    stage.run({"session_id": "x", "hook_event_name": "Stop", "last_assistant_message": "Done."}, env=env)
    until(lambda: "agent.turn_ended" in kinds(stage, session), "the end of the turn")
    by_hand = stage.maestro.daemon.call(
        "POST",
        "/api/sessions",
        {"agent": "claude", "directory": str(stage.maestro.cwd), "transcriptId": "t-1"},
    )["session"]["id"]
    stage.run({"session_id": "t-2", "hook_event_name": "Stop"})
    stage.run({"session_id": "t-1", "hook_event_name": "Stop"})
    until(lambda: "agent.turn_ended" in kinds(stage, by_hand), "the end of the turn")
    assert kinds(stage, by_hand).count("agent.turn_ended") == 1


def test_from_a_sandbox_it_goes_through_the_door(listening: Stage) -> None:
    """A sandbox has a link in the socket's place; what is kept or started inside would be lost with it."""
    inside = listening.maestro.place / "inside"
    inside.mkdir()
    (inside / "daemon.sock").symlink_to(listening.home.path("door", "daemon.sock"))
    env = {"MAESTRO_HOME": str(inside)}
    assert listening.run({"answer": "here"}, "SessionStart", env=env) == b"here"
    listening.kill_daemon()
    assert listening.run({"answer": "here"}, "SessionStart", env=env) == b""
    assert os.listdir(inside) == ["daemon.sock"]
