"""JSON of a script: each field once, by its kind; a fault is named by its place. Pure."""

from __future__ import annotations

import math
from typing import Any

from maestro.errors import InvalidInput

LONGEST_SECONDS = 1_000_000.0


class Fields:
    """One JSON object being read: each field once, by its kind; what is left over is a fault."""

    def __init__(self, path: str, value: Any, *, what: str = "") -> None:
        if not isinstance(value, dict):
            raise InvalidInput(f"{what or path} must be a JSON object.")
        self._path = path
        self._left = dict(value)

    def path_of(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def take(self, name: str, *, default: Any = None) -> Any:
        if name not in self._left and default is None:
            raise InvalidInput(f"{self.path_of(name)} is missing.")
        return self._left.pop(name, default)

    def text(self, name: str, *, default: str | None = None, empty: bool = False) -> str:
        return read_text(self.path_of(name), self.take(name, default=default), empty=empty or default == "")

    def seconds(self, name: str, *, default: float) -> float:
        return read_seconds(self.path_of(name), self.take(name, default=default))

    def whole_number(self, name: str, *, default: int | None, least: int, most: int) -> int:
        return read_whole_number(self.path_of(name), self.take(name, default=default), least, most)

    def flag(self, name: str) -> bool:
        value = self.take(name, default=False)
        if not isinstance(value, bool):
            raise InvalidInput(f"{self.path_of(name)} must be true or false.")
        return value

    def drop(self, name: str) -> None:
        """A field that something else overrules."""
        self._left.pop(name, None)

    def done(self) -> None:
        for name in self._left:
            raise InvalidInput(f"{self.path_of(name)} is not a known field.")


def read_text(path: str, value: Any, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise InvalidInput(f"{path} must be a {'' if empty else 'non-empty '}string.")
    return value


def read_seconds(path: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= LONGEST_SECONDS or math.isnan(value):
        raise InvalidInput(f"{path} must be a number of seconds from 0 to {LONGEST_SECONDS:.0f}.")
    return float(value)


def read_whole_number(path: str, value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{path} must be a whole number from {least} to {most}.")
    return value


def read_list(path: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{path} must be a list.")
    return value
