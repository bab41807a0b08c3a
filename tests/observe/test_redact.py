"""Secrets and control characters never get out, wherever they stand."""

import json
import os
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import made_keys

from maestro.agents import Moment
from maestro.observe.digest import Shape, entry_of
from maestro.redact import MARK, clean, fold, redact

COUNT = 10_000 if os.environ.get("MAESTRO_SOAK") == "1" else 200
BODY = "Zq7Wx9Kp2Lm4Nb8Vc6Xd1Fg3Hj5"
SECRETS = [
    f"sk-ant-api03-{BODY}",
    f"sk-proj-{BODY}",
    f"sk-{BODY}",
    f"AIza{BODY}{BODY[:7]}",
    f"ghp_{BODY}{BODY[:8]}",
    f"github_pat_{BODY}",
    f"xoxb-1234567890-{BODY}",
    "AKIA" + "ZQ7WX9KP2LM4NB8V",
    f"eyJhbGciOiJIUzI1NiJ9.{BODY}.{BODY}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----",
    f"password={BODY}",
    f'password: "{BODY}"',
    f"API_KEY={BODY}",
    f"client_secret: {BODY}",
    f"access_token={BODY}",
    f"Authorization: Bearer {BODY}",
    f"https://someone:{BODY}@example.org/x",
    f"postgresql://app:{BODY}@db/x",
    f"https://{BODY}@example.org/x",
]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_replaced(secret: str) -> None:
    safe = redact(f"I set {secret} and went on.")
    assert BODY not in safe
    assert BODY[:6] not in safe
    assert BODY.upper()[:6] not in safe
    assert MARK in safe
    assert "went on." in safe or "PRIVATE" in secret


@pytest.mark.parametrize(
    "text",
    [
        "The token: expired yesterday, so I ask for another.",
        "See https://example.org/a/b?c=d for the task-list.",
        "I use the key in the map, then sort by key: value pairs.",
        "Basic checks pass. The password field is empty.",
        "disk-sk-1 is mounted; asia and akita are names.",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text) == text


NOISE = ["", "\x1b[0m", "\u200b", "\x00", "\u202e", "\x9b31m", *made_keys.GAPS.values()]


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["text", "prompt", "api_error"])
@settings(max_examples=COUNT, deadline=None)
@given(
    key=st.builds(made_keys.made, st.sampled_from(sorted(made_keys.KINDS)), st.integers(0, 10**6)),
    place=st.integers(0, 160),
    before=st.integers(0, 5000),
    after=st.integers(0, 300),
    noise=st.sampled_from([*NOISE, *made_keys.BREAKS.values()]),
    full=st.booleans(),
    longest=st.none() | st.integers(20, 400),
)
def test_no_part_of_a_service_s_key_survives_any_cut(
    kind: Any, key: str, place: int, before: int, after: int, noise: str, *, full: bool, longest: Any
) -> None:
    first = len(key) - len(made_keys.secret_of(key))
    hidden = made_keys.split(key, noise, place if place > first else 0)
    moment = Moment(kind, 0, "word " * (before // 5) + hidden + " word" * (after // 5))
    shown = entry_of(moment, Shape(full=full, max_length=longest)).text
    assert made_keys.leaked(key, shown) == []


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["text", "prompt", "api_error"])
@settings(max_examples=COUNT, deadline=None)
@given(
    secret=st.sampled_from(SECRETS),
    before=st.integers(0, 5000),
    after=st.integers(0, 300),
    noise=st.sampled_from(NOISE),
    full=st.booleans(),
    longest=st.none() | st.integers(20, 400),
)
def test_no_part_of_a_secret_survives_any_cut(
    kind: Any, secret: str, before: int, after: int, noise: str, *, full: bool, longest: Any
) -> None:
    middle = len(secret) // 2
    hidden = secret[:middle] + noise + secret[middle:]
    moment = Moment(kind, 0, "word " * (before // 5) + hidden + " word" * (after // 5))
    shown = entry_of(moment, Shape(full=full, max_length=longest)).text
    for start in range(len(BODY) - 5):
        assert BODY[start : start + 6] not in shown
        assert BODY[start : start + 6].upper() not in shown


@pytest.mark.soak
@settings(max_examples=COUNT, deadline=None)
@given(
    text=st.text(st.characters(codec=None, categories=["L", "N", "Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "So"]))
)
def test_no_control_character_survives(text: str) -> None:
    for shown in (clean(text), entry_of(Moment("text", 0, text)).text, fold(clean(text))):
        assert not CONTROL.search(shown)
        shown.encode()
    assert "\n" not in entry_of(Moment("prompt", 0, text)).text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("rtl \u202eevil\u202c", "rtl evil"),
        ("\x1b\x1b[201~[201~", "[201~"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_escape_sequences_go_whole(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_markup_is_text() -> None:
    entry = entry_of(Moment("text", 0, "<script>alert(1)</script> is what I wrote."))
    assert json.dumps(entry.text) == '"<script>alert(1)</script> is what I wrote."'


FRAGMENTS = [
    *("sk-", "SK-", "eyJ", "AIza", "AKIA", "ASIA", "asia", "xoxb-", "xapp-", "glpat-", "ghp_", "npm_", "hf_"),
    *("sk_live_", "github_pat_", "Bearer", "BASIC", "basic", "password", "Token", "api-key", "secret", "pwd"),
    *("https://", "postgres://", "a:b@", "-----BEGIN PRIVATE KEY-----", "=", ": ", ":=", " ", "\t", "\n"),
    *("A1b2C3d4E5f6G7h8", "AAAABBBBCCCCDDDD", "expired", "'", '"'),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join))
def test_nothing_that_a_pattern_matches_is_passed_over(text: str) -> None:
    """A text is first searched for hints of secrets. With a hint before it, none of it is passed over."""
    hint = "xapp- "
    assert redact(hint + text) == hint + redact(text)
