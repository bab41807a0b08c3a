"""The daemon's connections: on the Unix socket the kernel says which process calls and for which user; what comes before
a body is bounded in bytes and in time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from maestro import __version__, processes
from maestro.errors import InvalidInput, MaestroError, TimedOut, TooLarge

LONGEST_HEAD: Final = 64 << 10
HEAD_SECONDS: Final = 10.0
# Of one request, as it came: chunks of a byte take six, and nobody but an attacker sends them.
MOST_RAW_BYTES: Final = 32 << 20


class PeerCheckedProtocol(HttpToolsProtocol):
    _head_timer: asyncio.TimerHandle | None = None
    _is_in_head: bool = True
    _raw_bytes: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows the argument too
        super().connection_made(transport)
        self._await_head()
        connection = transport.get_extra_info("socket")
        if connection is None or connection.family != socket.AF_UNIX:
            return
        peer = processes.peer_of(connection)
        if peer is None:
            # Nobody but the owner can open the socket: its folder is 0700.
            peer = (0, os.geteuid())
        pid, uid = peer
        if uid != os.geteuid():
            transport.abort()
            return
        self.app_state = {**self.app_state, "peer_pid": pid}

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._raw_bytes += len(data)
        if self._is_in_head and self._head_timer is None:
            self._await_head()
        super().data_received(data)
        if self.transport.is_closing():
            return
        what, limit = (
            ("What comes before the body", LONGEST_HEAD)
            if self._is_in_head
            else ("The request as it came", MOST_RAW_BYTES)
        )
        if self._raw_bytes > limit:
            self._refuse(TooLarge(f"{what} has more than {limit:,} bytes.", hint="Send less."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self._raw_bytes = 0

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._is_in_head = False
        if not self.url.startswith(b"/"):
            # `GET http://other/ HTTP/1.1`: the name in it would stand above the Host that the gate looks at.
            raise InvalidInput("The request's target must begin with /.")
        super().on_headers_complete()
        # What comes behind a body of chunks is no header of this request any more: the gate has judged those.
        self.headers = list(self.headers)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_in_head = True
        self._raw_bytes = 0

    def send_400_response(self, msg: str) -> None:
        self._refuse(
            InvalidInput(msg, hint="Let an HTTP library write the request, with a target that begins with /.")
        )

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._late)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _late(self) -> None:
        self._refuse(
            TimedOut(f"The request did not come within {HEAD_SECONDS:.0f} s.", hint="Send it in one piece.")
        )

    def _refuse(self, error: MaestroError) -> None:
        """Answers in front of the gate, unless another answer is on its way, and closes."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        is_first = cycle is None or cycle.response_complete or not cycle.response_started
        if is_first and not self.pipeline:
            body = json.dumps(error.to_wire()).encode()
            head = (
                f"maestro-version: {__version__}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(STATUS_LINE[error.http_status] + head.encode() + body)
        self.transport.close()
