"""A stub of the Anthropic Messages, OpenAI Responses and Gemini APIs: it says what a test scripts, turn by turn, and
remembers what it was asked. Each API has a script of its own, so that agents beside each other do not mix.

A request with tools is a turn of the conversation and takes the script's next; one without asks for a title or
a route, and gets an answer that fits all of those.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.real import wire
from tests.real.turns import Api, Failure, Purpose, Received, Reply, Scripted, Silence, Turn, says

_SIDE_ANSWERS: dict[Api, str] = {
    "anthropic": '{"title": "Stub title"}',
    "openai": "Stub title",
    "gemini": json.dumps(
        {"complexity_reasoning": "x", "complexity_score": 10, "reasoning": "simple", "model_choice": "flash"}
    ),
}
_NOTHING_MORE = says("STUB: the script has no more turns.")
_DIALECTS: dict[Api, wire.Dialect] = {
    "anthropic": wire.Anthropic(),
    "openai": wire.OpenAI(),
    "gemini": wire.Gemini(),
}


class StubApi:
    """The server, as a test sees it."""

    def __init__(self, listener: socket.socket) -> None:
        self.port: int = listener.getsockname()[1]
        self._changed = threading.Condition()
        self._scripts: dict[Api, list[Scripted]] = {}
        self._afterwards: dict[Api, Scripted] = {}
        self._received: list[Received] = []
        self._server = _Server(("127.0.0.1", self.port), _Handler, bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @contextmanager
    def serving(self) -> Iterator[StubApi]:
        self._thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._thread.join()

    def load(self, api: Api, *turns: Scripted, afterwards: Scripted = _NOTHING_MORE) -> int:
        """These turns come next. The number of the last request before them."""
        with self._changed:
            self._scripts[api] = list(turns)
            self._afterwards[api] = afterwards
            return len(self._received)

    def received(self, since: int = 0, purpose: Purpose = "turn") -> list[Received]:
        with self._changed:
            return [one for one in self._received[since:] if one.purpose == purpose]

    def wait_for(
        self, good: Callable[[Received], bool], *, since: int = 0, seconds: float = 30
    ) -> Received | None:
        """The first turn that was asked for and is good; None if there was none in time."""
        with self._changed:
            self._changed.wait_for(lambda: any(map(good, self._turns(since))), seconds)
            return next(filter(good, self._turns(since)), None)

    def _turns(self, since: int) -> list[Received]:
        return [one for one in self._received[since:] if one.purpose == "turn"]

    def take(self, api: Api | None, purpose: Purpose, path: str, body: Any) -> Turn:
        """Note a request; what to answer."""
        with self._changed:
            request = Received(len(self._received) + 1, api, purpose, path, body)
            self._received.append(request)
            self._changed.notify_all()
            if api is None or purpose != "turn":
                return says(_SIDE_ANSWERS[api] if api else "")
            script = self._scripts.get(api, [])
            turn = script.pop(0) if script else self._afterwards.get(api, _NOTHING_MORE)
            return turn(request) if callable(turn) else turn


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: StubApi


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    _ROUTES: ClassVar[tuple[tuple[str, Api, Purpose], ...]] = (
        (r"/messages/count_tokens$", "anthropic", "count"),
        (r"/messages$", "anthropic", "turn"),
        (r"/responses$", "openai", "turn"),
        (r":countTokens$", "gemini", "count"),
        (r":(stream)?[gG]enerateContent$", "gemini", "turn"),
    )

    def log_message(self, format: str, *words: Any) -> None:  # noqa: A002 - the library's own name
        """Nothing: what matters is in `StubApi.received`."""

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self.server.api.take(None, "other", self.path, None)
        if "/models" in self.path:
            self._send(200, {"object": "list", "data": [], "models": []})
        else:
            self._send(404, {"error": {"type": "not_found_error", "message": "stub: no such path"}})

    def do_POST(self) -> None:
        try:
            self._answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the CLI did not want to hear the rest

    def _answer(self) -> None:
        body = json.loads(self._body() or b"null")
        path = self.path.partition("?")[0]
        route = next((one for one in self._ROUTES if re.search(one[0], path)), None)
        if route is None:
            self.server.api.take(None, "other", self.path, body)
            self._send(404, {"error": {"message": "stub: no such path"}})
            return
        _, api, purpose = route
        if purpose == "turn" and not body.get("tools"):
            purpose = "side"
        turn = self.server.api.take(api, purpose, self.path, body)
        if purpose == "count":
            self._send(200, {"input_tokens": 100, "totalTokens": 100})
        elif isinstance(turn, Silence):
            turn.gate.wait()
            self.close_connection = True
        elif isinstance(turn, Failure):
            self._send(turn.status, _DIALECTS[api].failure(turn), turn.headers)
        else:
            self._reply(_DIALECTS[api], turn, body, path)

    def _reply(self, dialect: wire.Dialect, turn: Reply, body: Any, path: str) -> None:
        if turn.gate:
            turn.gate.wait()
        time.sleep(turn.delay)
        model = body.get("model") or re.sub(r".*models/([^:/]+).*", r"\1", path)
        if not (body.get("stream") or "stream" in path):
            self._send(200, dialect.whole(turn, model))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in dialect.events(turn, model):
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
            if dialect.is_piece(event):
                if turn.cut:
                    return
                time.sleep(turn.between)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().partition(b";")[0].strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _send(self, status: int, answer: Any, headers: Any = ()) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
