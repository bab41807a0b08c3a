"""Bytes of a terminal → keys → draft and answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.testing.scripted_agent.claude_dialogs import press, rows
from maestro.testing.scripted_agent.dialog import Answer, Choice, Consent, Dialog, answer_from_line
from maestro.testing.scripted_agent.keys import Draft, Key, decode_keys
from maestro.testing.scripted_agent.steps import Option

OPTIONS = (Option("Red"), Option("Green"), Option("Blue"))
SINGLE = Choice("Which?", "Colour", OPTIONS)
MULTI = Choice("Which?", "Colour", OPTIONS, multi=True)
CONSENT = Consent("rm x", "", (Option("Yes"), Option("Always"), Option("No")))


def typed(text: str) -> list[Key]:
    return [Key("text", character) for character in text]


def press_all(dialog: Dialog, keys: list[Key]) -> Dialog | Answer:
    for place, key in enumerate(keys):
        after = press(dialog, key)
        if isinstance(after, Answer):
            assert place == len(keys) - 1
            return after
        dialog = after
    return dialog


@pytest.mark.parametrize(
    ("received", "keys"),
    [
        (b"a1\r", [*typed("a1"), Key("enter")]),
        ("ü日🙂".encode(), typed("ü日🙂")),
        (b"\x1b[A\x1bOB\x1b[C\x1b[D", [Key("up"), Key("down"), Key("right"), Key("left")]),
        (b"\x1b[200~a\r\nb\rc\x1b[201~\r", [Key("paste", "a\nb\nc"), Key("enter")]),
        (b"\x1b[200~a\x1b[31mb\x03\x1b[201~", [Key("paste", "a[31mb")]),
        (b"\x1b[1;5Cx\x1b[?1;2c", typed("x")),
        (b"\x1bx", [Key("esc"), *typed("x")]),
        (
            b"\x03\x04\x15\x7f\t\n\x01",
            [Key(n) for n in ["ctrl-c", "ctrl-d", "ctrl-u", "backspace", "tab", "newline"]],
        ),
        (b"\xffz", typed("\N{REPLACEMENT CHARACTER}z")),
    ],
)
def test_keys_are_told_apart(received: bytes, keys: list[Key]) -> None:
    assert decode_keys(received) == (tuple(keys), b"")


@pytest.mark.parametrize(
    "unfinished", [b"\x1b", b"\x1b[", b"\x1b[20", b"\x1bO", "日".encode()[:2], b"\x1b[200~abc"]
)
def test_an_unfinished_key_waits_for_its_rest(unfinished: bytes) -> None:
    assert decode_keys(b"x" + unfinished) == ((Key("text", "x"),), unfinished)


def test_a_lone_escape_is_a_key_when_nothing_follows() -> None:
    assert decode_keys(b"\x1b", is_all=True) == ((Key("esc"),), b"")
    assert decode_keys(b"\x1b[200~a", is_all=True) == ((), b"\x1b[200~a")


PIECES = st.sampled_from(
    [b"\x1b[200~", b"\x1b[201~", b"\x1b", b"\x1b[A", b"\r", "é日🙂".encode(), b"\xff", b"7"]
)


@given(st.lists(PIECES | st.binary(max_size=5)), st.data())
def test_how_bytes_are_cut_does_not_matter(pieces: list[bytes], data: st.DataObject) -> None:
    received = b"".join(pieces)
    whole, rest = decode_keys(received)
    cut = data.draw(st.integers(0, len(received)))
    first, kept = decode_keys(received[:cut])
    second, left = decode_keys(kept + received[cut:])
    assert (first + second, left) == (whole, rest)


@given(st.binary())
def test_what_is_typed_holds_no_control_character(received: bytes) -> None:
    keys, rest = decode_keys(received, is_all=True)
    assert rest == b"" or rest.startswith(b"\x1b[200~")
    for key in keys:
        assert key.text == "" or key.name in {"text", "paste"}
        assert all(
            character in "\n\t" or character.isprintable() or ord(character) > 0x9F for character in key.text
        )


def test_a_draft_takes_text_pastes_and_corrections() -> None:
    draft = Draft()
    for key in [
        *typed("ab"),
        Key("backspace"),
        Key("newline"),
        Key("paste", "x\ny"),
        Key("backspace"),
        Key("up"),
    ]:
        draft = draft.press(key)
    assert draft.text == draft.shown == "a\nx\n"
    long = draft.press(Key("paste", "row\n" * 12))
    assert long.shown == "a\nx\n[Pasted text #1 +12 lines]"
    assert long.text.endswith("row\n")
    assert long.press(Key("backspace")) == draft
    assert long.press(Key("ctrl-u")).text == "a\nx\n", "a row"
    assert draft.press(Key("ctrl-u")) == draft
    assert draft.press(Key("backspace")).press(Key("ctrl-u")).text == "a\n"
    assert Draft(("a", "b")).press(Key("ctrl-u")) == Draft()


@pytest.mark.parametrize(
    ("asked", "keys", "answer"),
    [
        (SINGLE, typed("2"), Answer(("Green",))),
        (SINGLE, [Key("down"), Key("down"), Key("enter")], Answer(("Blue",))),
        (SINGLE, [*typed("4my 2 cents"), Key("enter")], Answer(("my 2 cents",))),
        (SINGLE, [*typed("4ab"), Key("backspace"), Key("paste", "x\ny"), Key("enter")], Answer(("ax\ny",))),
        (SINGLE, typed("5"), Answer()),
        (SINGLE, [Key("esc")], Answer(ends_turn=True)),
        (MULTI, [*typed("31"), Key("right"), *typed("1")], Answer(("Blue", "Red"))),
        (MULTI, [*typed("121"), Key("right"), Key("enter")], Answer(("Green",))),
        (MULTI, [Key("enter"), Key("right"), *typed("1")], Answer(("Red",))),
        (
            MULTI,
            [*typed("2"), *[Key("down")] * 3, *typed("24x7"), Key("down"), Key("enter"), Key("enter")],
            Answer(("Green", "24x7")),
        ),
        (MULTI, typed("5"), Answer()),
        (MULTI, [*typed("1"), Key("right"), *typed("2")], Answer(ends_turn=True)),
        (CONSENT, typed("1"), Answer(("yes",))),
        (CONSENT, [Key("down"), Key("enter")], Answer(("always",))),
        (CONSENT, typed("3"), Answer(("no",), ends_turn=True)),
    ],
)
def test_keys_answer_a_question(asked: Choice | Consent, keys: list[Key], answer: Answer) -> None:
    assert press_all(Dialog(asked), keys) == answer


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (SINGLE, typed("x9")),
        (SINGLE, [*typed("4"), Key("enter")]),
        (MULTI, [Key("right"), *typed("1")]),
        (MULTI, typed("4")),
        (CONSENT, typed("9y")),
    ],
)
def test_other_keys_do_not_answer(asked: Choice | Consent, keys: list[Key]) -> None:
    assert isinstance(press_all(Dialog(asked), keys), Dialog)


KEYS = st.sampled_from(
    [Key(n) for n in ["up", "down", "left", "right", "enter", "backspace", "tab", "ctrl-u"]]
) | st.builds(Key, st.just("text"), st.sampled_from("0123456789ab²٣"))


@given(st.sampled_from([SINGLE, MULTI, CONSENT]), st.lists(KEYS, max_size=30))
def test_a_dialog_never_loses_its_place(asked: Choice | Consent, keys: list[Key]) -> None:
    state: Dialog | Answer = Dialog(asked)
    for key in keys:
        if isinstance(state, Answer):
            break
        state = press(state, key)
        assert isinstance(state, Answer) or 0 <= state.focus < len(rows(state))


@pytest.mark.parametrize(
    ("asked", "line", "answer"),
    [
        (SINGLE, "2", Answer(("Green",))),
        (SINGLE, "blue", Answer(("Blue",))),
        (SINGLE, "a, b", Answer(("a, b",))),
        (SINGLE, " ", Answer(ends_turn=True)),
        (SINGLE, None, Answer(ends_turn=True)),
        (MULTI, "3, red, 1, pink", Answer(("Blue", "Red", "pink"))),
        (CONSENT, "2", Answer(("always",))),
        (CONSENT, "Yes", Answer(("yes",))),
        (CONSENT, "what?", Answer(("no",), ends_turn=True)),
        (CONSENT, None, Answer(("no",), ends_turn=True)),
    ],
)
def test_a_line_answers_a_question(asked: Choice | Consent, line: str | None, answer: Answer) -> None:
    assert answer_from_line(asked, line) == answer
