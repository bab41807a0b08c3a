"""`python attacker.py ITEMS RESULTS`: what a hostile agent tries, one item after the other, and what it got of each.

It runs inside the sandbox and, to prove that each attack can succeed, outside. Nothing but Python's own library.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable


def read(target: str) -> str:
    with open(target, "rb") as file:
        return file.read(200).decode("latin-1") or "empty"


def listing(target: str) -> str:
    return " ".join(sorted(os.listdir(target)))


def write(target: str) -> str:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "a", encoding="utf-8") as file:
        file.write("evil\n")
    return "written"


def connect(target: str) -> str:
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.connect(target.replace("@", "\0", 1) if target.startswith("@") else target)
    return "connected"


def signal(target: str) -> str:
    os.kill(int(target), 0)
    return "there"


def trace(target: str) -> str:
    """Read another process's memory: the first bytes of its stack."""
    with open(f"/proc/{target}/maps", encoding="ascii") as maps:
        stack = next(line for line in maps if line.endswith("[stack]\n"))
    with open(f"/proc/{target}/mem", "rb") as memory:
        memory.seek(int(stack.split("-")[0], 16))
        return str(len(memory.read(16)))


def type_into(target: str) -> str:
    """Put a character into the input of another's terminal."""
    descriptor = os.open(target, os.O_RDWR | os.O_NOCTTY)
    try:
        return f"opened {os.write(descriptor, b'x')}"
    finally:
        os.close(descriptor)


def shell(target: str) -> str:
    done = subprocess.run(["sh", "-c", target], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        raise OSError(done.stderr)
    return done.stdout.strip() or "done"


def variable(target: str) -> str:
    return os.environ[target]


def mount(target: str) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(target.encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), target)
    return "unmounted"


KINDS: dict[str, Callable[[str], str]] = {
    one.__name__: one
    for one in (read, listing, write, connect, signal, trace, type_into, shell, variable, mount)
}


def main(items: str, results: str) -> None:
    with open(items, encoding="utf-8") as file:
        wanted: dict[str, tuple[str, str]] = json.load(file)
    got = {}
    for name, (kind, target) in wanted.items():
        try:
            got[name] = KINDS[kind](target)
        except (OSError, KeyError, subprocess.TimeoutExpired):
            got[name] = ""
    with open(results + ".new", "w", encoding="utf-8") as file:
        json.dump(got, file)
    os.rename(results + ".new", results)


if __name__ == "__main__":
    main(*sys.argv[1:])
