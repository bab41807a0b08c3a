"""Single values of a record."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.records import millis

# As ISO-8601 has them: in whole minutes.
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=ZONES))
def test_a_timestamp_is_its_whole_milliseconds_since_1970(when: datetime) -> None:
    since = when - datetime(1970, 1, 1, tzinfo=UTC)
    assert millis(when.isoformat()) == since // timedelta(milliseconds=1)


@given(st.text(max_size=30) | st.none() | st.booleans() | st.floats() | st.integers())
def test_anything_else_is_no_timestamp_or_one(stamp: object) -> None:
    found = millis(stamp)
    assert found is None or isinstance(found, int)
