"""Errors that only a screen tells of, in the digest: by recorded screens of the real CLIs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.test_screens import SCREENS, terminal_of

from maestro.agents import Moment
from maestro.agents.screen import Screen, captured
from maestro.observe.digest import Digest, Shape, Subject, digest, with_screen
from maestro.observe.recent import Recent

NOW = 1_800_000_000_000
ASKED = Recent(after_text=(Moment("prompt", NOW - 90_000, "go on"),))
DONE = Recent(after_text=(Moment("prompt", NOW - 90_000, "go on"), Moment("turn_ended", NOW - 1000)))


def told(screen: Screen, recent: Recent = ASKED) -> Digest:
    return with_screen(digest(Subject("s"), recent, NOW), screen, NOW)


def recorded(name: str) -> Screen:
    path: Path = SCREENS / name
    return terminal_of(path).read_screen(captured(path.read_text()))


@pytest.mark.parametrize(
    ("name", "words", "remedy"),
    [
        ("claude/2.1.325/70_api_500_retrying.txt", "attempt", "by itself"),
        ("claude/2.1.325/api_401_retrying.ansi", "401 invalid x-api-key stub", "log in"),
        ("codex/0.166.0/retrying_401.ansi", "Reconnecting", "by itself"),
    ],
)
def test_a_retry_is_in_the_digest(name: str, words: str, remedy: str) -> None:
    found = told(recorded(name))
    assert (found.status, found.state) == ("retrying", "active")
    assert found.stuck is not None
    assert found.stuck.kind == "api_errors"
    assert words in found.stuck.warning
    assert remedy in found.stuck.remedy
    assert found.stuck.silent_duration_ms == 90_000
    assert (found.evidence[0].source, found.evidence[0].at) == ("screen", NOW)
    assert found.entries[-1].text == found.evidence[0].says
    assert found.entries[-1].text[0].isalnum(), "without what the CLI draws before its words"


@pytest.mark.parametrize(
    ("name", "kind", "remedy"),
    [
        ("codex/0.166.0/limit.ansi", "limit", "The limit is over"),
        ("codex/0.166.0/limit_rate.ansi", "limit", "Wait for the reset"),
        ("codex/0.166.0/error_401.ansi", "api_errors", "log in"),
        ("gemini/0.61.0/error_401.ansi", "api_errors", "log in"),
        ("gemini/0.61.0/30_error_400.txt", "api_errors", "try again"),
    ],
)
@pytest.mark.parametrize("recent", [ASKED, DONE], ids=["asked", "done"])
def test_an_end_that_no_record_tells_is_in_the_digest(
    name: str, kind: str, remedy: str, recent: Recent
) -> None:
    found = told(recorded(name), recent)
    assert (found.status, found.state) == ("failed", "idle")
    assert found.stuck is not None
    assert found.stuck.kind == kind
    assert remedy in found.stuck.remedy
    assert (found.stuck.resets_at is not None) == name.endswith("/limit.ansi")


def test_a_screen_that_tells_nothing_more_changes_nothing() -> None:
    plain = digest(Subject("s"), ASKED, NOW)
    for screen in (Screen("working"), Screen("idle"), Screen("unknown"), Screen("question")):
        assert told(screen) == plain
    failed = Recent(
        after_text=(Moment("prompt", NOW - 9000, "go"), Moment("api_error", NOW, "API Error: 400"))
    )
    assert told(Screen("error", evidence="● API Error: 400"), failed) == digest(Subject("s"), failed, NOW)


LONG = Screen(
    "error", evidence="■ unexpected status 400: the server says very much about what it did not like"
)
SPOKE = Recent(
    entries=(Moment("text", NOW - 90_000, "I have read the file."),),
    last_text=Moment("text", NOW - 90_000, "I have read the file."),
    after_text=(Moment("tool_call", NOW - 60_000, "Bash"),),
)


def test_its_words_are_an_entry_like_any_other() -> None:
    """Cut as asked for, of the number asked for, and the same at every look."""
    short = Shape(max_length=20)
    plain = digest(Subject("s"), SPOKE, NOW, short)
    one, later = (with_screen(plain, LONG, at, last=1, shape=short) for at in (NOW, NOW + 5000))
    assert [entry.text for entry in one.entries] == ["unexpected status..."]
    assert one.entries == later.entries
    assert one.entries[0].timestamp == NOW - 60_000
    assert with_screen(plain, LONG, NOW, last=0).entries == ()
    assert len(with_screen(plain, LONG, NOW, last=2).entries) == 2
    assert with_screen(one, Screen("retrying", evidence=LONG.evidence), NOW) == one, "it has failed by then"


def test_one_that_has_ended_is_idle_since_its_last_record() -> None:
    plain = digest(Subject("s"), SPOKE, NOW)
    assert plain.metrics.idle_duration_ms == 0
    assert with_screen(plain, LONG, NOW).metrics.idle_duration_ms == 60_000
    assert with_screen(plain, Screen("retrying", evidence="again"), NOW).metrics.idle_duration_ms == 0
