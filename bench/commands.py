"""S6 and S15: what a command costs from end to end, and what the first one costs, which starts the daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import Row, interleaved, row
from bench.observe.transcripts import write_session
from maestro.home import Home
from maestro.server import lifecycle
from maestro.server.client import Daemon

BIN = Path(sys.executable).parent
CACHE = Path(__file__).parent / ".cache" / "commander"


def rows(wanted: set[str]) -> Iterator[Row]:
    if not wanted or "S6" in wanted:
        yield from _everyday_commands()
    if not wanted or "S15" in wanted:
        yield _first_call()


@contextmanager
def _temporary_home() -> Iterator[dict[str, str]]:
    folder = tempfile.mkdtemp(prefix="mb")
    env = {"PATH": os.environ["PATH"], "HOME": folder, "MAESTRO_HOME": f"{folder}/m", "LANG": "C.UTF-8"}
    try:
        yield env
    finally:
        lifecycle.stop(Home(env["MAESTRO_HOME"]), force=True)
        shutil.rmtree(folder, ignore_errors=True)


def _everyday_commands() -> Iterator[Row]:
    program = _commander()
    if program is None:
        print("S6    skipped: needs node and npm")
        return
    with _temporary_home() as env:
        work = Path(env["HOME"]) / "work"
        work.mkdir()

        def maestro(*words: str) -> None:
            subprocess.run(
                [BIN / "maestro", *words], env=env, cwd=work, check=True, stdout=subprocess.DEVNULL
            )

        maestro("project", "add", ".")
        for number in range(20):
            maestro("task", "create", f"Task {number}")
        node = ["node", str(program), "word"]
        against = lambda: subprocess.run(node, check=True, stdout=subprocess.DEVNULL)  # noqa: E731 - timed as it stands
        session = _session(env, work)
        yield row(
            "S6",
            "session logs ID / the same",
            1.2,
            interleaved(lambda: maestro("session", "logs", session), against, 25),
        )
        yield row(
            "S6",
            "task list / a Node commander program that prints a word",
            1.2,
            interleaved(lambda: maestro("task", "list"), against, 25),
        )


def _session(env: dict[str, str], work: Path) -> str:
    """A session with a transcript of the usual size."""
    path = work / "transcript.jsonl"
    write_session(path, 1_000_000, seed=6)
    daemon = Daemon(env)
    body = {"agent": "claude", "directory": str(work), "transcriptId": "bench"}
    made = daemon.call("POST", "/api/sessions", body)["session"]
    daemon.call("PATCH", f"/api/sessions/{made['id']}", {"transcriptPath": str(path)})
    return str(made["id"])


def _commander() -> Path | None:
    """The smallest program that people write with Node's commander; installed once, beside the results."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None
    program = CACHE / "word.js"
    if not (CACHE / "node_modules" / "commander").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "package.json").write_text('{"private": true}')
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "commander"]
        if subprocess.run(install, cwd=CACHE, check=False).returncode:
            return None
    program.write_text(
        "const { program } = require('commander');\n"
        "program.argument('<word>').action((word) => console.log(word));\nprogram.parse();\n"
    )
    return program


def _first_call() -> Row:
    imports = [sys.executable, "-c", "import fastapi, uvicorn, sqlalchemy"]

    def first() -> None:
        with _temporary_home() as env:
            subprocess.run(
                [BIN / "maestro", "project", "list"], env=env, check=True, stdout=subprocess.DEVNULL
            )

    # Ending the daemon and removing its home is part of `first`; it takes a few milliseconds.
    return row(
        "S15",
        "first call, which starts the daemon / importing its libraries",
        2.5,
        interleaved(first, lambda: subprocess.run(imports, check=True), 9),
    )
