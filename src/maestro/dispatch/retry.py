"""Whether an agent is run again, and when. Pure: the attempts so far decide, so a batch that is resumed goes on as the
one that was interrupted would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from maestro.dispatch.batch import Attempt
from maestro.dispatch.runs import RunStatus
from maestro.errors import InvalidInput

Retriable = Literal["failed", "timeout", "denied", "refused"]
_RETRIABLE: Final[tuple[Retriable, ...]] = ("failed", "timeout", "denied", "refused")
_MOST_RETRIES: Final = 20
_LONGEST_BACKOFF_S: Final = 300.0
# A limit that does not say when it ends is looked at again after this long, then after twice as long, and so on.
_FIRST_LOOK_S: Final = 60.0
_LONGEST_LOOK_S: Final = 900.0
_LOOKS: Final = 8
_INTERRUPTIONS: Final = 10
_AFTER_RESET_MS: Final = 1000


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    retries: Mapping[str, int] = {}  # by status; nothing is repeated that nobody asked for
    backoff_s: float = 5.0  # before the second attempt; twice as long before each further one
    longest_wait_s: float = 6 * 3600.0  # for a limit to end
    waits_for_limits: bool = True


class Again(NamedTuple):
    at: int  # milliseconds since 1970


class Over(NamedTuple):
    status: RunStatus


def next_move(attempts: Sequence[Attempt], policy: RetryPolicy, now: int) -> Again | Over:
    """What follows from an agent's attempts so far."""
    if not attempts:
        return Again(now)
    last = attempts[-1].result
    if last is None:
        # Whoever ran it died. One that is interrupted so often is the cause of it.
        interrupted = sum(attempt.result is None for attempt in attempts)
        return Again(now) if interrupted < _INTERRUPTIONS else Over("failed")
    same = sum(attempt.result is not None and attempt.result.status == last.status for attempt in attempts)
    if last.status == "limit":
        at = after_limit(last.ended_at, last.resets_at, same, policy)
        return Over("limit") if at is None else Again(max(at, now))
    if same <= policy.retries.get(last.status, 0):
        wait = min(policy.backoff_s * 2.0 ** (same - 1), _LONGEST_BACKOFF_S)
        return Again(last.ended_at + round(wait * 1000))
    return Over(last.status)


def resumed(attempts: Sequence[Attempt], policy: RetryPolicy, now: int, *, failed_too: bool) -> Again | Over:
    """The same for a batch that goes on: what was cancelled was not finished, and nor, where that is asked, was what
    failed. A limit from before may have ended without telling."""
    move = next_move(attempts, policy, now)
    if isinstance(move, Over) and (
        move.status in {"cancelled", "limit"} or (failed_too and move.status != "success")
    ):
        last = attempts[-1].result
        reset = last.resets_at if last is not None and move.status == "limit" else None
        return Again(max(now, reset or now)) if can_wait(reset, now, policy) else move
    return move


def after_limit(ended_at: int, resets_at: int | None, times: int, policy: RetryPolicy) -> int | None:
    """When to try again after a limit that was hit so many times; None: that is too late, or too often."""
    if not policy.waits_for_limits or times > _LOOKS:
        return None
    if resets_at is None:
        look = min(_FIRST_LOOK_S * 2.0 ** (times - 1), _LONGEST_LOOK_S)
        return ended_at + round(min(look, policy.longest_wait_s) * 1000)
    # It said when before, and was wrong: each time a little later.
    at = resets_at + _AFTER_RESET_MS * times
    return at if can_wait(at, ended_at, policy) else None


def can_wait(at: int | None, now: int, policy: RetryPolicy) -> bool:
    """Whether somebody may wait for it; None: nobody knows how long that is."""
    return at is None or at <= now or (policy.waits_for_limits and at - now <= policy.longest_wait_s * 1000)


def parsed_retries(words: Sequence[str]) -> dict[str, int]:
    """`2` is for those that failed; `timeout=1` for a status of its own."""
    found: dict[str, int] = {}
    for word in words:
        status, equals, count = word.rpartition("=")
        if (equals and status not in _RETRIABLE) or not (count.isascii() and count.isdecimal()):
            raise InvalidInput(
                f"“{word}” does not say how often to retry.",
                hint=f"Say a number, or STATUS=NUMBER; STATUS is {', '.join(_RETRIABLE)}.",
            )
        if int(count[:9]) > _MOST_RETRIES:
            raise InvalidInput(f"At most {_MOST_RETRIES} retries are possible (got: {count}).")
        found[status or "failed"] = int(count)
    return found
