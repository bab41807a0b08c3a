"""A program that stands where the daemon stands: `fake_daemon.py HOME BEHAVIOUR`. It holds the daemon's lock and socket, and
answers as it was told; it prints a line when it listens, and one for each
request."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

from maestro import __version__, processes
from maestro.home import Home
from maestro.server import lifecycle

OK = f"HTTP/1.1 200 OK\r\nmaestro-version: {__version__}\r\n"
KEPT_SECONDS = 120.0  # longer than any command may wait


def dripping(text: str) -> Iterator[bytes]:
    for character in text:
        yield character.encode()
        time.sleep(0.2)


def endless(first: str, more: bytes) -> Iterator[bytes]:
    yield first.encode()
    while True:
        yield more


def silent(*first: str) -> Iterator[bytes]:
    yield "".join(first).encode()
    time.sleep(KEPT_SECONDS)


def once(text: str) -> Iterator[bytes]:
    yield text.encode("latin-1")


BEHAVIOURS: dict[str, Callable[[], Iterator[bytes]]] = {
    # It answers, and not as a daemon does.
    "noise": lambda: once("\x00\xff\xfe{}\r\n\r\n" * 10),
    "text": lambda: once("hello\r\n"),
    "other protocol": lambda: once("SSH-2.0-OpenSSH_9.2p1\r\n"),
    "other version of HTTP": lambda: once("HTTP/2 200\r\n\r\n{}"),
    "no status": lambda: once("HTTP/1.1\r\n\r\n{}"),
    "odd status": lambda: once(f"HTTP/1.1 2x0 OK\r\nmaestro-version: {__version__}\r\n\r\n{{}}"),
    "no version": lambda: once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"),
    "odd version": lambda: once("HTTP/1.1 200 OK\r\nmaestro-version: zzz\r\nContent-Length: 2\r\n\r\n[]"),
    "error of another server": lambda: once("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno"),
    "no JSON": lambda: once(OK + 'Content-Length: 5\r\n\r\n{"a":'),
    "deep JSON": lambda: once(OK + "\r\n" + "[" * 100_000),
    "length that is no number": lambda: once(OK + "Content-Length: many\r\n\r\n[]"),
    "length below zero": lambda: once(OK + "Content-Length: -1\r\n\r\n[]"),
    "length of a terabyte": lambda: silent(OK, "Content-Length: 1000000000000\r\n\r\n["),
    "more than it says": lambda: once(OK + "Content-Length: 1\r\n\r\n[]"),
    "headers without end": lambda: endless(OK, b"X-Y: " + b"z" * 4000 + b"\r\n"),
    "first line without end": lambda: endless("HTTP/1.1 200 ", b"z" * 4000),
    "body without end": lambda: endless(OK + "\r\n[", b"0," * 50_000),
    # It breaks off, each time.
    "nothing": lambda: iter(()),
    "half a head": lambda: once("HTTP/1.1 200 OK\r\nConte"),
    "half a body": lambda: once(OK + "Content-Length: 100\r\n\r\n["),
    # It takes its time.
    "silence": lambda: silent(""),
    "silence in its head": lambda: silent("HTTP/1.1 200 OK\r\n"),
    "silence in its body": lambda: silent(OK, "Content-Length: 100\r\n\r\n["),
    "a drop now and then": lambda: dripping(OK + "Content-Length: 5000\r\n\r\n" + "[" + " " * 4998 + "]"),
}


def serve(connection: socket.socket, behaviour: str) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(KEPT_SECONDS)
        request = connection.recv(1 << 16)
        if not request:
            return
        print("asked", flush=True)  # noqa: T201 - likewise
        for part in BEHAVIOURS[behaviour]():
            connection.sendall(part)


def main(root: str, behaviour: str) -> None:
    home = Home(root)
    lock = lifecycle.take_lock(home.daemon_lock)
    assert lock is not None
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(home.socket)
    listening.listen(100)
    record = {"pid": os.getpid(), "started": processes.start_time(os.getpid()), "boot": processes.boot_id()}
    with open(home.daemon_record, "w", encoding="utf-8") as file:
        json.dump(record | {"version": __version__, "listen": None, "since": 0}, file)
    print("listens", flush=True)  # noqa: T201 - the test waits for it
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=serve, args=(connection, behaviour), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
