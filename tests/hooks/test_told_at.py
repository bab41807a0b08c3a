"""When a hook was run, by the delivery that it names."""

from __future__ import annotations

import pytest

from maestro.server.spool import told_at

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("delivery", "at"),
    [
        (f"{(NOW - 1_500) * 1_000_000:020d}-77-abc", NOW - 1_500),
        (f"{NOW * 1_000_000:020d}-77-abc", NOW),
        (f"{(NOW + 5) * 1_000_000:020d}-77-abc", NOW),  # of a clock that is ahead
        (f"{(NOW - 3_600_000) * 1_000_000:020d}-77-abc", NOW),
        ("soon-77", NOW),
        ("9" * 200, NOW),
        ("", NOW),
        (None, NOW),
    ],
)
def test_the_time_is_the_hooks_where_it_can_be(delivery: str | None, at: int) -> None:
    assert told_at(delivery, NOW) == at
