"""The daemon as a process: it starts itself, there is one, it dies and comes back, it becomes a new version."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests import skips
from tests.patience import patience, run, told_by
from tests.support import BIN, Maestro, some_in_test

import maestro as package
from maestro import processes
from maestro.errors import DaemonError, Refused, Unauthenticated
from maestro.server import lifecycle
from maestro.server.client import Daemon


def daemon_pids(maestro: Maestro) -> list[int]:
    """Every process that serves this home, by what the system says."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"maestro.server" in words and os.fsencode(maestro.home.root) in words:
                found.append(int(entry))
    return found


def kill_daemon(maestro: Maestro) -> int:
    record = lifecycle.read_record(maestro.home)
    assert record
    os.kill(record["pid"], signal.SIGKILL)
    assert processes.wait_for_end(record["pid"], patience(10))
    return int(record["pid"])


def test_the_first_command_starts_it_and_the_next_finds_it(maestro: Maestro) -> None:
    assert maestro("server", "status").returncode == 1
    assert maestro("project", "list").returncode == 0
    status = maestro.json("server", "status")
    assert status["running"]
    assert maestro.json("server", "status")["pid"] == status["pid"]
    assert daemon_pids(maestro) == [status["pid"]]


def test_fifty_first_calls_start_one(maestro: Maestro) -> None:
    started = [maestro.start("project", "list", "--json") for _ in range(50)]
    for process in started:
        out, err = told_by(process, seconds=120)
        assert (process.returncode, json.loads(out or "null")) == (0, []), err
    assert len(daemon_pids(maestro)) == 1


def test_it_survives_the_terminal_that_started_it(maestro: Maestro) -> None:
    terminal = subprocess.Popen(
        ["setsid", "sh", "-c", f"{BIN}/maestro project list; kill -HUP 0"],
        env=maestro.env,
        cwd=maestro.cwd,
        stdout=subprocess.DEVNULL,
    )
    terminal.wait(60)
    record = lifecycle.read_record(maestro.home)
    assert record
    assert lifecycle.is_alive(record)
    assert os.getsid(record["pid"]) == record["pid"]


def test_a_killed_one_is_replaced_and_nothing_is_lost(maestro: Maestro, project: dict[str, Any]) -> None:
    maestro("task", "create", "kept")
    killed = kill_daemon(maestro)
    assert os.path.exists(maestro.home.socket)
    assert maestro("server", "status").stdout.startswith("not running (the last one died")
    assert [task["title"] for task in maestro.json("task", "list")] == ["kept"]
    assert daemon_pids(maestro) != [killed]
    assert len(daemon_pids(maestro)) == 1


@pytest.mark.parametrize("forged", some_in_test([{"started": 0}, {"boot": ""}, {}]), ids=str)
def test_a_record_that_names_a_stranger_ends_nobody(maestro: Maestro, forged: dict[str, Any]) -> None:
    """Also with the stranger's right start time and boot id: they do not hold the daemon's lock."""
    maestro("project", "list")
    [daemon] = daemon_pids(maestro)
    right = Path(maestro.home.daemon_record).read_text()
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        known = processes.identify(stranger.pid)
        assert known is not None
        record = json.loads(right) | known._asdict() | forged
        Path(maestro.home.daemon_record).write_text(json.dumps(record))
        refused = maestro("server", "stop", "--force")
        assert refused.returncode == 6
        assert "does not say which process it is" in refused.stderr
        assert "Nothing was ended." in refused.stderr
        assert stranger.poll() is None
        assert daemon_pids(maestro) == [daemon]
        Path(maestro.home.daemon_record).write_text(right)
        assert maestro("server", "stop", "--force").returncode == 0
        assert daemon_pids(maestro) == []
    finally:
        stranger.kill()
        stranger.wait()


def test_one_that_is_asked_to_stop_ends_whatever_its_record_says(maestro: Maestro) -> None:
    maestro("project", "list")
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        record = json.loads(Path(maestro.home.daemon_record).read_text()) | {
            "pid": stranger.pid,
            "started": 0,
        }
        Path(maestro.home.daemon_record).write_text(json.dumps(record))
        assert maestro("server", "stop").returncode == 0
        assert daemon_pids(maestro) == []
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_record_of_another_process_is_recognised(maestro: Maestro) -> None:
    """A pid that now belongs to somebody else, or that is from before the last boot, is never signalled."""
    maestro("project", "list")
    kill_daemon(maestro)
    record = lifecycle.read_record(maestro.home)
    assert record
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        for forged in (
            record | {"pid": bystander.pid},
            record
            | {"pid": bystander.pid, "started": processes.start_time(bystander.pid), "boot": "another"},
        ):
            Path(maestro.home.daemon_record).write_text(json.dumps(forged))
            assert not lifecycle.is_alive(forged)
            assert lifecycle.stop(maestro.home, force=True) is False
            assert maestro("server", "stop").returncode == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    assert maestro("project", "list").returncode == 0


@pytest.mark.parametrize("left", [b"", b"garbage {", b"[]", b'{"pid": "x"}'])
def test_a_broken_record_is_harmless(maestro: Maestro, left: bytes) -> None:
    Path(maestro.home.root).mkdir(mode=0o700)
    Path(maestro.home.daemon_record).write_bytes(left)
    Path(maestro.home.socket).write_bytes(b"not a socket")
    assert maestro("project", "list").returncode == 0


def test_its_files_are_closed_to_others(maestro: Maestro) -> None:
    maestro("server", "start", "--listen", "127.0.0.1:0")
    for folder, _, files in os.walk(maestro.home.root):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode) == 0o600, name


def test_its_environment_is_scrubbed(maestro: Maestro) -> None:
    secrets = {
        "ANTHROPIC_API_KEY": "k",
        "CLAUDECODE": "1",
        "MAESTRO_SESSION_TOKEN": "",
        "PYTHONPATH": "/nowhere",
    }
    assert maestro("project", "list", env=secrets).returncode == 0
    [pid] = daemon_pids(maestro)
    names = {
        entry.split(b"=")[0].decode()
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        if entry
    }
    assert names <= {"PATH", "HOME", "LANG", "MAESTRO_HOME", "TMPDIR", "TZ", "XDG_CONFIG_HOME"}
    assert os.readlink(f"/proc/{pid}/cwd") == "/"


def test_stop_finishes_what_was_accepted(maestro: Maestro, project: dict[str, Any]) -> None:
    """Requests on their way while it stops are answered or done by its successor: each exactly once."""
    with ThreadPoolExecutor(8) as pool:
        stop_at = threading.Barrier(9)

        def create(number: int) -> str:
            stop_at.wait()
            made = maestro.daemon.call(
                "POST", "/api/tasks", {"title": f"t{number}", "projectId": project["id"]}
            )
            return str(made["title"])

        going = [pool.submit(create, number) for number in range(8)]
        stop_at.wait()
        assert maestro("server", "stop").returncode == 0
        assert sorted(done.result() for done in going) == [f"t{n}" for n in range(8)]
    assert sorted(task["title"] for task in maestro.json("task", "list")) == [f"t{n}" for n in range(8)]


def test_stop_wakes_a_long_poll(maestro: Maestro) -> None:
    daemon = maestro.daemon
    cursor = daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            daemon.call, "GET", "/api/events", query={"since": cursor, "wait": 50}, timeout=60
        )
        assert maestro("server", "stop", timeout=20).stdout == "Stopped.\n"
        assert waiting.result(patience(20))["events"] == []


def test_stop_twice_and_restart(maestro: Maestro) -> None:
    assert maestro("server", "stop").stdout == "It was not running.\n"
    first = maestro.json("server", "start")["pid"]
    assert maestro.json("server", "start")["pid"] == first
    assert maestro.json("server", "restart")["pid"] != first
    assert maestro("server", "stop", "--force").stdout == "Stopped.\n"
    assert daemon_pids(maestro) == []


def newer_maestro(place: Path, version: str) -> Path:
    """Another installation of Maestro, with a version of its own, in a virtual environment of its own."""
    site = place / "newer"
    shutil.copytree(
        Path(package.__file__).parent, site / "maestro", ignore=shutil.ignore_patterns("__pycache__")
    )
    init = site / "maestro" / "__init__.py"
    init.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', init.read_text()))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    [libraries] = (place / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (libraries / "a.pth").write_text(f"import sys; sys.path.insert(0, {str(site)!r})\n{ours}\n")
    return place / "venv" / "bin" / "python"


def test_a_newer_command_renews_the_daemon_and_an_older_one_is_served(
    maestro: Maestro, place: Path, project: dict[str, Any]
) -> None:
    maestro("task", "create", "before")
    old = maestro.json("server", "status")
    python = newer_maestro(place, "99.0.0")
    done = run(
        [python, "-m", "maestro", "task", "list", "--json"],
        env=maestro.env,
        cwd=maestro.cwd,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [task["title"] for task in json.loads(done.stdout)] == ["before"]
    new = maestro.json("server", "status")
    assert (old["version"], new["version"]) == (package.__version__, "99.0.0")
    assert new["pid"] == old["pid"]
    assert maestro("task", "create", "after").returncode == 0


def test_requests_during_a_restart_are_all_answered(maestro: Maestro, project: dict[str, Any]) -> None:
    with ThreadPoolExecutor(4) as pool:
        going = []
        for number in range(40):
            if number == 10:
                maestro.daemon.call("POST", "/api/server/restart", {})
            body = {"title": f"t{number}", "projectId": project["id"]}
            going.append(pool.submit(maestro.daemon.call, "POST", "/api/tasks", body))
        for done in going:
            done.result(patience(60))
    assert len(maestro.json("task", "list")) == 40


def test_another_daemon_by_socket(maestro: Maestro, place: Path) -> None:
    maestro("project", "add", ".")
    elsewhere = {"MAESTRO_HOME": str(place / "none"), "MAESTRO_SERVER_URL": f"unix://{maestro.home.socket}"}
    assert len(maestro.json("project", "list", env=elsewhere)) == 1
    assert not (place / "none").exists()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_another_daemon_by_http_with_a_token(maestro: Maestro, place: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    assert maestro.json("server", "start", "--listen", address)["listen"] == address
    maestro("project", "add", ".")
    remote = {"MAESTRO_HOME": str(place / "none"), "MAESTRO_SERVER_URL": f"http://{address}"}
    assert maestro("project", "list", env=remote).returncode == Unauthenticated.exit_code
    assert maestro("project", "list", env=remote | {"MAESTRO_SERVER_TOKEN": "wrong"}).returncode == 5
    token = {"MAESTRO_SERVER_TOKEN_FILE": maestro.home.token}
    assert len(maestro.json("project", "list", env=remote | token)) == 1
    kill_daemon(maestro)
    maestro("project", "list")
    assert len(maestro.json("project", "list", env=remote | token)) == 1, "it listens again after a crash"
    with pytest.raises(DaemonError, match="No daemon answers"):
        Daemon(maestro.env | remote | {"MAESTRO_SERVER_URL": f"http://127.0.0.1:{free_port()}"}).call(
            "GET", "/api/health"
        )


def test_a_web_page_cannot_reach_the_port(maestro: Maestro) -> None:
    port = free_port()
    maestro("server", "start", "--listen", f"127.0.0.1:{port}")
    token = Path(maestro.home.token).read_text().strip()
    for headers, status in (
        ({}, b" 200 "),
        ({"Host": "evil.example"}, b" 403 "),
        ({"Host": "127.0.0.1.evil.example"}, b" 403 "),
        ({"Host": ""}, b" 403 "),
        ({"Origin": "http://evil.example"}, b" 403 "),
        ({"Origin": "null"}, b" 403 "),
    ):
        sent = {"Host": f"127.0.0.1:{port}", "Authorization": f"Bearer {token}", "Connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in (sent | headers).items())
        with socket.create_connection(("127.0.0.1", port), timeout=patience(10)) as connection:
            connection.sendall(f"GET /api/projects HTTP/1.1\r\n{lines}\r\n".encode())
            answer = connection.makefile("rb").read()
        assert status in answer.split(b"\r\n")[0], headers


def test_only_loopback_is_listened_on(maestro: Maestro) -> None:
    done = maestro("server", "start", "--listen", "0.0.0.0:9999")
    assert done.returncode == 2
    assert "does not listen on" in done.stderr


@skips.needs_root
def test_another_user_is_turned_away(maestro: Maestro) -> None:
    """Even one who can open the socket: the folders are opened here to prove that the kernel's word counts."""
    maestro("project", "list")
    for path in (maestro.place, Path(maestro.home.root)):
        path.chmod(0o755)
    Path(maestro.home.socket).chmod(0o666)
    talk = (
        "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "try:\n s.sendall(b'GET /api/projects HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n')\n"
        " print(len(s.recv(100)))\nexcept ConnectionError: print(0)"
    )
    done = run(
        ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/env", "python3", "-c", talk, maestro.home.socket],
        text=True, cwd="/", env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    if "python3" in done.stderr:
        skips.skip_for(skips.PYTHON_FOR_ALL)
    assert done.stdout.strip() == "0", done.stderr


def test_a_sessions_token_and_process_decide_its_role(maestro: Maestro, project: dict[str, Any]) -> None:
    mine, other = (maestro.json("task", "create", title)["id"] for title in ("mine", "other"))
    started = maestro.daemon.call("POST", "/api/sessions", {"agent": "scripted", "taskIds": [mine]})
    inside = {"MAESTRO_SESSION_ID": started["session"]["id"], "MAESTRO_SESSION_TOKEN": started["token"]}
    assert maestro("task", "report", "progress", "on it", env=inside).returncode == 0
    refused = maestro("task", "report", "progress", other, "x", env=inside)
    assert (refused.returncode, "not its own" in refused.stderr) == (Refused.exit_code, True)
    assert maestro("server", "stop", env=inside).returncode == Refused.exit_code
    # A process of the session that drops its token stays the session's.
    script = f"echo ready; read go; {BIN}/maestro task report progress {other} sneaky; echo code=$?; read end"
    shell = subprocess.Popen(
        ["sh", "-c", script], env=maestro.env, cwd=maestro.cwd, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert shell.stdin
    assert shell.stdout
    try:
        assert shell.stdout.readline() == "ready\n"
        maestro.daemon.call("PATCH", f"/api/sessions/{started['session']['id']}", {"pid": shell.pid})
        shell.stdin.write("go\n")
        shell.stdin.flush()
        told = ""
        while "code=" not in told:
            told += shell.stdout.readline()
        assert f"code={Refused.exit_code}" in told
    finally:
        shell.stdin.write("end\n")
        told_by(shell)
    assert maestro("session", "report", "complete", "done", env=inside).returncode == 0
    ended = maestro("task", "report", "progress", "again", env=inside)
    assert (ended.returncode, "its session has ended" in ended.stderr) == (Unauthenticated.exit_code, True)
