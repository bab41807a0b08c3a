"""Bytes on the daemon's sockets, as no HTTP library would send them, and what comes back."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tests.patience import patience


class Answer(NamedTuple):
    status: int  # 0: the connection ended without a word
    head: bytes
    body: bytes

    @property
    def told(self) -> Any:
        return json.loads(self.body)


def connected(where: str | int) -> socket.socket:
    """A connection to a Unix socket, or to a port of this machine."""
    connection = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
    connection.settimeout(patience(60))
    connection.connect(where if isinstance(where, str) else ("127.0.0.1", where))
    return connection


def sent(connection: socket.socket, parts: Iterable[bytes]) -> int:
    """Sends part after part until the other side has enough of it. Returns how many bytes it took."""
    count = 0
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for part in parts:
            connection.sendall(part)
            count += len(part)
    return count


def answer_on(connection: socket.socket) -> Answer:
    """Reads to the end of the connection: the daemon must close it."""
    whole = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            whole += part
    head, _, body = whole.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d{3})", head)
    return Answer(int(status[1]) if status else 0, head, body)


def exchange(where: str | int, *parts: bytes) -> Answer:
    with connected(where) as connection:
        sent(connection, parts)
        return answer_on(connection)


def most_memory(pid: int) -> int:
    """The most bytes of memory that a process ever had."""
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    assert found
    return int(found[1]) * 1024
