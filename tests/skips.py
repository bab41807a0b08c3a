"""Skips a test for something that this machine or this user lacks, and lists each lack once when the tests are over."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pytest
from tests.support import SOAK

from maestro import processes

_INSTALLERS = {"apt-get": "apt-get install", "dnf": "dnf install", "apk": "apk add"}


@dataclass(frozen=True)
class Lack:
    """A thing that tests need and do not find, and how a person brings it."""

    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.why}. {self.remedy}"


def _install(package: str) -> str:
    """Returns the sentence with the line that installs a package here, by sudo for a user without root."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    for program, words in _INSTALLERS.items():
        if shutil.which(program):
            return f"Type: {sudo}{words} {package}"
    return f"Type: brew install {package}" if shutil.which("brew") else f"Install {package}."


POSTGRESQL = Lack("PostgreSQL is not installed", _install("postgresql"))
BUBBLEWRAP = Lack("bubblewrap is not installed", _install("bubblewrap"))
SANDBOX = Lack("bubblewrap may not make namespaces here", "Run `make test` as root, or where it may.")
TMUX = Lack("tmux is not installed", _install("tmux"))
ROOT = Lack("It needs root", "Run `make test` as root.")
NO_ROOT = Lack("Root may read everything", "Run `make test` as a user without root.")
MOUNTS = Lack("Root may not mount here", "Run `make test` as root of a whole machine.")
PYTHON_FOR_ALL = Lack("There is no Python that another user may run", _install("python3"))
ABSTRACT_SOCKETS = Lack(
    "Linux closes abstract sockets to a sandbox from 6.12 on", "Run `make test` on such a kernel."
)
GROUPS = Lack(
    "This user may not make control groups here", "Run `make test` as root, or in a desktop's terminal."
)
PERSON = Lack(
    "An agent runs the tests, and this is for a person", "Run `make test` in a terminal of your own."
)
ONLY_SOAK = Lack("It takes long, or tells the same once more", "Type: make soak")


def skip_for(lack: Lack) -> NoReturn:
    pytest.skip(str(lack))


def needs(lack: Lack, *, met: bool) -> pytest.MarkDecorator:
    """Returns the mark of a test that is skipped unless its need is met."""
    return pytest.mark.skipif(not met, reason=str(lack))


IS_BELOW_AGENT = any(
    processes.variable(pid, name)
    for pid, _ in processes.ancestry(os.getpid())
    for name in ("MAESTRO_SESSION_ID", "MAESTRO_RUN_ID")
)
needs_person = needs(PERSON, met=not IS_BELOW_AGENT)
needs_root = needs(ROOT, met=os.geteuid() == 0)
needs_no_root = needs(NO_ROOT, met=os.geteuid() != 0)
only_soak = needs(ONLY_SOAK, met=SOAK)


def listed(reasons: Iterable[str]) -> list[str]:
    """Returns a line for each reason, with how many tests were skipped for it, most first."""
    return [f"{count} skipped: {reason}" for reason, count in Counter(reasons).most_common()]


def reason_of(report: object) -> str:
    """Returns why a test was skipped, from its report."""
    told = getattr(report, "longrepr", "")
    text = told[2] if isinstance(told, tuple) else str(told)
    return text.removeprefix("Skipped: ")
