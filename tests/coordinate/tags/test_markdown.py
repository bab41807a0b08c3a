"""What is text in Markdown and what is code, a comment or an address; and that every byte stays where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.coordinate.tags.markdown import decoded, encoded, joined, lines_of, readable, replaced
from maestro.coordinate.tags.tag import find_tags

TAG = "#needs-fix"

# Pieces that open and close everything that the reader knows, in any order.
PIECES = st.lists(
    st.sampled_from(
        [
            "`", "``", "```", "~~~", "\n", "\r\n", "\r", "\n\n", "    ", "\t", "- ", "1. ", "> ", "# ", "<!--", "-->",
            "<pre>", "</pre>", "<code>", "</code>", "https://a/", "](", ")", "[x]: ", "\\", "words", " ", TAG, "é", "\0",
            "\x0b", "\u2028", "***", "#", "\ud800", "\udcff",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(st.one_of(PIECES, st.text()))
def test_every_text_is_read_and_comes_out_as_it_was(text: str) -> None:
    lines = lines_of(text)
    assert joined(lines) == text
    assert all(len(line.seen) == len(line.text) for line in lines)
    assert all(not set(line.text) & {"\n", "\r"} for line in lines)
    readable(text).encode()


@given(st.binary())
def test_every_file_comes_out_as_it_was(data: bytes) -> None:
    assert encoded(joined(lines_of(decoded(data)))) == data


@given(PIECES, st.data())
def test_one_line_changes_and_no_other(text: str, data: st.DataObject) -> None:
    lines = lines_of(text)
    if not lines:
        return
    number = data.draw(st.integers(1, len(lines)))
    after = lines_of(replaced(lines, number, "in other words"))
    assert [(line.text, line.end) for line in after] == [
        ("in other words" if place == number else line.text, line.end) for place, line in enumerate(lines, 1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"`{TAG}`",
        f"``a ` {TAG}``",
        f"a `code\n{TAG}` b",
        f"```\n{TAG}\n```",
        f"```py\n{TAG}",
        f"~~~\n```\n{TAG}\n~~~",
        f"````\n```\n{TAG}\n````",
        f"- item\n  ```\n  {TAG}\n  ```",
        f"- ```\n  {TAG}\n  ```",
        f"> ```\n> {TAG}\n> ```",
        f"```\n> ```\n{TAG}\n```",
        f"    {TAG}",
        f"words\n\n    {TAG}",
        f"\t{TAG}",
        f"- item\n\n      {TAG}",
        f"-      {TAG}",
        f"# Heading\n    {TAG}",
        f"<!-- {TAG} -->",
        f"<!--\n\n{TAG}\n\n-->",
        f"<!-- never closed\n\n{TAG}",
        f"words <!-- {TAG} --> words",
        f"words <!--\n{TAG} --> words",
        f"<pre>\n{TAG}\n</pre>",
        f"a <code>{TAG}</code> b",
        f"<script>\n\n{TAG}</script>",
        f"https://example.org/page{TAG}",
        f"https://example.org/?x=({TAG})",
        f"<https://example.org/{TAG}>",
        f"www.example.org/.{TAG}",
        f"[words]({TAG})",
        f"[words](page.md{TAG})",
        f"[label]: {TAG}",
        f'<a href="{TAG}">words</a>',
        f"\\{TAG}",
        f"x{TAG}",
        f"/{TAG}",
        f"&{TAG}",
        f"#{TAG}",
        f"`code`{TAG}",
        f"{TAG}/path",
        f"{TAG}.md",
        f"{TAG}-",
        f"{TAG}_x",
        "#needs-",
        "#needs-Fix",
        "#wants-fix",
        "# needs-fix",
    ],
)
def test_a_mention_is_no_tag(text: str) -> None:
    assert find_tags(text, "a.md") == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TAG, 1),
        (f"words {TAG}", 1),
        (f"words {TAG}.", 1),
        (f"({TAG})", 1),
        (f"**{TAG}**", 1),
        (f"| a | {TAG} |", 1),
        (f"# Heading {TAG}", 1),
        (f"> quoted {TAG}", 1),
        (f"- [ ] item {TAG}", 1),
        (f"- item\n  - nested {TAG}", 2),
        (f"- item\n\n  more of it {TAG}", 3),
        (f"- item\n\n    - nested {TAG}", 3),
        (f"words\n    that go on {TAG}", 2),
        (f"`code` {TAG}", 1),
        (f"a ` alone {TAG}", 1),
        (f"a \\` escaped {TAG} `", 1),
        (f"a `tick\n\n{TAG}`", 3),
        (f"`` two ` one {TAG}", 1),
        (f"```\ncode\n```\n{TAG}", 4),
        (f"- ```\n  code\n{TAG}", 3),
        (f"> ```\n> code\n{TAG}", 3),
        (f"<!-- comment --> {TAG}", 1),
        (f"<!-- comment -->\n{TAG}", 2),
        (f"<!--\ncomment\n-->\n{TAG}", 4),
        (f"words <!-- open {TAG}", 1),
        (f"<pre>code</pre>\n{TAG}", 2),
        (f"https://example.org {TAG}", 1),
        (f"[words](page.md) {TAG}", 1),
        (f"a < b and c > {TAG}", 1),
        (f"---\n{TAG}", 2),
        (f"words\r{TAG}\r", 2),
        (f"words\r\n{TAG}\r\n", 2),
        (f"\ufeff{TAG} x\n{TAG}", 2),
    ],
)
def test_a_tag_is_found(text: str, line: int) -> None:
    assert [tag.line for tag in find_tags(text, "a.md")] == [line]


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "`a``b```c",
        "](",
        "a.",
        "<code>",
        "[",
        "- ",
        "> ",
        "\\",
        "<a ",
        "*",
        " ",
        "[ ",
        "#",
        "1. ",
        "-->",
        "\t",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    # Bounded by the suite's own time limit: what grows with the square of its length would not end in it.
    find_tags(piece * (300_000 // len(piece)), "a.md")


def test_runs_of_every_length() -> None:
    find_tags("".join("`" * length + "a" for length in range(1400)), "a.md")
