"""The way to the daemon: one HTTP request on its socket, written by hand because `http.client` alone would
double what a command costs. Starts the daemon when there is none, and repeats a request whose answer was lost:
its idempotency key makes sure that it is not done twice.
"""

from __future__ import annotations

import _socket  # `socket` itself brings selectors and enum: 5 ms that a local call does not need
import json
import os
import sys
import time

from maestro import __version__, errors
from maestro import home as homes
from maestro.server.exchange import REMEDY, Exchange, Lost, foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# A daemon that dies under a request is started again and asked again, for this long.
_PERSIST_SECONDS = 60.0
# One that breaks off again and again, and was not started again in between, is given up after this long.
_BROKEN_SECONDS = 10.0
_SKEW_SECONDS = 15.0
_EPERM = 1  # `errno` costs more than the number


class Absent(Exception):
    """Nobody listens."""


class Sandboxed(Exception):
    """The system does not let this process connect."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class Daemon:
    """Where a command sends its requests."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.home = homes.locate(env)
        self.url = env.get("MAESTRO_SERVER_URL", "")
        self.local = not self.url
        self._token = env.get("MAESTRO_SESSION_TOKEN") or self._server_token()

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        timeout: float = 30.0,
        start: bool = True,
        renew: bool = True,
        key: str = "",
        is_report: bool = False,
    ) -> Any:
        """The answer's JSON. A refusal or failure comes as the error that the daemon raised.

        `start`: start the daemon when there is none; otherwise that is an error, too.
        `renew`: have a daemon of an older version become this one first.
        `key`: of a change that another process may ask for as well, and that is done once.
        `is_report`: from a sandbox it may be left for a daemon that starts later; None then."""
        payload = b"" if body is None else _encoded(body)
        target = path + _query_string(query or {})
        key = "" if method == "GET" else key or os.urandom(16).hex()
        request = self._request(method, target, payload, key)
        deadline = time.monotonic() + max(timeout, _PERSIST_SECONDS)
        broken, given_up = 0, deadline
        while time.monotonic() < min(deadline, given_up):
            try:
                status, headers, answer = self._exchange(request, timeout)
            except Absent as absent:
                self._start_or_raise(absent, start=start)
                given_up = deadline
            except Sandboxed as sandboxed:
                return self._leave(sandboxed, method, target, payload, key, timeout, is_report=is_report)
            except Lost:
                # It died on us; the next attempt finds it absent and starts it.
                broken += 1
                self._look()
                given_up = min(given_up, time.monotonic() + _BROKEN_SECONDS)
                time.sleep(min(0.02 * broken, 0.5))
            else:
                if renew and self._must_renew(headers):
                    self._renew()
                    continue
                return _result(status, answer)
        raise errors.DaemonError(
            f"The daemon broke off {broken} times.",
            hint=REMEDY,
        )

    def _leave(
        self,
        sandboxed: Sandboxed,
        method: str,
        target: str,
        payload: bytes,
        key: str,
        timeout: float,
        *,
        is_report: bool,
    ) -> Any:
        """The answer to a request by the session's spool: the one way out of a sandbox that has no network."""
        from maestro.server import leave

        folder = self.env.get(leave.VARIABLE)
        if not folder:
            raise leave.closed(sandboxed.error) from sandboxed.error
        request = {
            "method": method,
            "target": target,
            "body": payload.decode(),
            "key": key,
            "token": self._token,
        }
        answer = leave.send(folder, request, timeout=timeout, is_report=is_report)
        return None if answer is None else _result(answer[0], answer[2])

    def _request(self, method: str, target: str, payload: bytes, key: str) -> bytes:
        lines = [
            f"{method} {target} HTTP/1.1",
            f"Host: {self._host_header()}",
            "Connection: close",
            f"Maestro-Client: {__version__}",
        ]
        if payload:
            lines += ["Content-Type: application/json", f"Content-Length: {len(payload)}"]
        elif method != "GET":
            lines.append("Content-Length: 0")
        if key:
            lines.append(f"Idempotency-Key: {key}")
        if self._token:
            lines.append(f"Authorization: Bearer {self._token}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + payload

    def _exchange(self, request: bytes, timeout: float) -> tuple[int, dict[str, str], bytes]:
        connection = self._connect(timeout)
        try:
            status, headers, answer = Exchange(connection, timeout, self._look).run(request)
        finally:
            connection.close()
        if not _version_order(headers.get("maestro-version", "")):
            if status == 500:
                # The server's own word for a request that it was ended in.
                raise Lost
            raise foreign("its answer names no version")
        return status, headers, answer

    def _look(self) -> None:
        """Raises the reason where the daemon of this machine cannot answer."""
        if self.local:
            from maestro.server import lifecycle

            lifecycle.check_not_stopped(self.home)

    def _connect(self, timeout: float) -> _socket.socket:
        kind, where = self._address()
        if kind == "unix":
            homes.check_socket_path(where)
            if self.local:
                homes.check(self.home)
            connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            connection.settimeout(timeout)
            try:
                connection.connect(where)
            except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
                connection.close()
                raise Absent(where) from error
            except PermissionError as error:
                connection.close()
                # A sandbox's filter of system calls says EPERM; the socket's own mode would say EACCES.
                if self.local and (error.errno == _EPERM or self.env.get("MAESTRO_SPOOL_DIR")):
                    raise Sandboxed(error) from error
                raise errors.NoPermission(
                    f"The daemon's socket {where} cannot be used: {error.strerror}.",
                    hint="It belongs to another user; set MAESTRO_HOME to a folder of your own.",
                ) from error
            except OSError as error:
                connection.close()
                raise Lost from error
            return connection
        import socket

        host, _, port = where.rpartition(":")
        try:
            return socket.create_connection((host.strip("[]"), int(port)), timeout=timeout)
        except OSError as error:
            raise Absent(where) from error

    def _address(self) -> tuple[str, str]:
        if self.local:
            return "unix", self.home.socket
        scheme, _, rest = self.url.partition("://")
        if scheme == "unix" and rest:
            return "unix", rest
        rest = rest.rstrip("/")
        _, _, port = rest.rpartition(":")
        if scheme == "http" and port.isdigit():
            return "tcp", rest
        raise errors.InvalidInput(
            f"MAESTRO_SERVER_URL is “{self.url}”.",
            hint="Use unix:///path/to/daemon.sock or http://127.0.0.1:PORT (reach another machine by an SSH tunnel).",
        )

    def _host_header(self) -> str:
        kind, where = self._address()
        return "localhost" if kind == "unix" else where

    def _server_token(self) -> str:
        token = self.env.get("MAESTRO_SERVER_TOKEN", "")
        path = self.env.get("MAESTRO_SERVER_TOKEN_FILE", "")
        if token or not path:
            return token
        try:
            with open(path, encoding="ascii") as file:
                return file.read().strip()
        except (OSError, ValueError) as error:
            raise errors.InvalidInput(
                f"MAESTRO_SERVER_TOKEN_FILE {path} cannot be read.",
                hint="It is the `token` file in the daemon's home.",
            ) from error

    def _start_or_raise(self, absent: Absent, *, start: bool) -> None:
        if not start:
            raise errors.DaemonError("The daemon is not running.", hint="Any other command starts it.")
        if not self.local:
            raise errors.DaemonError(
                f"No daemon answers at {absent}.",
                hint="Check MAESTRO_SERVER_URL; only the local daemon is started by itself.",
            )
        from maestro.server import lifecycle

        lifecycle.start(self.home, self.env)

    def _must_renew(self, headers: Mapping[str, str]) -> bool:
        """Whether the daemon runs an older Maestro than this command. A newer one serves older commands."""
        theirs = headers.get("maestro-version", "")
        return self.local and theirs != __version__ and _version_order(theirs) < _version_order(__version__)

    def _renew(self) -> None:
        """The daemon finishes what it accepted and becomes this version; its socket stays open throughout."""
        request = self._request(
            "POST",
            "/api/server/restart",
            json.dumps({"python": sys.executable}).encode(),
            os.urandom(16).hex(),
        )
        deadline = time.monotonic() + _SKEW_SECONDS
        try:
            status, _, answer = self._exchange(request, _SKEW_SECONDS)
        except (Lost, Absent):
            # It ended meanwhile. Whoever comes next is this version, or is told again.
            return
        _result(status, answer)
        while time.monotonic() < deadline:
            try:
                _, headers, _ = self._exchange(self._request("GET", "/api/health", b"", ""), _SKEW_SECONDS)
            except Absent:
                # Its socket stays open while it becomes another version: it has ended. A start says why.
                return
            except Lost:
                time.sleep(0.05)
                continue
            if not self._must_renew(headers):
                return
            time.sleep(0.05)
        raise errors.DaemonError(
            f"The daemon is older than this command ({__version__}) and did not renew itself.",
            hint="Type: maestro server restart",
        )

    def events(self, cursor: str | None, subjects: str, wait: float = 25.0) -> Iterator[dict[str, Any]]:
        """Events about these ids as they happen, without end; the daemon answers when there is one."""
        while True:
            page = self.call(
                "GET",
                "/api/events",
                query={"since": cursor, "subjects": subjects, "wait": int(wait)},
                timeout=wait + 30,
            )
            yield from page["events"]
            cursor = page["cursor"]


def _query_string(query: Mapping[str, str | int | None]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    if not given:
        return ""
    return "?" + "&".join(f"{name}={quoted(str(value))}" for name, value in given.items())


def quoted(value: str) -> str:
    """Percent-encoding; `urllib.parse` costs 6 ms to import."""
    return "".join(
        chr(byte) if byte < 128 and (chr(byte).isalnum() or chr(byte) in "-._~/,:") else f"%{byte:02X}"
        for byte in value.encode("utf-8", "surrogateescape")
    )


def _encoded(body: Any) -> bytes:
    """JSON. As UTF-8 it is at most a third of what it is with escapes; half a surrogate pair has none."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def _result(status: int, answer: bytes) -> Any:
    try:
        told = json.loads(answer) if answer else None
    except (ValueError, RecursionError) as error:
        if status < 400:
            raise foreign("its answer is no JSON") from error
        told = None
    if status >= 400:
        raise errors.from_wire(status, told)
    return told


def _version_order(version: str) -> tuple[int, ...]:
    """Numbers of a version, enough to order our own releases."""
    return tuple(int(part) for part in version.split("+", maxsplit=1)[0].split(".") if part.isdigit())
