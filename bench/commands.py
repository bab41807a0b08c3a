"""S5, S6 and S15: what a hook and a command cost from end to end, and what the first one costs, which starts the
daemon."""

from __future__ import annotations

import compileall
import json
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
from maestro.agents.hook_command import hook_command
from maestro.home import Home
from maestro.server import lifecycle
from maestro.server.client import Daemon

BIN = Path(sys.executable).parent
CACHE = Path(__file__).parent / ".cache" / "commander"


def rows(wanted: set[str]) -> Iterator[Row]:
    if not wanted or "S5" in wanted:
        yield _hook()
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


def _hook() -> Row:
    """A session's own hook, as an agent runs it: by a shell."""
    with _temporary_home() as env:
        work = Path(env["HOME"]) / "work"
        work.mkdir()
        subprocess.run(
            [BIN / "maestro", "project", "add", "."], env=env, cwd=work, check=True, stdout=subprocess.DEVNULL
        )
        daemon = Daemon(env)
        made = daemon.call(
            "POST", "/api/sessions", {"agent": "claude", "directory": str(work), "transcriptId": "bench"}
        )
        session_env = env | {
            "MAESTRO_SESSION_ID": made["session"]["id"],
            "MAESTRO_SESSION_TOKEN": made["token"],
        }
        payload = json.dumps(
            {
                "session_id": "bench",
                "cwd": str(work),
                "hook_event_name": "Stop",
                "last_assistant_message": "Done. " * 200,
            }
        ).encode()
        command = hook_command("claude", "Stop")
        word = _console_script(Path(env["HOME"]))

        def shell(words: str, said: bytes) -> None:
            subprocess.run(
                ["/bin/sh", "-c", words],
                env=session_env,
                cwd=work,
                input=said,
                check=True,
                stdout=subprocess.DEVNULL,
            )

        shell(command, payload)
        times = interleaved(lambda: shell(command, payload), lambda: shell(f"exec {word}", payload), 60)
        assert not any(Path(env["MAESTRO_HOME"], "spool").glob("*")), "the daemon did not answer"
    return row("S5", "hook, daemon up / an installed console script that prints a word", 1.0, times)


def _console_script(folder: Path) -> Path:
    """The smallest that an installer makes, in an environment where nothing else is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "word.py").write_text("def main():\n    print('word')\n")
    compileall.compile_file(str(packages / "word.py"), quiet=1)
    script = folder / "venv" / "bin" / "word"
    script.write_text(
        f"#!{folder}/venv/bin/python\nimport sys\nfrom word import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    script.chmod(0o755)
    return script


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
            0.6,
            interleaved(lambda: maestro("session", "logs", session), against, 25),
        )
        yield row(
            "S6",
            "task list / a Node commander program that prints a word",
            0.6,
            interleaved(lambda: maestro("task", "list"), against, 25),
        )
        with _agent(env, work) as worker:
            words = ("session", "prompt", worker, "--no-wait", "--message", "Go on")
            yield row(
                "S6",
                "session prompt ID --no-wait / the same",
                0.6,
                interleaved(lambda: maestro(*words), against, 25),
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


@contextmanager
def _agent(env: dict[str, str], work: Path) -> Iterator[str]:
    """An agent in a pane that takes prompts later: what is measured is that they are queued."""
    script = work / "script.json"
    script.write_text('{"steps": [{"say": "I am ready."}]}')
    body = {"agent": "scripted", "model": str(script), "message": "Begin", "directory": str(work)}
    home = Home(env["MAESTRO_HOME"])
    try:
        spawned = Daemon(env).call(
            "POST", "/api/sessions/spawn", body | {"environment": env | {"MAESTRO_SCRIPTED": "1"}}, timeout=60
        )
        tmux = ("tmux", "-S", home.path("fleets", spawned["place"]["fleet"]))
        subprocess.run([*tmux, "copy-mode", "-t", spawned["place"]["paneId"]], check=True)
        yield str(spawned["id"])
    finally:
        # It returns when the agent has ended: a later hook of it would start another daemon.
        subprocess.run([BIN / "maestro", "down"], env=env, cwd=work, check=True, stdout=subprocess.DEVNULL)


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
        1.5,
        interleaved(first, lambda: subprocess.run(imports, check=True), 9),
    )
