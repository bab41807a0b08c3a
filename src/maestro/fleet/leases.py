"""Pure: engagement is a lease. A coordinator that dies does not keep its pane for ever."""

from __future__ import annotations

from typing import NamedTuple

# Longer than a coordinator thinks about one pane; milliseconds, as every time here.
LEASE = 900_000


class Lease(NamedTuple):
    coordinator: str
    until: int

    def holds(self, now: int) -> bool:
        """One that would end later than any lease that is given now was given before the clock was set back."""
        return bool(self.coordinator) and now < self.until <= now + LEASE


FREE = Lease("", 0)


def taken(coordinator: str, now: int, length: int = LEASE) -> Lease:
    return Lease(coordinator, now + length)


def may_take(lease: Lease, coordinator: str, now: int) -> bool:
    return not lease.holds(now) or lease.coordinator == coordinator
