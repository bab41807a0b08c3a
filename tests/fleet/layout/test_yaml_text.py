"""The line of every value, in every way of writing it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from maestro.fleet.yaml_text import Place, places, value_of

KEYS = st.one_of(
    st.sampled_from(["label", "a b", "x-y", "k'q", "ü"]), st.text("abc:# -", min_size=1, max_size=4)
)
WORDS = st.text("ab:#,[]{}&*!|>'\"%@`- \n\\", max_size=8)
VALUES = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3), st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
PLAIN = st.text("abc é-", min_size=1, max_size=6).filter(lambda word: word.strip(" -") == word)


class Writer:
    """Writes a value as YAML, choosing a style for each part, and notes where each part begins."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []

    def choose(self, *ways: str) -> str:
        return self.draw(st.sampled_from(ways))

    def filler(self) -> None:
        for extra in self.draw(st.lists(st.sampled_from(["", "   ", "# c: [", "    # - x"]), max_size=2)):
            self.lines.append(extra)

    def node(self, value: Any, indent: int, head: str) -> Place:
        """Write `value` after `head`, which is the beginning of its line; its parts are indented deeper."""
        line = len(self.lines) + 1
        if isinstance(value, str):
            self.scalar(value, indent, head)
            return Place(line)
        if head and self.choose("block", "flow") == "flow":
            return self.flow(value, indent, head)
        if head:
            self.lines.append(head.rstrip() + self.choose("", " # n", " &anchor"))
        if isinstance(value, list):
            items = []
            for item in value:
                self.filler()
                items.append(self.node(item, indent + 2, " " * indent + "- "))
            return Place(line, items=tuple(items))
        entries = []
        for key, item in value.items():
            self.filler()
            at = len(self.lines) + 1
            inner = self.node(item, indent + 2, " " * indent + json.dumps(key) + ": ")
            entries.append((key, Place(at, inner.entries, inner.items)))
        return Place(line, entries=tuple(entries))

    def scalar(self, value: str, indent: int, head: str) -> None:
        way = self.choose("double", "single", "literal", "folded over lines")
        if way == "literal" and value and "\n" not in value and value.strip() == value:
            self.lines += [head + "|-", " " * indent + value]
        elif way == "single" and "\n" not in value:
            self.lines.append(head + "'" + value.replace("'", "''") + "'" + self.choose("", "  # c"))
        elif way == "folded over lines" and value.isalpha():
            self.lines += [f'{head}"{value}', " " * indent + 'and more"']
        else:
            self.lines.append(head + json.dumps(value))

    def flow(self, value: Any, indent: int, head: str) -> Place:
        line = len(self.lines) + 1
        self.lines.append(head)
        place = self.flow_part(value, indent)
        return Place(line, place.entries, place.items)

    def flow_part(self, value: Any, indent: int) -> Place:
        line = len(self.lines)
        if isinstance(value, str):
            self.lines[-1] += json.dumps(value)
            return Place(line)
        opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
        self.lines[-1] += opening
        entries, items = [], []
        for part in value.items() if isinstance(value, dict) else value:
            if self.choose("here", "next line") == "next line":
                self.lines.append(" " * (indent + 1))
            at = len(self.lines)
            if isinstance(value, dict):
                self.lines[-1] += json.dumps(part[0]) + ": "
                inner = self.flow_part(part[1], indent)
                entries.append((part[0], Place(at, inner.entries, inner.items)))
            else:
                items.append(self.flow_part(part, indent))
            self.lines[-1] += ", "
        self.lines[-1] += closing
        return Place(line, tuple(entries), tuple(items))


def parts(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += parts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += parts(item, (*path, index))
    return found


@given(st.data())
def test_every_part_is_found_on_the_line_where_it_was_written(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
    writer = Writer(data.draw)  # type: ignore[arg-type]  # the same call, drawn from the running test
    written = writer.node(value, 0, "")
    text = "\n".join(writer.lines) + "\n"
    read = value_of(text)
    assert json.dumps(list(read)) == json.dumps(list(value))
    found = places(text)
    for path in parts(value)[1:]:
        assert found.at(*path).line == written.at(*path).line, (path, text)


@given(st.data())
def test_plain_scalars_and_compact_sequences(data: st.DataObject) -> None:
    rows: list[dict[str, str]] = data.draw(
        st.lists(st.dictionaries(PLAIN, PLAIN, min_size=1, max_size=3), min_size=1, max_size=3)
    )
    indent = data.draw(st.sampled_from(["", "  "]))
    lines, expected = ["%YAML 1.2", "---", "panes:"], []
    for row in rows:
        for number, (key, word) in enumerate(row.items()):
            lines.append(f"{indent}{'- ' if number == 0 else '  '}{key}: {word}")
            expected.append(len(lines))
            for more in data.draw(st.lists(PLAIN, max_size=2)):
                lines += ["", f"{indent}    {more}"]
    found = places("\n".join(lines))
    told = [found.at("panes", number, key).line for number, row in enumerate(rows) for key in row]
    assert told == expected


@given(st.text("ab:-#,[]{}&*!|>'\"%? \n\t\r\\.é\x00", max_size=60))
def test_any_text_comes_to_an_end(text: str) -> None:
    assert places(text).line >= 1


def test_deep_text_comes_to_an_end() -> None:
    assert places("[" * 100_000).line == 1
    assert places("- " * 100_000).line == 1


def test_what_is_twice_is_told_with_the_line_of_the_second() -> None:
    text = 'a: 1\nb:\n  - {c: 1,\n     c: 2}\n  - d: 1\n    "d": 2\na: 3\n'
    assert sorted(places(text).repeated()) == [("a", 7), ("c", 4), ("d", 6)]
