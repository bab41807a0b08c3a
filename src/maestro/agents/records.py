"""One JSON record per line: reading it whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

Record = dict[Any, Any]

_PAIRS = object()
_DEEPEST = 50
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799_999  # the last millisecond of the year 9999


def _object(pairs: list[tuple[str, Any]]) -> Record:
    record: Record = dict(pairs)
    if len(record) != len(pairs):
        record[_PAIRS] = pairs
    return record


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 4000 else float("inf")


def parse(line: bytes) -> Record | None:
    """The object on a line, or nothing. Of a repeated key the last value counts; `readings` has them all."""
    try:
        record = json.loads(line.decode("utf-8", "replace"), object_pairs_hook=_object, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def readings(record: Record, key: str) -> list[Any]:
    """Every value that a record gives for a key."""
    if _PAIRS in record:
        return [value for name, value in record[_PAIRS] if name == key]
    return [record[key]] if key in record else []


def first(record: Record, key: str) -> Any:
    """The first value that a record gives for a key."""
    return next(iter(readings(record, key)), None)


def first_key(record: Record) -> tuple[str, Any]:
    """The key that the line begins with, and its value there."""
    if _PAIRS in record:
        name, value = record[_PAIRS][0]
        return name, value
    return next(iter(record.items()), ("", None))


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def rest_of(record: Record, known: Collection[str]) -> str:
    """Returns what a record holds besides the known keys, as JSON; nothing where that is nothing."""
    rest = {key: value for key, value in record.items() if key not in known and isinstance(key, str)}
    return json.dumps(rest, ensure_ascii=False, default=str) if any(map(_says, rest.values())) else ""


def words_in(record: Record, known: Collection[str]) -> str:
    """Returns every text that a record holds besides the known keys, at any depth, a line each. A known key is known for
    a text or for a list of records: whatever else it holds is told as well."""
    return "\n".join(
        text
        for key, value in record.items()
        for text in _texts(value if key not in known else _unexpected(value))
    )


def _unexpected(value: object) -> object:
    if isinstance(value, list):
        return [one for one in value if not isinstance(one, dict)]
    return value if isinstance(value, dict) else None


def _texts(value: object, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    # Nothing that a person reads lies deeper.
    return [text for one in inner for text in _texts(one, depth + 1)] if depth < _DEEPEST else ["…"]


def _says(value: object) -> bool:
    return value not in (None, "", False, [], {})


def object_of(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def count_of(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def millis(stamp: object) -> int | None:
    """A timestamp as a transcript writes it: ISO-8601, or milliseconds."""
    if isinstance(stamp, str):
        try:
            when = datetime.fromisoformat(stamp)
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            since = when - _EPOCH
            return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
        except (ValueError, OverflowError):
            return None
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 < stamp <= _LATEST:
        return int(stamp)
    return None
