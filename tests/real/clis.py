"""The real CLIs: which versions, and how they come onto this machine.

npm brings each into a folder of its own that git ignores, once; nothing of it runs while it is installed.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.patience import run

CACHE = Path(__file__).parent.parent.parent / ".cache" / "real"
# What npm needs of the person's environment: tests give themselves another one later.
_ENVIRONMENT: Mapping[str, str] = dict(os.environ)
_INSTALL_SECONDS = 300
_INSTALL_NODE = "Install both: apt-get install nodejs npm (version 20 or newer)."
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


class NotInstalled(Exception):
    """A CLI cannot be had here; the message says why, and what to do."""


@dataclass(frozen=True)
class Cli:
    name: str  # as Maestro and the command line know it
    version: str
    package: str
    program: str  # inside node_modules; {machine} is the platform as npm's packages name it

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"

    @property
    def bin(self) -> Path:
        """The folder that holds the command alone."""
        return self.folder / "bin"


CLIS = {
    cli.name: cli
    for cli in (
        Cli("claude", "2.1.325", "@anthropic-ai/claude-code", "@anthropic-ai/claude-code-linux-{machine}/claude"),
        Cli("codex", "0.166.0", "@openai/codex", ".bin/codex"),
        Cli("gemini", "0.61.0", "@google/gemini-cli", ".bin/gemini"),
    )
}  # fmt: skip
# Older versions that people still have; the walk is taken with them in a soak.
OLDER = {
    "claude": ("2.1.197",),
    "codex": ("0.160.1", "0.149.0"),
    "gemini": ("0.56.0",),
}


def older(name: str) -> list[Cli]:
    return [replace(CLIS[name], version=version) for version in OLDER[name]]


def installed(cli: Cli) -> Path:
    """The folder with the CLI's command, installed if it is not there yet."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        raise NotInstalled(
            f"{cli.name} is run here on Linux with x86-64 or arm64 only. Run `make test-real` on such a machine."
        )
    node = shutil.which("node", path=_ENVIRONMENT.get("PATH"))
    if node is None:
        raise NotInstalled(f"{cli.name} needs node, which is not on PATH. {_INSTALL_NODE}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{cli.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cli.bin / cli.name).exists():
            _install(cli, machine, node)
    return cli.bin


def _by_hand(cli: Cli) -> str:
    return f"See what it says: npm install --ignore-scripts --prefix {os.path.relpath(cli.folder)} {cli.package}@{cli.version}"


def _install(cli: Cli, machine: str, node: str) -> None:
    npm = shutil.which("npm", path=_ENVIRONMENT.get("PATH"))
    if npm is None:
        raise NotInstalled(f"npm, which brings {cli.name}, is not on PATH. {_INSTALL_NODE}")
    shutil.rmtree(cli.folder, ignore_errors=True)
    cli.folder.mkdir()
    words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel", "error"]
    # Without a network the answer is the same after the first second.
    words += ["--fetch-retries", "1", "--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000"]
    try:
        done = run(
            [npm, *words, "--prefix", cli.folder, f"{cli.package}@{cli.version}"],
            env=_ENVIRONMENT, cwd=cli.folder, stdin=subprocess.DEVNULL, text=True,
            seconds=_INSTALL_SECONDS,
    )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(
            f"npm did not bring {cli.package} within {_INSTALL_SECONDS} s. {_by_hand(cli)}"
        ) from error
    if done.returncode != 0:
        told = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise NotInstalled(
            f"npm did not bring {cli.package}@{cli.version}: {' '.join(told[:3])} {_by_hand(cli)}"
        )
    program = cli.folder / "node_modules" / cli.program.format(machine=machine)
    if not program.exists():
        raise NotInstalled(f"{cli.package}@{cli.version} holds no program for {machine}. {_by_hand(cli)}")
    cli.bin.mkdir()
    (cli.bin / "node").symlink_to(node)
    (cli.bin / cli.name).symlink_to(program)
