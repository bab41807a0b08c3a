"""Tags in texts: what they are about, how they are known again, and that changing one changes its line alone."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.coordinate.tags.test_markdown import PIECES

from maestro.coordinate.tags.markdown import decoded, encoded, lines_of
from maestro.coordinate.tags.tag import STATES, Tag, added, find_tags, require_step, retagged
from maestro.errors import IllegalTransition, InvalidInput, NotFound

NOTES = """\
# Notes

## Later #needs-research

- [ ] Mend the clock #needs-fix and see why #claimed-research
- Mend the clock #done-fix

#delegated-coordinate
"""


def only(text: str, file: str = "a.md") -> Tag:
    [tag] = find_tags(text, file)
    return tag


def test_all_of_a_file() -> None:
    found = [(t.line, t.state, t.kind, t.text, t.heading) for t in find_tags(NOTES, "notes.md")]
    assert found == [
        (3, "needs", "research", "Later", "Later"),
        (5, "needs", "fix", "Mend the clock and see why", "Later"),
        (5, "claimed", "research", "Mend the clock and see why", "Later"),
        (6, "done", "fix", "Mend the clock", "Later"),
        (8, "delegated", "coordinate", "Later", "Later"),
    ]
    assert len({tag.id for tag in find_tags(NOTES, "notes.md")}) == 5


def test_its_id_is_the_same_through_its_states_and_marks() -> None:
    forms = [
        "- [ ] Mend the clock #needs-fix",
        "- [x] Mend   the clock #done-fix",
        "* Mend the clock #claimed-fix",
        "Mend #delegated-fix the clock",
        "> 1. Mend the clock #delegated-fix",
        "## Mend the clock #needs-fix ##",
        "before\n\nMend the clock #needs-fix\n\nafter",
        "Mend the clock #needs-fix #needs-research"[: len("Mend the clock #needs-fix")],
    ]
    assert len({only(form).id for form in forms}) == 1
    others = ["Mend the lock #needs-fix", "Mend the clock #needs-research"]
    assert len({only(form).id for form in [*others, forms[0]]} | {only(forms[0], "b.md").id}) == 4


def test_equal_lines_are_counted() -> None:
    first, second = find_tags("same #needs-fix\nsame #needs-fix\n", "a.md")
    assert first.id != second.id
    assert [tag.id for tag in find_tags("same #done-fix\nx\nsame #needs-fix\n", "a.md")] == [
        first.id,
        second.id,
    ]


AROUND = st.tuples(PIECES, PIECES).map(lambda both: f"{both[0]}\n\nwords #needs-fix\n\n{both[1]}")


@given(AROUND, st.integers(0), st.sampled_from(STATES))
def test_another_state_changes_its_line_alone(text: str, which: int, state: str) -> None:
    tags = find_tags(text, "a.md")
    assume(tags)
    tag = tags[which % len(tags)]
    target = next(one for one in STATES if one == state)
    after = retagged(text, tag, target)
    before_lines, after_lines = lines_of(text), lines_of(after)
    assert len(before_lines) == len(after_lines)
    for number, (old, new) in enumerate(zip(before_lines, after_lines, strict=True), 1):
        assert new.end == old.end
        if number != tag.line:
            assert new.text == old.text
    changed = {one.id: one for one in find_tags(after, "a.md")}
    assert changed[tag.id].state == target
    assert {i: t.state for i, t in changed.items() if i != tag.id} == {
        t.id: t.state for t in tags if t.id != tag.id
    }
    assert retagged(after, changed[tag.id], tag.state) == text


@given(st.binary(max_size=200))
def test_bytes_that_are_no_text_stay(data: bytes) -> None:
    text = decoded(data) + "\n\n" + "x #needs-fix\n" + decoded(data)
    tags = find_tags(text, "a.md")
    assume(tags)
    after = encoded(retagged(text, tags[-1], "done"))
    assert after.replace(b"#done-fix", b"#needs-fix") == encoded(text).replace(b"#done-fix", b"#needs-fix")
    tags[-1].text.encode()


@given(PIECES.filter(lambda inside: "~~~" not in inside))
def test_what_stands_in_code_is_never_found(inside: str) -> None:
    fenced = f"before #needs-fix\n\n~~~~\n{inside}\n~~~~\n\nafter #needs-fix\n"
    assert [tag.text for tag in find_tags(fenced, "a.md")] == ["before", "after"]
    line = " ".join(inside.replace("`", "").split())
    spanned = f"before `{line} #needs-fix` #needs-research\n"
    assert [tag.kind for tag in find_tags(spanned, "a.md")] == ["research"]


@pytest.mark.parametrize(
    ("state", "may"),
    [
        ("needs", {"delegated", "claimed"}),
        ("delegated", {"claimed", "needs"}),
        ("claimed", {"done", "delegated", "needs"}),
        ("done", set()),
    ],
)
def test_the_steps(state: str, may: set[str]) -> None:
    tag = only(f"x #{state}-fix")
    for target in STATES:
        if target in may:
            require_step(tag, target)
        else:
            with pytest.raises(IllegalTransition) as refused:
                require_step(tag, target)
            assert refused.value.hint


def test_a_new_line() -> None:
    text = "# One\n\nwords\n\n# Two\n"
    assert added(text, "do it", "fix") == (f"{text}- do it #needs-fix\n", 6)
    assert added(text, "do  it\n", "fix", heading="One") == (
        "# One\n\nwords\n- do it #needs-fix\n\n# Two\n",
        4,
    )
    assert added(text, "do it", "fix", line=1, state="delegated")[0].startswith(
        "# One\n- do it #delegated-fix\n"
    )
    assert added("no end", "do it", "fix") == ("no end\n- do it #needs-fix\n", 2)
    assert added("a\r\n", "do it", "fix")[0] == "a\r\n- do it #needs-fix\r\n"
    assert added("", "do it", "fix") == ("- do it #needs-fix\n", 1)


def test_only_our_own_tag_becomes_one() -> None:
    whole, _ = added("", "look at #done-fix here", "research")
    assert [tag.kind for tag in find_tags(whole, "a.md")] == ["research"]


def test_where_no_line_can_be() -> None:
    with pytest.raises(InvalidInput, match="inside code"):
        added("```\ncode\n```\n", "x", "fix", line=1)
    with pytest.raises(InvalidInput, match="no line 9"):
        added("a\n", "x", "fix", line=9)
    with pytest.raises(NotFound, match="no heading"):
        added("# A\n", "x", "fix", heading="B")
    for kind in ("", "Fix", "a b", "x-", "9"):
        with pytest.raises(InvalidInput):
            added("", "x", kind)
    with pytest.raises(InvalidInput):
        added("", " \n", "fix")
