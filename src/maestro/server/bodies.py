"""Reads a request's body in front of the routes: no more of it than its kind may have, and no longer than it may take."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from maestro.errors import InvalidInput, TimedOut, TooLarge
from maestro.server.spool import LONGEST as _LONGEST_HOOK

if TYPE_CHECKING:
    from starlette.types import Message, Receive

LONGEST: Final = (
    8 << 20
)  # the longest message that can be typed has 500,000 characters: 2 MB, and twice that is read
_HOOKS: Final = "/api/hooks/"
SECONDS: Final = 30.0  # for all of it
# Of a request that is refused before its body was read, so much is still taken, and for so long.
_DISCARDED: Final = 64 << 10
_DISCARD_SECONDS: Final = 2.0


class Gone(Exception):
    """The caller left before all of it was there."""


class Body:
    """A body that was read, for the routes; behind it whatever the connection says next."""

    def __init__(self, content: bytes, receive: Receive) -> None:
        self._content: bytes | None = content
        self._receive = receive

    async def receive(self) -> Message:
        if self._content is None:
            return await self._receive()
        content, self._content = self._content, None
        return {"type": "http.request", "body": content, "more_body": False}


async def read(path: str, headers: dict[str, str], receive: Receive) -> Body:
    limit = _LONGEST_HOOK if path.startswith(_HOOKS) else LONGEST
    _check_length(headers.get("content-length", "0"), limit)
    try:
        async with asyncio.timeout(SECONDS):
            return Body(await _content(receive, limit), receive)
    except TimeoutError as error:
        raise TimedOut(
            f"The body of this request did not come within {SECONDS:.0f} s.", hint="Send it in one piece."
        ) from error


async def discard(receive: Receive) -> None:
    """Takes what is left of a small body and forgets it: whoever still sends it could not read the answer if the
    connection was closed now."""
    taken = 0
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            while taken <= _DISCARDED:
                message = await receive()
                taken += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


async def _content(receive: Receive, limit: int) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts += message.get("body", b"")
        if len(parts) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return bytes(parts)


def _check_length(said: str, limit: int) -> None:
    if not (said.isascii() and said.isdigit()):
        raise InvalidInput("Content-Length is no number.", hint="Let an HTTP library write the request.")
    if len(said) > len(str(limit)) + 1 or int(said) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"The body of this request has more than {limit:,} bytes.",
        hint="Send less at a time, or put it in a file and send the file's name.",
    )
