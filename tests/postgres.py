"""A PostgreSQL server for the tests, on a Unix socket in a temporary folder. It refuses to run as root, so
root runs it as `postgres` or `nobody`."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from tests.patience import run


def find_postgresql() -> Path | None:
    """The folder with initdb and postgres in it."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if on_path := shutil.which("initdb"):
        candidates.insert(0, Path(on_path).resolve().parent)
    return next((c for c in candidates if (c / "initdb").exists() and (c / "postgres").exists()), None)


class PostgreSQL:
    def __init__(self, programs: Path, folder: Path, user: str) -> None:
        self.programs = programs
        self.folder = folder
        self.user = user
        self._numbers = count(1)

    @classmethod
    @contextmanager
    def running(cls, programs: Path) -> Iterator[PostgreSQL]:
        folder = Path(tempfile.mkdtemp(prefix="pg"))
        user = _unprivileged()
        if os.geteuid() == 0:
            shutil.chown(folder, user)
        server = cls(programs, folder, user)
        try:
            # The locale that the tests are run in may not be installed.
            locale = ("--no-locale", "--encoding=UTF8")
            server._as_user("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "maestro", "-N", *locale)
            options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=200"
            server._as_user(
                "pg_ctl", "-D", f"{folder}/data", "-l", f"{folder}/log", "-w", "-o", options, "start"
            )
            try:
                yield server
            finally:
                server._as_user("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def new_database(self, *options: str) -> str:
        name = f"ledger{os.getpid()}_{next(self._numbers)}"
        self._as_user("createdb", "-h", str(self.folder), "-U", "maestro", *options, name)
        return f"postgresql+psycopg://maestro@/{name}?host={self.folder}"

    def _as_user(self, program: str, *words: str) -> None:
        command = [str(self.programs / program), *words]
        if os.geteuid() == 0:
            command = [
                "setpriv",
                f"--reuid={self.user}",
                f"--regid={self._group()}",
                "--clear-groups",
                *command,
            ]
        run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", seconds=120)

    def _group(self) -> int:
        return pwd.getpwnam(self.user).pw_gid


def _unprivileged() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)
