"""ULIDs with a prefix: sortable by time, unique without asking anyone, readable in a log."""

from __future__ import annotations

import os
import time

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 26
SHORT = 6


def ulid(now_ms: int, randomness: bytes) -> str:
    """48 bits of time and 80 of randomness, as 26 characters of Crockford's base 32."""
    value = (now_ms << 80) | int.from_bytes(randomness[:10], "big")
    return "".join(_CROCKFORD[(value >> (5 * place)) & 31] for place in range(_LENGTH - 1, -1, -1))


def new_id(prefix: str, now_ms: int | None = None, randomness: bytes | None = None) -> str:
    return f"{prefix}_{ulid(now_ms or time.time_ns() // 1_000_000, randomness or os.urandom(10))}"


def time_of(identifier: str) -> int:
    """When an id was made, in milliseconds since 1970."""
    value = 0
    for character in identifier.rpartition("_")[2][:10]:
        value = value * 32 + _CROCKFORD.index(character)
    return value


def short(identifier: str) -> str:
    """What a person reads and types: the prefix and the random end. `task_01J…7X2K9Q` → `task_7X2K9Q`."""
    prefix, _, rest = identifier.partition("_")
    return f"{prefix}_{rest[-SHORT:]}"
