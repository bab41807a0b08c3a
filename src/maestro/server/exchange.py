"""Sends one HTTP request on an open connection and reads its whole answer: bounded in bytes and in time, whoever answers.

Light imports only: every command goes through here.
"""

from __future__ import annotations

import time

from maestro import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

_LONGEST_HEAD = 64 << 10
_LONGEST_ANSWER = 128 << 20
_ANSWER_SECONDS = 30.0  # from an answer's first byte to its last; the daemon sends it in one piece
_LOOK_SECONDS = 2.0  # of silence, then the daemon's process is looked at
_BEGINNING = b"HTTP/1."
REMEDY = "`maestro doctor` says more; `maestro server stop --force` ends the daemon, and nothing that it acknowledged is lost."


class Lost(Exception):
    """The connection ended before the whole answer was there: done or not, nobody knows."""


class Exchange:
    """`look` raises the reason when the silent daemon cannot answer."""

    def __init__(self, connection: _socket.socket, timeout: float, look: Callable[[], None]) -> None:
        self._connection = connection
        self._look = look
        self._deadline = time.monotonic() + timeout
        self._late = f"The daemon did not answer within {timeout:.0f} s."

    def run(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Returns status, headers and body."""
        self._send(request)
        head, rest = self._head()
        status, headers = _parsed(head)
        return status, headers, self._body(headers, rest)

    def _send(self, request: bytes) -> None:
        left = memoryview(request)
        while left:
            self._arm()
            try:
                left = left[self._connection.send(left) :]
            except TimeoutError:
                self._look()
            except OSError:
                # It reads no more of this, and may have said why.
                return

    def _head(self) -> tuple[bytes, bytes]:
        """Returns the lines before the body, and what came of the body with them."""
        whole = b""
        while True:
            part = self._received()
            if not whole:
                self._hasten()
            whole += part
            if not (whole.startswith(_BEGINNING) or _BEGINNING.startswith(whole)):
                raise foreign("it does not speak HTTP")
            head, found, rest = whole.partition(b"\r\n\r\n")
            if found:
                return head, rest
            if not part:
                raise Lost
            if len(whole) > _LONGEST_HEAD:
                raise foreign("its answer has no end of headers")

    def _body(self, headers: dict[str, str], rest: bytes) -> bytes:
        said = headers.get("content-length")
        wanted = None if said is None else _number(said)
        parts, size = [rest], len(rest)
        while wanted is None or size < wanted:
            part = self._received()
            if not part:
                if wanted is None:
                    break
                raise Lost
            parts.append(part)
            size += len(part)
            if size > _LONGEST_ANSWER:
                raise foreign("its answer has no end")
        if wanted is not None and size > wanted:
            raise foreign("its answer is longer than it says")
        return b"".join(parts)

    def _received(self) -> bytes:
        while True:
            self._arm()
            try:
                return self._connection.recv(1 << 18)
            except TimeoutError:
                self._look()
            except OSError as error:
                raise Lost from error

    def _hasten(self) -> None:
        """Shortens the deadline: the daemon may work for long, and then sends its answer in one piece."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        if deadline < self._deadline:
            self._deadline = deadline
            self._late = (
                f"The daemon began to answer, and its answer did not end within {_ANSWER_SECONDS:.0f} s."
            )

    def _arm(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise errors.TimedOut(self._late, hint=REMEDY)
        self._connection.settimeout(min(left, _LOOK_SECONDS))


def foreign(why: str) -> errors.DaemonError:
    return errors.DaemonError(
        f"What answers at the daemon's socket is not Maestro's daemon, or is broken: {why}.", hint=REMEDY
    )


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    status = first.split(" ", 2)[1] if first.count(" ") else ""
    if not (len(status) == 3 and status.isascii() and status.isdigit()):
        raise foreign("its answer has no status")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(status), headers


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise foreign("its answer has no length")
    if int(text) > _LONGEST_ANSWER:
        raise foreign(f"its answer has {text} bytes")
    return int(text)
