"""An upgrade on a disk that is full: the ledger stays as it was, one sentence says so, and afterwards it goes on."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests import skips
from tests.patience import run, until
from tests.server.test_daemon import newer_maestro
from tests.support import BIN, Maestro, forbid_start

from maestro.errors import DiskFull
from maestro.ledger import database
from maestro.ledger.schema import REVISIONS
from maestro.server import lifecycle

pytestmark = pytest.mark.more  # make test-more

BLOCK = 4096


class SmallDisk:
    """A home on a disk of its own."""

    def __init__(self, maestro: Maestro) -> None:
        self.maestro = maestro
        self.home = Path(maestro.home.root)
        self.ballast = self.home / "ballast"

    def leave_free(self, wanted: int) -> None:
        """Fills the disk up to so many bytes."""
        self.ballast.unlink(missing_ok=True)
        with self.ballast.open("wb") as file:
            free = shutil.disk_usage(self.home).free
            os.posix_fallocate(file.fileno(), 0, max(BLOCK, (free - wanted) // BLOCK * BLOCK))

    def leave_no_inode(self) -> None:
        """Makes empty files until the disk takes no other; their bytes would have room."""
        folder = self.home / "many"
        folder.mkdir()
        with pytest.raises(OSError, match="No space left"):
            for number in range(1000):
                (folder / str(number)).touch()
        assert shutil.disk_usage(self.home).free > 1_000_000

    def free_all(self) -> None:
        self.ballast.unlink(missing_ok=True)
        shutil.rmtree(self.home / "many", ignore_errors=True)

    def old_ledger(self, projects: int) -> None:
        """A ledger as the version before the last left it, with something in it."""
        path = self.maestro.home.database
        engine = database._engine(database.sqlite_url(path))
        database.upgrade(engine, REVISIONS[-2])
        engine.dispose()
        with closing(sqlite3.connect(path)) as connection:
            connection.executemany(
                "INSERT INTO projects (id, name, directory, created_at) VALUES (?, ?, ?, 1)",
                [
                    (f"proj_{number:026d}", f"p{number}", f"/{number}/{'x' * 1000}")
                    for number in range(projects)
                ],
            )
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def version(self) -> str:
        with closing(sqlite3.connect(self.maestro.home.database)) as connection:
            [version] = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            [intact] = connection.execute("PRAGMA integrity_check").fetchone()
            assert intact == "ok"
            return str(version)

    def projects(self) -> int:
        with closing(sqlite3.connect(self.maestro.home.database)) as connection:
            return int(connection.execute("SELECT count(*) FROM projects").fetchone()[0])

    def copies(self) -> list[Path]:
        return sorted(self.home.glob("maestro.db.before-*"))


@pytest.fixture
def disk(maestro: Maestro) -> Iterator[SmallDisk]:
    home = Path(maestro.home.root)
    home.mkdir(mode=0o700)
    words = ["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=500,mode=700", "tmpfs", str(home)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        skips.skip_for(skips.MOUNTS)
    try:
        yield SmallDisk(maestro)
        lifecycle.stop(maestro.home, force=True)
    finally:
        lifecycle.stop(maestro.home, force=True)
        subprocess.run(["umount", "-l", home], check=True)


@skips.needs_root
def test_an_upgrade_without_room_leaves_the_ledger_as_it_was(disk: SmallDisk) -> None:
    """At every amount of room: too little for the copy, for the changed tables, for the daemon's own files."""
    maestro = disk.maestro
    disk.old_ledger(projects=900)
    size = os.path.getsize(maestro.home.database)
    assert size > 1_000_000
    refused = []
    for free in (0, size // 2, size + 2 * BLOCK, size + 10 * BLOCK):
        disk.leave_free(free)
        done = maestro("project", "list", "--json")
        if done.returncode == 0:
            break
        refused.append(free)
        told = json.loads(done.stderr)
        assert done.returncode == 7, told
        assert "No space left" in told["error"] or "full" in told["error"], told
        assert "Free" in told["hint"], told
        assert "Traceback" not in done.stderr
        until(lambda: not lifecycle.is_running(maestro.home))
        disk.free_all()
        assert (disk.version(), disk.projects()) == (REVISIONS[-2], 900)
        # A copy is whole, or there is none.
        for copy in disk.copies():
            with closing(sqlite3.connect(copy)) as connection:
                assert connection.execute("SELECT count(*) FROM projects").fetchone() == (900,)
    assert refused[:2] == [0, size // 2], "it was not full"
    disk.free_all()
    assert len(maestro.json("project", "list")) == 900
    assert maestro("server", "stop").returncode == 0
    assert (disk.version(), disk.projects()) == (REVISIONS[-1], 900)
    assert [copy.name for copy in disk.copies()] == [f"maestro.db.before-{REVISIONS[-2]}"]


@skips.needs_root
def test_an_upgrade_without_an_inode_for_its_copy_says_that_the_disk_is_full(disk: SmallDisk) -> None:
    disk.old_ledger(projects=10)
    path = disk.maestro.home.database
    # Another reader: SQLite's own files beside the ledger are there already.
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM projects").fetchone()
        disk.leave_no_inode()
        with pytest.raises(DiskFull, match="No space left") as caught:
            database.open_database(database.sqlite_url(path))
    assert caught.value.hint.startswith("Free "), caught.value.hint
    disk.free_all()
    assert (disk.version(), disk.projects(), disk.copies()) == (REVISIONS[-2], 10, [])


def test_a_quota_that_is_used_up_is_a_full_disk() -> None:
    assert database._is_full(str(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "/home/m/maestro.db")))


@skips.needs_root
def test_a_copy_that_was_cut_short_is_made_again(disk: SmallDisk) -> None:
    """By a daemon that was killed meanwhile."""
    disk.old_ledger(projects=10)
    left = disk.home / f"maestro.db.before-{REVISIONS[-2]}.unfinished"
    left.write_bytes(b"half")
    assert len(disk.maestro.json("project", "list")) == 10
    assert [copy.name for copy in disk.copies()] == [f"maestro.db.before-{REVISIONS[-2]}"]


@skips.needs_root
def test_a_daemon_that_becomes_a_new_version_on_a_full_disk(disk: SmallDisk, place: Path) -> None:
    """The old one goes; the command says why no new one comes, at once; with room it goes on where it was."""
    maestro = disk.maestro
    maestro.json("project", "add", ".")
    maestro.json("task", "create", "kept")
    newer = [str(newer_maestro(place, "99.0.0")), "-m", "maestro", "task", "list", "--json"]
    disk.leave_free(0)
    done = run(newer, env=maestro.env, cwd=maestro.cwd, text=True)
    assert "Traceback" not in done.stderr
    told = json.loads(done.stderr)
    assert (done.returncode, "No space left" in told["error"]) == (7, True), told
    until(lambda: not lifecycle.is_running(maestro.home))
    disk.free_all()
    done = run(newer, env=maestro.env, cwd=maestro.cwd, text=True)
    assert [task["title"] for task in json.loads(done.stdout)] == ["kept"]


@skips.needs_root
def test_a_running_daemon_outlives_a_full_disk(disk: SmallDisk) -> None:
    """Its log and its ledger take nothing, the spool of a hook neither; all of them go on when there is room."""
    maestro = disk.maestro
    maestro.json("project", "add", ".")
    pid = maestro.json("server", "status")["pid"]
    disk.leave_free(0)
    # What the log of changes has allocated before may take the first.
    ends = [maestro("task", "create", f"t{number}", "--description", "x" * 90_000) for number in range(5)]
    refused = [done for done in ends if done.returncode]
    assert refused, "it was not full"
    for done in refused:
        assert (done.returncode, "No space left" in done.stderr) == (7, True), done.stderr
    # A hook has nowhere else to leave its words while the daemon does not answer.
    forbid_start(maestro.home)
    spool = Path(maestro.home.path("spool"))
    before = sorted(spool.iterdir())
    os.kill(pid, signal.SIGSTOP)
    try:
        hook = run([BIN / "maestro", "hook", "claude", "Stop"], env=maestro.env, input=b'{"session_id": "x"}')
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, b"", b"")
    assert sorted(spool.iterdir()) == before
    assert maestro("task", "list").returncode == 0
    assert maestro.json("server", "status")["pid"] == pid
    disk.free_all()
    assert maestro("task", "create", "after").returncode == 0
    assert maestro.json("server", "status")["pid"] == pid
