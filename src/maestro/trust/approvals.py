"""Keeps in MAESTRO_HOME what the person made or approved in a project: a chain that they began, a tag that they approved.

A project that is copied or cloned brings its own state files with it; these say nothing about what this person wants.
"""

from __future__ import annotations

import os
import time

from maestro.errors import NoPermission
from maestro.files import write_atomically
from maestro.home import Home, prepare
from maestro.trust.records import project_key


class Approvals:
    """The approvals of one project. A name has no slash but the one after its kind: `chain/ID`, `tag/ID`."""

    def __init__(self, home: str, root: str) -> None:
        self._home = home
        self._folder = os.path.join(home, "approvals", project_key(root))

    def give(self, name: str) -> int:
        """Records that the person made or approved this, and returns when."""
        now = int(time.time() * 1000)
        path = self._path(name)
        try:
            prepare(Home(self._home))
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        except OSError as error:
            raise NoPermission(
                f"{path} cannot be written: {error.strerror}.", hint="Check its owner."
            ) from error
        write_atomically(path, f"{now}\n".encode())
        return now

    def take_back(self, name: str) -> None:
        try:
            os.unlink(self._path(name))
        except FileNotFoundError:
            pass

    def given_at(self, name: str) -> int:
        """Returns when it was approved, in milliseconds since 1970; 0 where it never was, or was taken back."""
        try:
            with open(self._path(name), "rb") as file:
                return int(file.read(32))
        except (FileNotFoundError, ValueError):
            return 0

    def _path(self, name: str) -> str:
        kind, _, rest = name.partition("/")
        return os.path.join(self._folder, kind, os.path.basename(rest))
