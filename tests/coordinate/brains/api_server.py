"""A real HTTP server on loopback that answers as the three APIs do, turn by turn, and remembers what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Provider = Literal["anthropic", "openai", "google"]
PROVIDERS: tuple[Provider, ...] = ("anthropic", "openai", "google")
TOKENS = (120, 30)  # what every good answer says that it took


@dataclass(frozen=True)
class Turn:
    """What one request gets: a good answer with these arguments, or anything else."""

    arguments: Mapping[str, Any] | str | None = None
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    gate: threading.Event | None = None  # nothing is sent before it is set


@dataclass
class ApiServer:
    provider: Provider
    port: int
    turns: list[Turn] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    seen_headers: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        url = f"http://127.0.0.1:{self.port}"
        return f"{url}/v1" if self.provider == "openai" else url


def good(provider: Provider, arguments: Mapping[str, Any] | str, tool: str) -> bytes:
    read, wrote = TOKENS
    answer: dict[str, Any]
    if provider == "anthropic":
        block = (
            {"type": "text", "text": arguments}
            if isinstance(arguments, str)
            else {"type": "tool_use", "id": "toolu_1", "name": tool, "input": arguments}
        )
        answer = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block],
            "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": read, "output_tokens": wrote},
        }  # fmt: skip
    elif provider == "openai":
        called = {
            "id": "call_1",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)},
        }
        said = (
            {"content": arguments}
            if isinstance(arguments, str)
            else {"content": None, "tool_calls": [called]}
        )
        answer = {
            "id": "c_1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **said}}],
            "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
        }  # fmt: skip
    else:
        part = (
            {"text": arguments}
            if isinstance(arguments, str)
            else {"functionCall": {"name": tool, "args": arguments}}
        )
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": wrote, "totalTokenCount": read + wrote},
            "modelVersion": "m", "responseId": "r_1",
        }  # fmt: skip
    return json.dumps(answer).encode()


def tools_of(body: Any) -> list[str]:
    """The names of all tools that a request offers to the model."""
    return re.findall(r'"name": "([a-z_]+)"', json.dumps(body.get("tools", [])))


@contextmanager
def serving(provider: Provider) -> Iterator[ApiServer]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *words: Any) -> None:  # noqa: A002 - the library's own name
            """Nothing: what matters is in `ApiServer.asked`."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append(body)
            made.seen_headers.append(str(self.headers))
            turn = made.turns.pop(0) if len(made.turns) > 1 else made.turns[0]
            if turn.gate is not None:
                turn.gate.wait()
            tool = next(iter(tools_of(body)), "final_result")
            data = turn.body if turn.body is not None else good(provider, turn.arguments or "", tool)
            try:
                self.send_response(turn.status)
                for name, value in {
                    "Content-Type": turn.kind,
                    "Content-Length": str(len(data)),
                    **turn.headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = True
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the brain did not wait

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    made = ApiServer(provider, server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
