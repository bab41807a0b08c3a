"""Rate and quota limits, and refused keys, as the CLIs word them; when a limit ends. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_LIMIT = re.compile(
    r"rate[ _-]?limit|usage limit|limit (?:was )?reached|hit your (?:\w+ )?limit|quota|too many requests|\b429\b"
    r"|resource[ _](?:has been )?exhausted|out of (?:extra )?usage|credit balance",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"\b401\b|unauthori[sz]ed|unauthenticated|invalid (?:x-)?api[ _-]?key|api[ _-]key (?:not valid|expired)"
    r"|authentication[ _]error|/login\b|not logged in",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?:\||resets?(?:_at| at)?\W{1,4})(\d{10})(?:\d{3})?\b")
_STAMP = re.compile(r"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)")
_SPAN = re.compile(
    r"(?:\bin|\bafter|retry[ _-]?(?:delay|after)\W{1,4}|reset after)\s*"
    r"((?:\d+(?:\.\d+)?\s*(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])(?![a-z])[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])", re.IGNORECASE)
_WHEN = r"(?:resets?|try again|available)\s+(?:again\s+)?(?:(?:at|on)\s+)?"
_TIME = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"(?:\s*\((?P<zone>[A-Za-z_]+(?:/[A-Za-z_+-]+)*)\))?"
)
_CLOCK = re.compile(_WHEN + _TIME, re.IGNORECASE)
_DATE = re.compile(
    _WHEN + r"(?P<month>[A-Z][a-z]{2})[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<year>\d{4}))?(?:,|\s+at)?\s+" + _TIME,
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
_DAY = timedelta(days=1)


def is_limit(text: str) -> bool:
    """Whether an error's words speak of a limit that time or money lifts."""
    return _LIMIT.search(text) is not None


def needs_login(text: str) -> bool:
    """Whether an error's words speak of a key or a login that is not accepted."""
    return _LOGIN.search(text) is not None


def resets_at(text: str, said_at: int) -> int | None:
    """When the limit ends, in milliseconds, if the words tell. `said_at` is when they were said."""
    if found := _EPOCH.search(text):
        return int(found[1]) * 1000
    if found := _STAMP.search(text):
        try:
            when = datetime.fromisoformat(found[1].replace(" ", "T"))
        except ValueError:
            return None
        return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
    if found := _SPAN.search(text):
        return said_at + round(sum(float(n) * _UNITS[unit[0].lower()] for n, unit in _PART.findall(found[1])))
    if found := _DATE.search(text):
        return _date(found, said_at)
    if found := _CLOCK.search(text):
        return _next_clock_time(found, said_at)
    return None


def _date(found: re.Match[str], said_at: int) -> int | None:
    """A day that is named; without its year, the next such day."""
    zone, time = _zone(found["zone"]), _time(found)
    said = datetime.fromtimestamp(said_at / 1000, UTC).astimezone(zone)
    name, year = found["month"].lower(), found["year"]
    if name not in _MONTHS or time is None:
        return None
    try:
        when = datetime(
            int(year or said.year), _MONTHS.index(name) + 1, int(found["day"]), *time, tzinfo=zone
        )
        when = when if zone else when.astimezone()
        if year is None and when < said - _DAY:
            when = when.replace(year=when.year + 1)
    except ValueError:
        return None
    return round(when.timestamp() * 1000)


def _next_clock_time(found: re.Match[str], said_at: int) -> int | None:
    time = _time(found)
    if time is None:
        return None
    said = datetime.fromtimestamp(said_at / 1000, UTC).astimezone(_zone(found["zone"]))
    when = said.replace(hour=time[0], minute=time[1], second=0, microsecond=0)
    return round((when if when > said else when + _DAY).timestamp() * 1000)


def _time(found: re.Match[str]) -> tuple[int, int] | None:
    """The hour and the minute; a number alone is no time."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    half = (found["half"] or "").lower()[:1]
    if not half and found["minute"] is None:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute) if hour <= 23 and minute <= 59 else None


def _zone(name: str | None) -> tzinfo | None:
    """The zone that the words name; else this machine's, where the CLI wrote them."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
