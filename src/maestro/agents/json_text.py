"""JSON with the place of every part in the text, so that a part can be changed and the rest left as it is. Pure.

Comments as in JSONC where they are allowed; trailing commas never, for no CLI reads them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_DEEPEST = 100


class NotJson(ValueError):
    """What is wrong, with its line; `what` and `place` are the same apart, for those who tell it their own way."""

    def __init__(self, words: str, what: str = "", place: int = 0) -> None:
        super().__init__(words)
        self.what = what or words
        self.place = place


class Node(NamedTuple):
    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: Any = None  # of a scalar
    children: tuple[Child, ...] = ()


class Child(NamedTuple):
    """An element of an array, or a member of an object, which begins at its key."""

    start: int
    key: str
    node: Node
    comma: int  # where the comma after it is; -1 after the last one

    @property
    def end(self) -> int:
        return self.node.end


def parsed(text: str, *, comments: bool) -> Node | None:
    """The one value of a text; None where there is nothing but space."""
    reader = _Reader(text, _SPACE_AND_COMMENTS if comments else _SPACE)
    start = reader.after_space(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    root = reader.value(start, 0)
    end = reader.after_space(root.end)
    if end != len(text):
        raise reader.fault(end, "something after the end")
    return root


def find(node: Node, key: str) -> Child | None:
    """A member by its name; of several the last, as every reader has it."""
    return next((child for child in reversed(node.children) if child.key == key), None)


def plain(node: Node) -> Any:
    """The value itself."""
    if node.kind == "object":
        return {child.key: plain(child.node) for child in node.children}
    if node.kind == "array":
        return [plain(child.node) for child in node.children]
    return node.value


class _Reader:
    def __init__(self, text: str, space: re.Pattern[str]) -> None:
        self.text = text
        self.space = space

    def after_space(self, place: int) -> int:
        found = self.space.match(self.text, place)
        return found.end() if found else place

    def fault(self, place: int, what: str) -> NotJson:
        return NotJson(f"line {self.text.count(chr(10), 0, place) + 1} has {what}", what, place)

    def value(self, start: int, depth: int) -> Node:
        letter = self.text[start : start + 1]
        if letter in {"{", "["}:
            if depth == _DEEPEST:
                raise self.fault(start, "too many brackets within each other")
            return self._container(start, depth, "object" if letter == "{" else "array")
        if letter == '"':
            return self._string(start)
        found = _SCALAR.match(self.text, start)
        if not found:
            raise self.fault(start, "no value where one must be")
        return Node("scalar", start, found.end(), _number(found.group()))

    def _string(self, start: int) -> Node:
        found = _STRING.match(self.text, start)
        if not found:
            raise self.fault(start, "a string without an end")
        try:
            return Node("scalar", start, found.end(), json.loads(found.group()))
        except ValueError as error:
            raise self.fault(start, "a string that is none") from error

    def _container(self, start: int, depth: int, kind: Literal["object", "array"]) -> Node:
        closer = "}" if kind == "object" else "]"
        children: list[Child] = []
        place = self.after_space(start + 1)
        if self.text[place : place + 1] == closer:
            return Node(kind, start, place + 1)
        while True:
            begin, key = place, ""
            if kind == "object":
                key, place = self._key(place)
            node = self.value(place, depth + 1)
            place = self.after_space(node.end)
            letter = self.text[place : place + 1]
            if letter == ",":
                children.append(Child(begin, key, node, place))
                place = self.after_space(place + 1)
            elif letter == closer:
                children.append(Child(begin, key, node, -1))
                return Node(kind, start, place + 1, None, tuple(children))
            else:
                raise self.fault(
                    min(place, len(self.text) - 1), f"no comma and no {closer} where one must be"
                )

    def _key(self, place: int) -> tuple[str, int]:
        if self.text[place : place + 1] != '"':
            raise self.fault(place, "no name in quotation marks where one must be")
        key = self._string(place)
        place = self.after_space(key.end)
        if self.text[place : place + 1] != ":":
            raise self.fault(place, "no colon after a name")
        return str(key.value), self.after_space(place + 1)


def _number(digits: str) -> Any:
    try:
        return json.loads(digits)
    except ValueError:  # more digits than Python reads
        return float("inf")
