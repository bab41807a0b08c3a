"""The line in a TOML text where something stands, for faults that a person has to mend. Pure.

The library tells values but no lines. This looks for the usual way to write a table and its keys; of any other way it
tells the line of what is around it.
"""

from __future__ import annotations

import re

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]]')


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def line_of_key(text: str, key: str) -> int:
    """Of a key at the beginning of a line, anywhere; 1 where there is none."""
    found = re.search(rf"^[ \t]*{_quoted(key)}[ \t]*=", text, re.MULTILINE)
    return line_at(text, found.start()) if found else 1


def line_of_table(text: str, *path: str) -> int:
    """Of the header `[chains.name]`."""
    found = _header(text, path)
    return line_at(text, found.start()) if found else 1


def line_of_item(text: str, path: tuple[str, ...], key: str, index: int) -> int:
    """Of an item of the list `key` in the table at `path`."""
    header = _header(text, path)
    if header is None:
        return 1
    end = re.compile(r"^[ \t]*\[[ \t]*[\w\"'.-]+[ \t]*\]", re.MULTILINE).search(text, header.end())
    section = text[: end.start()] if end else text
    begin = re.compile(rf"^[ \t]*{_quoted(key)}[ \t]*=[ \t]*\[", re.MULTILINE).search(section, header.end())
    if begin is None:
        return line_at(text, header.start())
    count = -1
    for found in _STRING.finditer(text, begin.end()):
        if found[0] == "]":
            break
        if found[0][0] in "\"'":
            count += 1
            if count == index:
                return line_at(text, found.start())
    return line_at(text, begin.start())


def _header(text: str, path: tuple[str, ...]) -> re.Match[str] | None:
    dotted = r"[ \t]*\.[ \t]*".join(_quoted(name) for name in path)
    return re.search(rf"^[ \t]*\[[ \t]*{dotted}[ \t]*\]", text, re.MULTILINE)


def _quoted(name: str) -> str:
    plain = re.escape(name)
    return rf"(?:{plain}|\"{plain}\"|'{plain}')"
