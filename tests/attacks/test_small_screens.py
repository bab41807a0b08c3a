"""Panes that are too small for the dialog on them, on real tmux, with agents whose screens shrink as the real ones do.

A pane of ours is enlarged for the moment when nobody sees it, and is then as it was, whatever comes between; a person's
own is never touched. Of a command that the screen hides nobody judges the part that is visible.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.fleet.typing.sights import sight
from tests.fleet.typing.stage import Stage
from tests.patience import until
from tests.support import some_in_test

from maestro.agents.questions import Option, Question, QuestionKind, cut, is_same, merged
from maestro.agents.screen import UNKNOWN, Screen
from maestro.fleet.room import LARGE, advice, is_cramped, may_enlarge

pytestmark = pytest.mark.more  # make test-more

# How each shrinks is recorded from the real ones; here it is about the panes.
CLIS = some_in_test(["claude", "codex", "gemini"])
WORDS = " ".join(f"word{number:02}" for number in range(30))
COMMAND = f"echo {WORDS} && rm -rf build"
READY = {"say": "I am ready."}
MAY = {
    "permission": {
        "command": COMMAND,
        "description": "Print words",
        "answers": {"yes": [{"say": "Got: yes"}], "*": [{"say": "Got: other"}]},
    }
}
TIMES = "\N{MULTIPLICATION SIGN}"


def shape(stage: Stage, session: str) -> str:
    """The window as a person finds it."""
    return shape_of(stage, *stage.place_of(session))


def shape_of(stage: Stage, socket: str, pane: str) -> str:
    """Its size, whether a pane fills it, each pane, its own rule for its size."""

    def tmux(command: str, *words: str) -> str:
        return stage.tmux(command, "-t", pane, *words, socket=socket).strip()

    facts = tmux(
        "display-message", "-p", "#{window_width}x#{window_height} #{window_zoomed_flag} #{@pane_room}"
    )
    panes = tmux("list-panes", "-F", "#{pane_active} #{pane_width}x#{pane_height}")
    return f"{facts} | {panes} | {tmux('show-options', '-w', '-v', 'window-size')}"


def shrink(stage: Stage, session: str) -> str:
    """Its window is left at 40 by 10, as by a small terminal that has gone."""
    socket, pane = stage.place_of(session)
    # In one step: the daemon may look, and enlarge the pane, at any moment.
    small = ("resize-window", "-t", pane, "-x", "40", "-y", "10")
    stage.tmux(*small, ";", "set-option", "-w", "-u", "-t", pane, "window-size", socket=socket)
    left: str = until(lambda: (now := shape(stage, session)).startswith("40x10 ") and now)
    return left


def asked_when_small(stage: Stage, name: str, imitate: str, **rest: Any) -> tuple[str, str]:
    """A session of ours that asks in a small pane; its id, and the shape of its window."""
    session = stage.spawn(name, READY, {"wait": True}, MAY, imitate=imitate, **rest)
    left = shrink(stage, session)
    stage.queued(session, "go")
    until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    return session, left


def question(stage: Stage, session: str) -> dict[str, Any]:
    """What is open, once all of it was read."""
    asked: dict[str, Any] = until(
        lambda: (
            (found := (stage.explain(session)["question"] or {}).get("asked", {})).get("detail") and found
        ),
        lambda: (stage.explain(session), stage.screen(session)),
    )
    return asked


def until_left_as_it_was(stage: Stage, session: str, left: str) -> None:
    until(lambda: shape(stage, session) == left, lambda: (shape(stage, session), left))


@pytest.mark.parametrize("imitate", CLIS)
def test_a_pane_of_ours_is_read_whole_answered_and_left_as_it_was(stage: Stage, imitate: str) -> None:
    """Without hooks: what it is for is told by its screen alone."""
    session, left = asked_when_small(stage, f"small-{imitate}", imitate, hookless=True)
    asked = question(stage, session)
    assert "".join(asked["detail"].split()) == "".join(COMMAND.split())
    assert asked["options"][-1]["label"].startswith("No")
    assert not asked["unread"]
    until_left_as_it_was(stage, session, left)
    told = stage.sent(session, "Choose 1")
    assert told["state"] == "submitted", (told, stage.screen(session))
    until(lambda: "Got: yes" in stage.said(session), lambda: stage.said(session))
    until_left_as_it_was(stage, session, left)


@pytest.mark.parametrize("imitate", CLIS)
def test_a_persons_own_pane_is_never_resized(stage: Stage, imitate: str) -> None:
    """Nothing is said of what it hides, nothing is typed, and the refusal says what to do."""
    session = stage.adopt(f"own-{imitate}", READY, {"wait": True}, MAY, imitate=imitate)
    stage.in_pane(session, "resize-window", "-x", "40", "-y", "10")
    left = shape(stage, session)
    stage.queued(session, "go")
    asked = until(
        lambda: stage.explain(session)["question"], lambda: (stage.explain(session), stage.screen(session))
    )["asked"]
    assert (asked["kind"], asked["detail"], asked["isCut"]) == ("permission", "", True), asked
    assert "too small" in asked["unread"] or "above the screen" in asked["unread"]
    told = stage.sent(session, "Choose 1")
    assert told["state"] == "failed", told
    assert f"Its pane is 40{TIMES}10: too small to show the whole dialog." in told["reason"], told
    assert f"Enlarge it to 80{TIMES}24 or more, or answer it there." in told["reason"], told
    assert shape(stage, session) == left
    assert "Got: yes" not in stage.said(session)
    stage.in_pane(session, "resize-window", "-x", "120", "-y", "40")
    assert "".join(question(stage, session)["detail"].split()) == "".join(COMMAND.split())
    assert stage.sent(session, "Choose 1")["state"] == "submitted"
    until(lambda: "Got: yes" in stage.said(session))


def test_whoever_opens_the_window_finds_it_in_the_size_of_their_terminal(stage: Stage) -> None:
    """The human comes while the pane is large: it is given back at once, and theirs until they leave."""
    session, _ = asked_when_small(stage, "visited", "claude")
    question(stage, session)
    human = stage.human(session)
    until(lambda: shape(stage, session).startswith("200x49 0 |"), lambda: shape(stage, session))
    assert shape(stage, session).endswith("| ")
    human.leave()


def test_a_pane_among_others_gets_the_window_and_gives_it_back(stage: Stage) -> None:
    """Its neighbours and the active pane are as before."""
    session = stage.spawn("beside", READY, {"wait": True}, MAY)
    stage.in_pane(session, "split-window", "-h", "cat")
    left = shrink(stage, session)
    stage.queued(session, "go")
    assert "".join(question(stage, session)["detail"].split()) == "".join(COMMAND.split())
    until_left_as_it_was(stage, session, left)
    assert stage.sent(session, "Choose 1")["state"] == "submitted"
    until_left_as_it_was(stage, session, left)


def test_tmux_gives_the_room_back_when_the_daemon_was_killed(stage: Stage) -> None:
    session, left = asked_when_small(stage, "orphan", "claude")
    until_left_as_it_was(stage, session, left)
    place = stage.place_of(session)
    # Whoever looks makes it large for a moment.
    looking = stage.maestro.start("session", "explain", session)
    until(lambda: shape_of(stage, *place).startswith("160x121"), lambda: shape_of(stage, *place))
    stage.kill_daemon()
    looking.communicate()
    until(lambda: shape_of(stage, *place) == left, lambda: (shape_of(stage, *place), left))


# Pure.

ASKED = Question(
    "permission", "May it use Bash?", (Option("Yes", number=1), Option("No", number=2)), detail=COMMAND
)
REST = cut(Question("permission", "May it?", (Option("Yes", number=1),), detail="echo"))


@pytest.mark.parametrize(
    "named",
    [
        {"own": False},
        {"shown": True},
        {"focused": True},
        {"in_mode": True},
        {"dead": True},
        {"width": LARGE[0], "height": LARGE[1]},
        {"screen": Screen("permission", question=ASKED)},
    ],
)
def test_only_a_pane_of_ours_that_nobody_sees_is_enlarged(named: dict[str, Any]) -> None:
    small: dict[str, Any] = {
        "screen": Screen("permission", question=REST),
        "width": 40,
        "height": 10,
        "own": True,
    }
    assert may_enlarge(sight(**small))
    assert not may_enlarge(sight(**small | named))


def test_what_is_read_at_no_size_is_small_only_where_it_is() -> None:
    assert is_cramped(sight(UNKNOWN, width=20, height=5)._replace(content="to cancel"))
    assert not is_cramped(sight(UNKNOWN, width=80, height=24)._replace(content="to cancel"))
    assert "20" in advice(sight(UNKNOWN, width=20, height=5))


def test_a_part_says_nothing_of_what_it_is_for_and_gives_way_to_the_whole() -> None:
    assert (REST.detail, REST.is_cut, bool(REST.unread)) == ("", True, True)
    assert is_same(ASKED, REST)
    assert is_same(REST, ASKED)
    for whole in (merged(ASKED, REST, exact=False), merged(REST, ASKED, exact=False)):
        assert (whole.detail, whole.options, whole.unread, whole.is_cut) == (
            COMMAND,
            ASKED.options,
            "",
            False,
        )
    assert not is_same(ASKED, cut(Question("plan", "May it?")))
    assert not is_same(Question("choice", "Which one?"), cut(Question("choice", "Which other?")))


@pytest.mark.parametrize("kind", ["plan", "permission"])
def test_what_neither_a_hook_nor_a_small_screen_tells_stays_unread(kind: QuestionKind) -> None:
    told, shown = Question(kind, "May it?"), cut(Question(kind, "May it?"))
    assert merged(told, shown, exact=False).unread
    assert merged(shown, told, exact=True).unread
