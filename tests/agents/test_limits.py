"""When a limit ends, as the CLIs word it. More of it in tests/observe/test_digest.py."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from maestro.agents.limits import resets_at

SAID = datetime(2026, 11, 17, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("resets Nov 20 at 5pm (America/Los_Angeles)", datetime(2026, 11, 21, 1, tzinfo=UTC)),
        ("resets Nov 20, 5pm (America/Los_Angeles)", datetime(2026, 11, 21, 1, tzinfo=UTC)),
        ("resets Jul 2 at 5:30pm (America/Los_Angeles)", datetime(2027, 7, 3, 0, 30, tzinfo=UTC)),
        ("resets 5pm (America/Los_Angeles)", datetime(2026, 11, 18, 1, tzinfo=UTC)),
        ("resets Nov 20 at 17:00", datetime(2026, 11, 20, 17, tzinfo=UTC)),
        ("available again on Nov 20 at 17:00 (Nowhere/Land)", datetime(2026, 11, 20, 17, tzinfo=UTC)),
        ("try again at Nov 17th, 2026 1:00 PM", datetime(2026, 11, 17, 13, tzinfo=UTC)),
        ("resets Nov 20 at 17", None),
        ("resets Nov 20 at 25:00", None),
        ("resets Foo 20 at 17:00", None),
        ("resets" + " " * 20_000 + "x", None),
    ],
)
def test_a_day_that_is_named_is_of_the_zone_that_is_named(words: str, when: datetime | None) -> None:
    """Where none is named, of this machine's."""
    ends = resets_at(f"usage limit reached, {words}", round(SAID.timestamp() * 1000))
    assert (None if ends is None else datetime.fromtimestamp(ends / 1000, UTC)) == when
