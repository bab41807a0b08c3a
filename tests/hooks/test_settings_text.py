"""Hooks in a person's settings: put in and taken out, and everything else byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maestro.agents.hook_command import hook_command, is_hook_command
from maestro.agents.json_text import NotJson, parsed, plain
from maestro.agents.settings_text import Clash, with_hooks, without_hooks


def entry(event: str, agent: str = "claude") -> dict[str, Any]:
    return {
        "matcher": "",
        "hooks": [{"type": "command", "command": hook_command(agent, event, event == "Ask")}],
    }


SETTINGS = {"hooks": {event: [entry(event)] for event in ("Stop", "Ask")}}
FOREIGN = {"hooks": [{"type": "command", "command": "say done"}]}


def put(text: str | None, *, comments: bool = False) -> str:
    return with_hooks(text, SETTINGS, "claude", comments=comments)


def taken(text: str, *, comments: bool = False) -> str | None:
    return without_hooks(text, "claude", comments=comments)


SPACES = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "\n\n"])
COMMENTS = st.sampled_from(["", " ", "\n", "/* { */", ' // "a": [\n', "\n  /* x\n */ "])
NAMES = st.sampled_from(["hooks", "Stop", "Ask", "command", "é\n", ""])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
# Documents that have something where our hooks go, so that they must be put between.
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "Ask", "Other"]),
    st.lists(
        st.sampled_from([FOREIGN, {"matcher": "x", "hooks": []}, entry("Stop", "codex"), 1]), max_size=3
    ),
    max_size=3,
)
DOCUMENTS = st.dictionaries(NAMES | st.text(max_size=3), VALUES, max_size=4).flatmap(
    lambda rest: st.just(rest) | HOOKS.map(lambda hooks: rest | {"hooks": hooks})
)


@st.composite
def laid_out(draw: st.DrawFn, space: st.SearchStrategy[str]) -> str:
    """A document in somebody's own layout."""

    def write(value: Any) -> str:
        def gap() -> str:
            return draw(space)

        if isinstance(value, dict):
            members = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{write(v)}{gap()}" for k, v in value.items()]
            return "{" + (",".join(members) or gap()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(f"{gap()}{write(each)}{gap()}" for each in value) or gap()) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return bom + draw(space) + write(draw(DOCUMENTS)) + draw(space)


def merged(before: dict[str, Any]) -> dict[str, Any]:
    """What the document must say then, by plain dictionaries."""
    hooks = dict(before.get("hooks", {}))
    for event, ours in SETTINGS["hooks"].items():
        hooks[event] = [*hooks.get(event, []), *ours]
    return before | {"hooks": hooks}


def can_hold(document: Any) -> bool:
    hooks = document.get("hooks", {})
    return isinstance(hooks, dict) and all(
        isinstance(hooks.get(event, []), list) for event in ("Stop", "Ask")
    )


@given(laid_out(SPACES))
def test_in_and_out_is_nothing(text: str) -> None:
    before = json.loads(text.lstrip("\ufeff"))
    if not can_hold(before):
        with pytest.raises(Clash):
            put(text)
        return
    installed = put(text)
    assert json.loads(installed.lstrip("\ufeff")) == merged(before)
    assert put(installed) == installed
    assert taken(installed) == text
    assert taken(text) == text


@given(laid_out(COMMENTS))
def test_comments_stay(text: str) -> None:
    root = parsed(text, comments=True)
    assert root
    before = plain(root)
    assume(can_hold(before))
    installed = put(text, comments=True)
    after = parsed(installed, comments=True)
    assert after
    assert plain(after) == merged(before)
    assert put(installed, comments=True) == installed
    assert taken(installed, comments=True) == text


@given(st.sampled_from(["", " ", "\n", "\ufeff", "\r\n\r\n", "\ufeff\n"]))
def test_an_empty_file_is_empty_again(text: str) -> None:
    assert json.loads(put(text).lstrip("\ufeff")) == SETTINGS
    assert taken(put(text)) == text


@pytest.mark.parametrize("text", ["// nothing yet", "/* a */\n// b\n", "\ufeff// c"])
def test_a_file_of_comments_is_one_again(text: str) -> None:
    installed = put(text, comments=True)
    root = parsed(installed, comments=True)
    assert root
    assert plain(root) == SETTINGS
    assert taken(installed, comments=True) == text


def test_a_file_that_we_made_goes() -> None:
    made = put(None)
    assert json.loads(made) == SETTINGS
    assert made.endswith("}\n")
    assert put(made) == made
    assert taken(made) is None


@given(
    st.text(max_size=30)
    | laid_out(SPACES).flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n]))
)
def test_what_is_no_json_for_others_is_none_for_us(text: str) -> None:
    try:
        theirs = json.loads(text.lstrip("\ufeff"))
    except ValueError:
        if text.removeprefix("\ufeff").strip(" \t\r\n"):
            with pytest.raises(NotJson):
                put(text)
    else:
        if isinstance(theirs, dict) and "Infinity" not in text and "NaN" not in text:
            root = parsed(text, comments=False)
            assert root
            assert plain(root) == theirs


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "{'a': 1}",
        '{"a": 1} x',
        '{"a": "\n"}',
        "[]",
        "3",
        "{" * 200,
        '{"a" 1}',
        '{"a": }',
        "{// c\n}",
        '{"a": 1',
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text: str) -> None:
    with pytest.raises(NotJson, match=r"line \d"):
        put(text)


def test_it_is_laid_out_as_the_file_is() -> None:
    text = '{\r\n    "model": "x",\r\n    "hooks": {\r\n        "Stop": []\r\n    }\r\n}\r\n'
    installed = put(text)
    assert "\n" not in installed.replace("\r\n", "")
    assert '\r\n        "Ask": [\r\n            {\r\n' in installed


def test_a_comment_stays_beside_what_it_explains() -> None:
    text = '{\n  "a": 1 // one\n}\n'
    installed = put(text, comments=True)
    assert installed.startswith('{\n  "a": 1, // one\n  "hooks": {\n')
    assert taken(installed, comments=True) == text


def test_hooks_of_others_keep_their_place_in_the_list() -> None:
    """Codex knows a trusted hook by its place."""
    after = json.loads(put(json.dumps({"hooks": {"Stop": [FOREIGN]}})))
    assert after["hooks"]["Stop"] == [FOREIGN, entry("Stop")]


def test_another_place_of_maestro_is_brought_up_to_date() -> None:
    text = '{"hooks": {"Stop": [], "Old": []}, "x": 1}'
    old = put(text).replace(
        hook_command("claude", "Stop"),
        "'/old venv/bin/python' -I -S '/old venv/lib/maestro/hook.py' claude Stop",
    )
    assert old != put(text)
    assert put(old) == put(text)
    assert taken(old) == text


def test_what_the_cli_laid_out_anew_is_still_taken_out() -> None:
    document = {"hooks": {"Stop": [FOREIGN]}, "x": [1, 2]}
    anew = json.dumps(json.loads(put(json.dumps(document))), indent=2)
    assert put(anew) == anew
    rest = taken(anew)
    assert rest
    assert json.loads(rest) == document


def test_a_hook_that_somebody_put_into_our_group_stays() -> None:
    shared = json.loads(put("{}"))
    shared["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    rest = taken(json.dumps(shared, indent=2))
    assert rest
    assert json.loads(rest)["hooks"] == {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]
    }


def test_hooks_of_another_agent_are_not_ours() -> None:
    text = json.dumps({"hooks": {"Stop": [entry("Stop", "codex")]}})
    assert taken(text) == text


def test_switches_are_not_put_in() -> None:
    assert "enabled" not in with_hooks(
        "{}", SETTINGS | {"hooksConfig": {"enabled": True}}, "claude", comments=False
    )


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("maestro hook claude Stop", True),
        ("/opt/bin/maestro hook claude Stop --wait", True),
        ("python3 -I -S /x/maestro/hook.py claude Stop", True),
        ("python3 /x/maestro/hook.py claude Stop", False),
        ("maestro hook codex Stop", False),
        ("echo 'maestro hook claude Stop'", False),
        ("maestro task hook claude", False),
        ("maestro hook 'claude", False),
        ("", False),
    ],
)
def test_our_command_is_known_again(command: str, *, ours: bool) -> None:
    assert is_hook_command(command, "claude") is ours
    assert is_hook_command(hook_command("claude", "Stop", True), "claude")
