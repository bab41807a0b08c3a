"""Ratios of two things timed in one interleaved run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    id: str
    what: str
    ratio: float
    bar: float
    holds: bool
    ours_ms: float
    against_ms: float
    at_most: bool


def interleaved(
    ours: Callable[[], object], against: Callable[[], object], rounds: int
) -> tuple[float, float]:
    """The best time of each, in seconds."""
    best_ours = best_against = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        ours()
        between = time.perf_counter()
        against()
        ended = time.perf_counter()
        best_ours = min(best_ours, between - started)
        best_against = min(best_against, ended - between)
    return best_ours, best_against


# A file's rows; given the ids that are wanted, or none for all.
Rows = Callable[[set[str]], Iterable[Row]]


def row(row_id: str, what: str, bar: float, times: tuple[float, float], *, at_most: bool = True) -> Row:
    """`times` of ours and of what it is held against. `at_most`: ours may take so many times as long;
    otherwise the other must take at least so many times as long as ours."""
    ours, against = times
    ratio = ours / against if at_most else against / ours
    holds = ratio <= bar if at_most else ratio >= bar
    return Row(row_id, what, ratio, bar, holds, ours * 1000, against * 1000, at_most)
