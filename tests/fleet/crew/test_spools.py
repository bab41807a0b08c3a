"""A session whose sandbox lets it connect to nothing reports by files, which the daemon takes for hostile."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests import no_connect
from tests.fleet.crew.seen import close_panes
from tests.patience import patience, until
from tests.support import Maestro

from maestro.fleet.spools import Spools
from maestro.server import lifecycle

NO_CONNECT = (sys.executable, no_connect.__file__)


@dataclass
class Worker:
    """A session of a program called codex, which sleeps, and what its commands can do: they have its variables."""

    maestro: Maestro
    id: str
    env: dict[str, str]

    @property
    def spool(self) -> Path:
        return Path(self.env["MAESTRO_SPOOL_DIR"])

    def __call__(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command `maestro` as its sandbox would let it."""
        return subprocess.run(
            [*NO_CONNECT, "maestro", *words],
            env=self.env | more,
            cwd=self.maestro.cwd,
            capture_output=True,
            text=True,
            timeout=patience(60),
            check=False,
        )

    def leave(self, name: str = "", **changed: Any) -> Path:
        """Leave a request by hand, ring, and return where the answer will be."""
        request = {"method": "GET", "target": f"/api/sessions/{self.id}", "token": self.token} | changed
        path = self.spool / f"{name or time.time_ns()}.request"
        temporary = self.spool / f".{path.name}"
        temporary.write_text(json.dumps(request))
        temporary.rename(path)
        self.ring()
        return path.with_suffix(".answer")

    def answer(self, **changed: Any) -> tuple[int, Any]:
        path = self.leave(**changed)
        until(path.exists)
        told = json.loads(path.read_bytes())
        return told["status"], json.loads(told["body"])

    @property
    def token(self) -> str:
        return self.env["MAESTRO_SESSION_TOKEN"]

    def ring(self) -> None:
        with (self.spool / "bell").open("wb", buffering=0) as bell:
            bell.write(b"\n")


@pytest.fixture
def maestro(shared_maestro: Maestro) -> Iterator[Maestro]:
    programs = shared_maestro.place / "clis"
    programs.mkdir(exist_ok=True)
    (programs / "codex").write_text(
        "#!/bin/sh\ncase $1 in --version) echo 0.166.0; exit;; esac\nexec sleep 3600\n"
    )
    (programs / "codex").chmod(0o755)
    path = f"{programs}:{shared_maestro.env['PATH']}"
    yield replace(shared_maestro, env=shared_maestro.env | {"PATH": path})
    close_panes(shared_maestro)


def spawn(maestro: Maestro, *words: str, mode: str = "edits") -> Worker:
    before = {one["id"] for one in maestro.daemon.call("GET", "/api/sessions")}
    spawning = maestro.start("session", "spawn", "--agent", "codex", "--mode", mode, *words)

    def begun() -> list[dict[str, Any]]:
        new = [one for one in maestro.daemon.call("GET", "/api/sessions") if one["id"] not in before]
        return [
            one
            for one in new
            if one["pid"] and Path(f"/proc/{one['pid']}/cmdline").read_bytes().startswith(b"sleep\0")
        ]

    until(begun)
    # It would wait until a screen shows that it is ready, and start a daemon again that a test ends.
    spawning.kill()
    spawning.communicate()
    [session] = begun()
    lines = Path(f"/proc/{session['pid']}/environ").read_bytes().decode().split("\0")
    return Worker(maestro, session["id"], dict(line.split("=", 1) for line in lines if line))


@pytest.fixture
def task(maestro: Maestro, project: dict[str, Any]) -> str:
    return str(maestro.json("task", "create", "Fix login")["id"])


@pytest.fixture
def worker(maestro: Maestro, task: str) -> Worker:
    return spawn(maestro, "--task", task)


def log_lines(maestro: Maestro) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(maestro.home.log).read_text().splitlines()]


def kill_daemon(maestro: Maestro) -> None:
    record = lifecycle.read_record(maestro.home)
    assert record is not None
    os.kill(record["pid"], signal.SIGKILL)
    until(lambda: not lifecycle.is_running(maestro.home))


def test_a_report_arrives_and_is_answered(worker: Worker, task: str) -> None:
    assert worker.spool.stat().st_mode & 0o777 == 0o700
    done = worker("task", "report", "progress", "half way")
    assert (done.returncode, "half way" in done.stdout) == (0, True), done.stderr
    assert worker.maestro.json("task", "show", task)["lastReport"] == "half way"
    assert worker("session", "show", worker.id).returncode == 0
    assert os.listdir(worker.spool) == ["bell"], "nothing is left of either"


def test_a_session_with_an_open_network_has_no_spool(maestro: Maestro, project: dict[str, Any]) -> None:
    opened = spawn(maestro, "--network")
    assert "MAESTRO_SPOOL_DIR" not in opened.env
    assert maestro.json("session", "show", opened.id)["network"] is True
    assert "opened to its commands" in maestro("session", "show", opened.id).stdout


@pytest.mark.parametrize("mode", ["plan", "cautious", "default"])
def test_a_read_only_sandbox_says_why_nothing_can_be_reported(
    maestro: Maestro, project: dict[str, Any], mode: str
) -> None:
    done = spawn(maestro, mode=mode)("session", "report", "progress", "x")
    assert done.returncode == 6
    assert done.stderr.count(".\n") <= 2
    assert "keeps its commands from the daemon" in done.stderr
    assert "--mode edits" in done.stderr


def test_what_its_sandbox_does_not_let_it_write_is_told(worker: Worker) -> None:
    done = worker("session", "report", "progress", "x", MAESTRO_SPOOL_DIR="/proc/nowhere")
    assert (done.returncode, "keeps its commands from the daemon" in done.stderr) == (6, True), done.stderr


@pytest.mark.more  # make test-more
def test_reports_wait_for_the_next_daemon_even_of_a_session_that_ended(worker: Worker, task: str) -> None:
    worker.maestro.daemon.call("PATCH", f"/api/sessions/{worker.id}", {"status": "working"})
    kill_daemon(worker.maestro)
    for word in ("first", "second"):
        done = worker("task", "report", "progress", task, word)
        assert (done.returncode, "Left for the daemon" in done.stdout) == (0, True), done.stderr
    asked = worker("session", "show", worker.id)
    assert (asked.returncode, "cannot start it" in asked.stderr) == (6, True), asked.stderr
    assert len(os.listdir(worker.spool)) == 3, "the bell and two reports; the question was taken back"
    pane = subprocess.run(
        ["tmux", "-S", worker.maestro.home.path("fleets", "maestro"), "list-panes", "-a", "-F", "#{pane_pid}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for pid in pane.stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    events = worker.maestro.daemon.call("GET", "/api/events", query={"subjects": task})["events"]
    told = [event["data"].get("message") for event in events if event["kind"] == "task.reported"]
    assert told == ["first", "second"]
    until(lambda: not worker.spool.exists())


def test_a_report_is_done_once_when_the_daemon_dies_over_it(worker: Worker, task: str) -> None:
    """It was done, and its file is still there."""
    report = {"method": "POST", "target": f"/api/tasks/{task}/report", "key": "the-same", "is_report": True}
    body = json.dumps({"kind": "progress", "message": "once"})
    assert worker.answer(**report, body=body)[0] == 200
    kill_daemon(worker.maestro)
    (worker.spool / "1.request").write_text(json.dumps({**report, "body": body, "token": worker.token}))
    worker.maestro.json("status")
    events = worker.maestro.daemon.call("GET", "/api/events", query={"subjects": task})["events"]
    assert [event["data"].get("message") for event in events if event["kind"] == "task.reported"] == ["once"]


def test_the_role_is_that_of_the_session_whose_spool_it_is(worker: Worker, maestro: Maestro) -> None:
    other = spawn(maestro, "--role", "coordinator")
    human = Path(maestro.home.token).read_text().strip()
    for token in (other.token, human, "", "mst_nobody"):
        status, told = worker.answer(token=token)
        assert (status, told["code"]) == (401, "unauthenticated"), token
    assert worker.answer()[0] == 200
    body = json.dumps({"directory": "/"})
    for target, sent in (
        ("/api/projects", body),
        ("/api/server/stop", "{}"),
        ("/api/fleets/maestro/down", "{}"),
    ):
        status, told = worker.answer(method="POST", target=target, body=sent)
        assert (status, told["code"]) == (403, "refused"), target
    assert worker.answer(target=f"/api/sessions/{other.id}")[0] == 403
    for odd in (
        {"target": "/openapi.json"},
        {"target": "/api/x y"},
        {"method": "TRACE"},
        {"token": "a\r\nb: c"},
    ):
        assert worker.answer(**odd)[0] == 400, odd


HOSTILE: Mapping[str, Callable[[Path, Path], object]] = {
    "a link to a request elsewhere": lambda spool, away: spool.symlink_to(away),
    "a link to a device": lambda spool, _: spool.symlink_to("/dev/zero"),
    "a second name of a file": lambda spool, away: os.link(away, spool),
    "a pipe that nobody writes to": lambda spool, _: os.mkfifo(spool),
    "a folder": lambda spool, _: spool.mkdir(),
    "a huge file": lambda spool, _: _sparse(spool),
    "torn": lambda spool, _: spool.write_text('{"method": "GET"'),
    "not an object": lambda spool, _: spool.write_bytes(b"[" * 100_000),
    "not text": lambda spool, _: spool.write_bytes(b"\xff\xfe\0"),
}


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_and_logged_and_hinders_nothing(worker: Worker, kind: str) -> None:
    away = worker.maestro.place / "away.json"
    request = {"method": "GET", "target": f"/api/sessions/{worker.id}", "token": worker.token}
    away.write_text(json.dumps(request))
    path = worker.spool / "0.request"
    HOSTILE[kind](path, away)
    assert worker.answer()[0] == 200
    until(lambda: any(one.get("name") == "0.request" for one in log_lines(worker.maestro)))
    assert not (worker.spool / "0.answer").exists()
    assert kind == "a folder" or not os.path.lexists(path)
    assert json.loads(away.read_text()) == request


def test_an_odd_name_is_refused(worker: Worker) -> None:
    (worker.spool / "..\n.request").write_text("{}")
    assert worker.answer()[0] == 200
    until(lambda: os.listdir(worker.spool).count("..\n.request") == 0)


def test_whoever_forgets_a_spool_returns_when_it_is_gone(place: Path) -> None:
    spools = Spools(str(place / "spools"))

    async def forget() -> bool:
        await spools.forget("sess_1")
        return is_there()

    async def both() -> list[bool]:
        return list(await asyncio.gather(forget(), forget()))

    def is_there() -> bool:
        return os.path.exists(spools.path("sess_1"))

    for _ in range(5):
        os.makedirs(os.path.join(spools.path("sess_1"), *["d"] * 500))
        assert asyncio.run(both()) == [False, False]


@pytest.mark.more
def test_a_spool_without_end_hinders_neither_the_end_of_its_session_nor_the_next_daemon(
    worker: Worker, maestro: Maestro
) -> None:
    dig = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    subprocess.run([sys.executable, "-c", dig], cwd=worker.spool, check=True)
    kept = worker.spool.with_name("sess_of_nobody")
    kept.mkdir()
    subprocess.run([sys.executable, "-c", dig], cwd=kept, check=True)
    assert maestro("session", "stop", worker.id, "--force").returncode == 0
    assert not worker.spool.exists()
    kill_daemon(maestro)
    assert maestro("session", "list").returncode == 0
    assert not kept.exists()


def test_an_answer_follows_no_link(worker: Worker) -> None:
    precious = worker.maestro.place / "precious"
    precious.write_text("mine")
    (worker.spool / "7.answer").symlink_to(precious)
    worker.leave(name="7")
    until(lambda: not (worker.spool / "7.answer").is_symlink())
    assert json.loads((worker.spool / "7.answer").read_bytes())["status"] == 200
    assert precious.read_text() == "mine"


def test_a_flood_and_a_bell_without_end_keep_nobody_else_waiting(worker: Worker, maestro: Maestro) -> None:
    other = spawn(maestro)
    for number in range(2_000):
        (worker.spool / f"{number}.junk").touch()
    with (worker.spool / "bell").open("wb", buffering=0) as bell:
        os.set_blocking(bell.fileno(), False)
        for _ in range(200):
            try:
                bell.write(b"\n" * 4096)
            except BlockingIOError:
                pass
            assert other.answer()[0] == 200 if _ % 50 == 0 else True
    assert maestro.json("session", "show", other.id)["id"] == other.id


def test_the_bell_is_made_anew_when_it_is_no_pipe(worker: Worker) -> None:
    kill_daemon(worker.maestro)
    secret = worker.maestro.place / "secret"
    secret.write_text("mine")
    (worker.spool / "bell").unlink()
    (worker.spool / "bell").symlink_to(secret)
    worker.maestro.json("status")
    until((worker.spool / "bell").is_fifo)
    assert worker.answer()[0] == 200
    assert secret.read_text() == "mine"
