"""Checks by which name a request calls the daemon, and from which web page it comes: pure.

A page in the human's browser must not reach the daemon: not by another name for this machine (a name that its owner
points at 127.0.0.1), not from another origin. The port may be any: a tunnel has one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from maestro.errors import InvalidInput, Refused

_AUTHORITY: Final = re.compile(
    r"(?P<name>localhost|127\.0\.0\.1|\[::1\])(?::(?P<port>[1-9][0-9]{0,4}))?", re.ASCII | re.IGNORECASE
)
_HTTP_PORT: Final = 80
_LAST_PORT: Final = 65535
_ORIGIN: Final = "http://"
# What decides who calls and what is meant must be said once: of two, each reader could take another.
_ONCE: Final = frozenset(
    {
        "authorization",
        "content-length",
        "content-type",
        "host",
        "idempotency-key",
        "maestro-delivery",
        "maestro-session",
        "origin",
        "transfer-encoding",
    }
)


def single_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Returns the headers by name. Refuses a request that says twice what counts once."""
    found: dict[str, str] = {}
    for raw, value in headers:
        name = raw.decode("latin-1").lower()
        if name in found and name in _ONCE:
            raise InvalidInput(f"The request has more than one {name.title()} header.", hint="Send it once.")
        found[name] = value.decode("latin-1")
    return found


def check_names(headers: dict[str, str]) -> None:
    """Refuses a request that calls the daemon by another name than this machine's own, or from another origin."""
    host = headers.get("host", "")
    called = _authority(host)
    if called is None:
        raise Refused(
            f"This daemon does not answer as “{_shown(host)}”.",
            hint="Call it as localhost, 127.0.0.1 or [::1].",
        )
    origin = headers.get("origin")
    if origin is None:
        return
    scheme, authority = origin[: len(_ORIGIN)], origin[len(_ORIGIN) :]
    if scheme.lower() != _ORIGIN or _authority(authority) != called:
        raise Refused(
            f"Requests from “{_shown(origin)}” are not accepted.", hint="Call the daemon from its own page."
        )


def _authority(text: str) -> tuple[str, int] | None:
    """Returns name and port, or None for anything but a name of this machine with a port or without one."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"] or _HTTP_PORT)
    return (found["name"].lower(), port) if port <= _LAST_PORT else None


def _shown(text: str) -> str:
    return text[:100]
