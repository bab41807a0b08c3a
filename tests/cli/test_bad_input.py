"""Bad input: one clear sentence, what to do next, the documented exit code, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests import skips
from tests.support import Maestro

from maestro.server import lifecycle


@pytest.fixture(scope="module")
def settled(shared_maestro: Maestro) -> Maestro:
    """With a project, in which none of these leaves anything."""
    shared_maestro.json("project", "add", ".")
    return shared_maestro


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["tsk", "list"], 3, "There is no command “tsk”.\n  → Did you mean “task”?"),
        (["task", "lst"], 2, "→ Did you mean “list”?"),
        (["task", "create"], 2, "The following arguments are required: TITLE."),
        (["task", "create", "x", "--priority", "hgih"], 2, "Did you mean “high”?"),
        (["task", "list", "--status", "done"], 2, "There is no status “done”."),
        (["task", "list", "--nonsense"], 2, "Unrecognized arguments: --nonsense."),
        (["--nonsense"], 2, "There is no option --nonsense."),
        (["task", "show", "task_NOPE12"], 3, "There is no task “task_NOPE12”."),
        (["task", "show", "../../etc/passwd"], 2, "“../../etc/passwd” is not an id."),
        (["task", "show", "a\x1b[2Jb"], 3, "There is no task “a [2Jb”."),
        (["task", "create", ""], 2, "title: string should have at least 1 character."),
        (["task", "create", "x" * 501], 2, "title: string should have at most 500 characters."),
        (["task", "report", "progress", "a", "b", "c"], 2, "Put the message in quotes."),
        (["project", "add", "/no/such"], 3, "/no/such is not a folder."),
        (["session", "report", "progress"], 2, "MAESTRO_SESSION_ID not set."),
        (["session", "list", "--my-workers"], 2, "MAESTRO_SESSION_ID not set."),
    ],
)
def test_one_sentence_and_a_code(settled: Maestro, words: list[str], code: int, sentence: str) -> None:
    done = settled(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert done.stderr.startswith("maestro: ")
    assert "Traceback" not in done.stderr
    assert settled.json("task", "list") == []


def test_conflicts(shared_maestro: Maestro, place: Path) -> None:
    shared_maestro.json("project", "add", ".", cwd=place)
    a = shared_maestro.json("task", "create", "a", cwd=place)["id"]
    b = shared_maestro.json("task", "create", "b", "--depends-on", a, cwd=place)["id"]
    for words, sentence in (
        (["update", a, "--status", "completed"], "A task that is pending cannot become completed."),
        (["update", a, "--depends-on", b], "These tasks would wait for each other: “a” → “b” → “a”."),
        (["report", "progress", b, "x"], "“b” waits for “a” (pending)."),
    ):
        done = shared_maestro("task", *words, cwd=place)
        assert (done.returncode, sentence in done.stderr) == (4, True), done.stderr
    assert [t["status"] for t in shared_maestro.json("task", "list", cwd=place)] == ["pending", "pending"]


def test_errors_as_json_and_with_a_traceback(shared_maestro: Maestro, place: Path) -> None:
    told = shared_maestro("task", "show", "nope", "--json", cwd=place)
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr.startswith('{"error": "There is no task')
    assert "Traceback" in shared_maestro("task", "show", "nope", "--debug", cwd=place).stderr


def broken_home(maestro: Maestro, content: bytes) -> Path:
    maestro("project", "add", ".")
    maestro("server", "stop")
    database = Path(maestro.home.database)
    database.write_bytes(content)
    return database


def test_an_unreadable_database(maestro: Maestro) -> None:
    database = broken_home(maestro, b"not a database at all, really" * 100)
    done = maestro("project", "list")
    assert (done.returncode, "cannot be read as a database" in done.stderr) == (7, True), done.stderr
    assert "Move it away" in done.stderr
    assert database.read_bytes().startswith(b"not a database")


def test_a_newer_database(maestro: Maestro) -> None:
    maestro("project", "add", ".")
    maestro("server", "stop")
    connection = sqlite3.connect(maestro.home.database)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '2099'")
    connection.close()
    done = maestro("project", "list")
    assert (done.returncode, "written by a newer Maestro" in done.stderr) == (7, True), done.stderr


def test_a_socket_path_that_is_too_long(maestro: Maestro, place: Path) -> None:
    done = maestro("project", "list", env={"MAESTRO_HOME": str(place / ("x" * 120))})
    assert (done.returncode, "Set MAESTRO_HOME to a shorter path." in done.stderr) == (6, True), done.stderr


def test_a_home_that_cannot_be_made(maestro: Maestro, place: Path) -> None:
    (place / "file").write_text("")
    done = maestro("project", "list", env={"MAESTRO_HOME": str(place / "file" / "m")})
    assert (done.returncode, "Set MAESTRO_HOME" in done.stderr) == (6, True), done.stderr


@skips.needs_root
def test_a_home_of_another_user(maestro: Maestro) -> None:
    os.makedirs(maestro.home.root)
    os.chown(maestro.home.root, 65534, 65534)
    done = maestro("project", "list")
    assert (done.returncode, "belongs to another user" in done.stderr) == (6, True), done.stderr


@pytest.mark.parametrize("url", ["ftp://x", "http://nowhere", "nonsense", "https://127.0.0.1:1"])
def test_a_wrong_server_url(maestro: Maestro, url: str) -> None:
    done = maestro("project", "list", env={"MAESTRO_SERVER_URL": url})
    assert (done.returncode, "MAESTRO_SERVER_URL" in done.stderr) == (2, True), done.stderr


def test_a_database_url_that_does_not_work(maestro: Maestro) -> None:
    done = maestro("project", "list", env={"MAESTRO_DATABASE_URL": "nonsense"})
    assert (done.returncode, "MAESTRO_DATABASE_URL" in done.stderr) == (2, True), done.stderr


@skips.needs_root
def test_a_full_disk_loses_nothing(maestro: Maestro) -> None:
    home = Path(maestro.home.root)
    home.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home], capture_output=True, check=False
    )
    if mounted.returncode:
        skips.skip_for(skips.MOUNTS)
    try:
        maestro("project", "add", ".")
        kept = 0
        full = None
        for number in range(200):
            done = maestro.json_or_error("task", "create", f"t{number}", "--description", "x" * 50_000)
            if isinstance(done, str):
                full = done
                break
            kept += 1
        assert full is not None
        assert "No space left" in full
        assert "nothing was lost" in full
        assert len(maestro.json("task", "list")) == kept > 0
        lifecycle.stop(maestro.home)
    finally:
        lifecycle.stop(maestro.home, force=True)
        subprocess.run(["umount", "-l", home], check=True)
