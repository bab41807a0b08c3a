"""Passes a request that a sandboxed session left as a file through the same gate and routes as any other."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from maestro.errors import InvalidInput, MaestroError
from maestro.fleet.spools import Answer, Left

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_SECONDS = 900.0  # longer than any long poll


class Spooled:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def carry(self, session_id: str, left: Left) -> Answer:
        """Returns the answer, whatever it is. The gate lets nobody but this session be meant by the token."""
        try:
            scope = _scope(session_id, left)
        except MaestroError as error:
            return Answer(error.http_status, json.dumps(error.to_wire()))
        answer = _Collected(left.body.encode("utf-8", "replace"))
        try:
            async with asyncio.timeout(_SECONDS):
                await self._app(scope, answer.receive, answer.send)
        except TimeoutError:
            answer.status = answer.status or 504
        except Exception:  # noqa: BLE001 - the routes answer first and raise again, for a server's log
            answer.status = answer.status or 500
        return Answer(answer.status, b"".join(answer.parts).decode("utf-8", "replace"))


class _Collected:
    """What a server does for one request."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self.status = 0
        self.parts: list[bytes] = []

    async def receive(self) -> Message:
        if self._body is None:
            # Nobody can tell that whoever left a file went away.
            await self._gone.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.parts.append(message.get("body", b""))


def _scope(session_id: str, left: Left) -> dict[str, Any]:
    path, _, query = left.target.partition("?")
    words = (left.target, left.token, left.key)
    if left.method not in _METHODS or not path.startswith("/api/") or not all(map(_is_plain, words)):
        raise InvalidInput("This is no request for the daemon.", hint="Let the command `maestro` write it.")
    headers = [
        (b"host", b"localhost"),
        (b"authorization", b"Bearer " + left.token.encode()),
        (b"content-length", str(len(left.body.encode("utf-8", "replace"))).encode()),
    ]
    if left.body:
        headers.append((b"content-type", b"application/json"))
    if left.key:
        headers.append((b"idempotency-key", left.key.encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": left.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        "state": {"spool_of": session_id},
    }


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
