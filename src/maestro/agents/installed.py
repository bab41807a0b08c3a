"""Asks an installed CLI for its version, and remembers the answer for as long as the program is the same.

Starting a CLI takes up to a second or two, and a broken one may never answer or never stop printing: time and output
are bounded, and all that it started ends with it.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from typing import Final, Literal

import msgspec

from maestro import processes
from maestro.agents import Environment
from maestro.agents.versions import version_in
from maestro.errors import MaestroError
from maestro.files import write_atomically
from maestro.redact import clean, redact

SECONDS: Final = 10.0
CACHE_FILE: Final = "cli-versions.json"
_DAY_MS: Final = 24 * 60 * 60 * 1000
_MOST_KEPT: Final = 200
_MOST_READ: Final = 64 * 1024
_LONGEST_WORDS: Final = 200
_LOOK_SECONDS: Final = 0.1

Fault = Literal[
    "",
    "missing",  # it is not on PATH
    "slow",  # it did not answer in time
    "fails",  # it did not start, or ended with an error
    "unclear",  # what it printed holds no version
]


class Installed(msgspec.Struct, frozen=True):
    """What a CLI on this machine says of itself."""

    path: str = ""
    version: str = ""
    words: str = ""  # what it printed, its first line; of a fault, its last
    fault: Fault = ""


class _Kept(msgspec.Struct, frozen=True):
    program: tuple[str, int, int, int, int, int]
    cwd: str  # a program that stands for several versions chooses by it
    version: str
    at: int  # milliseconds since 1970


def ask(
    program: str, env: Environment, cwd: str, *, flag: str = "--version", seconds: float = SECONDS
) -> Installed:
    """Runs the program with the flag that tells its version. Never raises, never takes much longer than this."""
    path = shutil.which(program, path=env.get("PATH"))
    if path is None:
        return Installed(fault="missing")
    try:
        child = subprocess.Popen(
            [path, flag], cwd=cwd, env=dict(env), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Installed(path, words=f"{getattr(error, 'strerror', None) or error}", fault="fails")
    with child:
        try:
            stdout, stderr = _read(child, time.monotonic() + seconds)
            has_ended = processes.wait_for_end(child.pid, 0)
        finally:
            _end(child)
    if not has_ended and max(len(stdout), len(stderr)) < _MOST_READ:
        return Installed(path, words=f"no answer in {seconds:g} s", fault="slow")
    return _judged(path, stdout, stderr, child.returncode if has_ended else 0)


def known_version(
    root: str, program: str, env: Environment, cwd: str, *, now: int, seconds: float = SECONDS
) -> str:
    """Returns the version, as it was answered before by the same program or as it answers now; "" where it tells none.

    A script may hide an upgrade of the program that it runs: no answer is taken for longer than a day. `root`: MAESTRO_HOME.
    """
    identity = _identity(program, env)
    if identity is None:
        return ""
    kept = _kept(root)
    for one in kept:
        if (one.program, one.cwd) == (identity, cwd) and 0 <= now - one.at < _DAY_MS:
            return one.version
    version = ask(program, env, cwd, seconds=seconds).version
    if version:
        _keep(root, kept, _Kept(identity, cwd, version, now))
    return version


def _identity(program: str, env: Environment) -> tuple[str, int, int, int, int, int] | None:
    path = shutil.which(program, path=env.get("PATH"))
    if path is None:
        return None
    try:
        real = os.path.realpath(path)
        found = os.stat(real)
    except OSError:
        return None
    return (real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _kept(root: str) -> list[_Kept]:
    try:
        with open(os.path.join(root, CACHE_FILE), "rb") as file:
            return msgspec.json.decode(file.read(), type=list[_Kept])
    except (OSError, msgspec.DecodeError):
        return []


def _keep(root: str, kept: list[_Kept], new: _Kept) -> None:
    """Writes it down where there is a home; where that fails, it is asked for again."""
    others = [one for one in kept if (one.program[0], one.cwd) != (new.program[0], new.cwd)]
    if os.path.isdir(root):
        try:
            data = msgspec.json.encode([*others, new][-_MOST_KEPT:])
            write_atomically(os.path.join(root, CACHE_FILE), data, durable=False)
        except (MaestroError, OSError):
            pass


def _read(child: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """Reads until it has ended, has said too much, or its time is up. What it started may keep its pipes open."""
    assert child.stdout is not None
    assert child.stderr is not None
    said = {child.stdout.fileno(): b"", child.stderr.fileno(): b""}
    with selectors.DefaultSelector() as selector:
        for descriptor in said:
            selector.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and max(map(len, said.values())) < _MOST_READ:
            has_ended = processes.wait_for_end(child.pid, 0)
            ready = selector.select(0 if has_ended else min(left, _LOOK_SECONDS))
            for key, _ in ready:
                data = os.read(key.fd, _MOST_READ)
                said[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
            if has_ended and not ready:
                break
    return said[child.stdout.fileno()], said[child.stderr.fileno()]


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the program and its group, whose number nobody else gets before the program is waited for."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _judged(path: str, stdout: bytes, stderr: bytes, code: int) -> Installed:
    lines = [line for said in (stdout, stderr) for line in _lines(said)]
    if code:
        ending = f"exit code {code}" if code > 0 else f"signal {-code}"
        words = f"{ending}: {lines[-1]}" if lines else f"{ending}, and it says nothing"
        return Installed(path, words=words, fault="fails")
    first = lines[0] if lines else ""
    version = version_in(first)
    if not version:
        return Installed(path, words=first, fault="unclear")
    return Installed(path, version, first)


def _lines(said: bytes) -> list[str]:
    text = redact(clean(said[:_MOST_READ].decode("utf-8", "replace")))
    return [line.strip()[:_LONGEST_WORDS] for line in text.splitlines() if line.strip()]
