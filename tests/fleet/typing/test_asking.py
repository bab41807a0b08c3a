"""Sightings by hooks and on screens become one question each, opened and closed at the right moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.patience import within

from maestro.agents.questions import Option, Question
from maestro.agents.screen import UNKNOWN, Screen
from maestro.fleet.asking import DRAWING_MS, Asking, asked_of, told
from maestro.fleet.channels import Channels
from maestro.ledger import questions, sessions
from maestro.ledger.database import open_database
from maestro.ledger.facts import NewProject, NewSession, Session
from maestro.ledger.facts import Question as Kept
from maestro.ledger.journal import Journal
from maestro.ledger.projects import add_project
from maestro.ledger.roles import HUMAN

IDLE = Screen("idle", draft="")
SECRET = "sk-ant-" + "x" * 40


def on_screen(text: str, *labels: str) -> Screen:
    options = tuple(Option(label, number=place) for place, label in enumerate(labels or ("Yes", "No"), 1))
    return Screen("question", question=Question("choice", text, options))


class Scene:
    def __init__(self, place: Path) -> None:
        self.now = 1_800_000_000_000
        self.journal = Journal(open_database(f"sqlite+pysqlite:///{place}/l.db"), "host_T", lambda: self.now)
        self.asking = Asking(self.journal)
        folder = NewProject(directory=str(place))
        project = self.journal.write(HUMAN, lambda c: add_project(c, folder))
        request = NewSession(agent="scripted", project_id=project)
        made = self.journal.write(HUMAN, lambda c: sessions.create_session(c, request))
        self.session: Session = self.journal.read(lambda c: sessions.get_session(c, made))

    def heard(self, text: str, call_id: str = "") -> Kept:
        self.now += 1
        asked = Question("choice", text)
        return asyncio.run(self.asking.heard(self.session, asked, call_id, "", self.now))

    def shown(self, screen: Screen) -> Kept | None:
        return asyncio.run(self.asking.shown(self.session, screen, self.now))

    def ended(self, call_id: str = "", *, at: int | None = None) -> Kept | None:
        told_at = self.now if at is None else at
        return asyncio.run(self.asking.ended(self.session.id, "PostToolUse", call_id, told_at))

    def all(self) -> list[Kept]:
        return self.journal.read(questions.list_questions)


@pytest.fixture
def scene(place: Path) -> Iterator[Scene]:
    made = Scene(place)
    yield made
    made.journal.engine.dispose()


def test_a_dialog_that_is_not_drawn_yet_is_open(scene: Scene) -> None:
    question = scene.heard("Which?", "call_1")
    for screen in (IDLE, UNKNOWN, Screen("working"), on_screen("An older one?")):
        found = scene.shown(screen)
        assert found is not None
        assert found.id == question.id
    scene.now += DRAWING_MS
    assert scene.shown(UNKNOWN) is not None, "a screen that cannot be read changes nothing"
    assert scene.shown(IDLE) is None
    assert [one.closed_by for one in scene.all()] == ["it is no longer on the screen"]


def test_hook_and_screen_see_one_question(scene: Scene) -> None:
    first = scene.shown(on_screen("Which?"))
    assert first is not None
    heard = scene.heard("Which?", "call_1")
    assert (heard.id, heard.call_id, heard.version) == (first.id, "call_1", 1), "who read it may answer it"
    for _ in range(3):
        again = scene.shown(on_screen("Which?"))
        assert again is not None
        assert (again.id, again.version) == (first.id, 1), "a redraw is no news"
    assert len(scene.all()) == 1


def permission(text: str, detail: str) -> Question:
    return Question(
        "permission", text, (Option("Yes", number=1), Option("No", number=2)), tool="Bash", detail=detail
    )


@pytest.mark.parametrize(("heard", "version"), [("git push", 1), ("git push --force", 2)])
def test_a_permission_is_given_to_its_detail_however_it_is_worded(
    scene: Scene, heard: str, version: int
) -> None:
    """The screen is seen before the hook arrives, and has words of its own."""
    shown = Screen("permission", question=permission("Do you want to proceed?", "git push"))
    first = scene.shown(shown)
    assert first is not None
    later = asyncio.run(
        scene.asking.heard(scene.session, permission("May it use Bash?", heard), "", "", scene.now)
    )
    assert later.text == "May it use Bash?"
    assert (later.id, later.version) == (first.id, version)


def test_a_permission_that_screen_and_hook_told_of_is_known_after_a_restart(scene: Scene) -> None:
    shown = Screen("permission", question=permission("Do you want to proceed?", "git push"))
    first = scene.shown(shown)
    told = permission("May it use Bash?", "git push")
    asyncio.run(scene.asking.heard(scene.session, told, "", "PermissionRequest", scene.now))
    scene.asking = Asking(scene.journal)
    again = scene.shown(shown)
    assert first is not None
    assert again is not None
    assert again.id == first.id


def test_screen_and_hook_at_the_same_moment_see_one_question(scene: Scene) -> None:
    shown = Screen("permission", question=permission("Do you want to proceed?", "git push"))
    told = permission("May it use Bash?", "git push")

    def heard() -> Coroutine[Any, Any, Kept]:
        return scene.asking.heard(scene.session, told, "", "PermissionRequest", scene.now)

    async def play() -> None:
        looks = (scene.asking.shown(scene.session, shown, scene.now) for _ in range(6))
        await asyncio.gather(next(looks), heard(), *looks)

    asyncio.run(play())
    assert len(scene.all()) == 1
    asyncio.run(heard())
    assert len(scene.all()) == 2, "each event tells of a dialog once"


def test_options_that_were_not_known_are_another_version(scene: Scene) -> None:
    first = scene.heard("Which?", "call_1")
    for _ in range(2):
        found = scene.shown(on_screen("Which?", "Red", "Blue"))
        assert found is not None
        assert (found.id, found.version) == (first.id, 2)


def test_the_same_words_in_another_call_are_another_question(scene: Scene) -> None:
    first, second = scene.heard("Which?", "call_1"), scene.heard("Which?", "call_2")
    assert first.id != second.id
    assert [one.closed_by for one in scene.all()] == ["another question came", ""]


def test_the_same_words_after_an_idle_screen_are_another_question(scene: Scene) -> None:
    ids = []
    for _ in range(2):
        found = scene.shown(on_screen("Which?"))
        assert found is not None
        ids.append(found.id)
        assert scene.shown(IDLE) is None
    assert len(set(ids)) == 2


def test_a_secret_is_not_kept_and_makes_no_second_question(scene: Scene) -> None:
    seen = on_screen(f"Use {SECRET}?", f"Yes, {SECRET}", "No\x1b[31m")
    ids = {found.id for _ in range(3) if (found := scene.shown(seen))}
    assert len(ids) == 1
    assert SECRET not in repr(scene.all())
    assert "\\x1b" not in repr(scene.journal.events_since(None)[0])


def test_what_capture_pane_tells(scene: Scene) -> None:
    assert told(None) == {"hasQuestion": False, "questionText": "", "options": [], "preamble": ""}
    found = scene.shown(on_screen("Which?", "Red", "Blue"))
    said = told(found)
    assert (said["hasQuestion"], said["questionText"], said["kind"]) == (True, "Which?", "choice")
    assert [option["label"] for option in said["options"]] == ["Red", "Blue"]
    assert {"questionId", "version", "header", "tool", "detail", "parts", "askedAt"} <= set(said)


def test_news_that_comes_between_a_look_and_the_wait_is_not_missed() -> None:
    async def play() -> None:
        channels = Channels()
        news = channels.news("sess_1")
        channels.ring("sess_1")  # while we look
        async with within():
            await channels.wait(news, 60)
        other = channels.news("sess_1")
        assert not other.is_set()
        channels.ring("sess_2")
        await channels.wait(other, 0)
        assert not other.is_set()

    asyncio.run(play())


def test_a_waiting_hook_is_let_go_when_its_question_is_over() -> None:
    async def play(end: Callable[[Channels], Awaitable[None]]) -> bytes | None:
        channels = Channels()
        waiting = asyncio.create_task(channels.wait_for_answer("sess_1", "Asks", {}, "ques_1"))
        while channels.waiting("sess_1", "ques_1") is None:  # noqa: ASYNC110 - that it waits is no event
            await asyncio.sleep(0)
        await end(channels)
        async with within():
            said = await waiting
        assert channels.waiting("sess_1", "ques_1") is None
        return said

    async def answered(channels: Channels) -> None:
        waiting = channels.waiting("sess_1", "ques_1")
        assert waiting is not None
        channels.let_go("sess_1", but="ques_1")
        assert not waiting.answer.done()
        waiting.answer.set_result(b"yes")
        channels.let_go("sess_1")

    async def over(channels: Channels) -> None:
        channels.let_go("sess_1", but="ques_2")

    assert asyncio.run(play(answered)) == b"yes"
    assert asyncio.run(play(over)) is None


def test_a_hook_that_tells_again_tells_of_another_question(scene: Scene) -> None:
    """Codex's approvals and Gemini's confirmations have no ids: each event tells of a dialog once."""

    def heard(event: str, call_id: str = "") -> str:
        scene.now += 1
        asked = permission("May it use Bash?", "make release")
        return asyncio.run(scene.asking.heard(scene.session, asked, call_id, event, scene.now)).id

    first = heard("PreToolUse", "call_1")
    assert heard("PermissionRequest") == first, "another event may tell of the same one"
    shown = scene.shown(Screen("permission", question=permission("Proceed?", "make release")))
    assert shown is not None
    assert shown.id == first
    assert heard("PermissionRequest") != first


@pytest.mark.parametrize(
    ("change", "is_another"),
    [
        ({"preamble": "The backups shall be deleted."}, True),
        ({"options": (Option("Yes", "it deletes", 1), Option("No", number=2))}, True),
        ({"preamble": ""}, False),  # scrolled out of sight
        ({"stage": "typing", "typed": "words"}, False),
    ],
)
def test_a_screen_that_asks_something_else(scene: Scene, change: dict[str, object], is_another: bool) -> None:  # noqa: FBT001 - a table's column
    options = (Option("Yes", "it only looks", 1), Option("No", number=2))
    asked = Question("choice", "Shall it go on?", options, preamble="The tests shall run.")
    first = scene.shown(Screen("question", question=asked))
    second = scene.shown(Screen("question", question=msgspec.structs.replace(asked, **change)))
    assert first is not None
    assert second is not None
    assert (first.id != second.id) is is_another


def test_the_answer_to_one_call_closes_no_other(scene: Scene) -> None:
    second = scene.heard("Which?", "call_2")
    kept = scene.ended("call_1")
    assert kept is not None
    assert kept.id == second.id
    assert scene.ended("call_2") is None
    assert asyncio.run(scene.asking.open(scene.session.id)) is None


@pytest.mark.parametrize("call_id", ["", "call_1"])
def test_a_hook_ends_no_dialog_that_came_after_it_spoke(scene: Scene, call_id: str) -> None:
    """Its agent goes on before it is taken in, and the next dialog is seen on the screen meanwhile."""
    told_at = scene.now
    scene.now += 1
    first = scene.shown(on_screen("Which?"))
    assert first is not None
    kept = scene.ended(call_id, at=told_at)
    assert kept is not None
    assert kept.id == first.id
    scene.now += 1
    assert scene.ended(call_id) is None


def test_a_hook_that_spoke_while_nobody_listened_ends_what_was_asked_before(scene: Scene) -> None:
    """The next daemon sees the dialog first, and then hears the hook."""
    scene.shown(on_screen("Which?"))
    scene.now += 1
    told_at = scene.now
    scene.asking = Asking(scene.journal)
    scene.now += 1
    scene.shown(on_screen("Which?"))
    assert scene.ended("call_1", at=told_at) is None


def test_a_hook_ends_what_its_own_call_asked_whenever_that_was_taken_in(scene: Scene) -> None:
    told_at = scene.now
    scene.heard("Which?", "call_1")
    assert scene.ended("call_1", at=told_at) is None


def test_a_hook_ends_what_was_seen_before_the_clock_was_set_back(scene: Scene) -> None:
    scene.shown(on_screen("Which?"))
    scene.now -= 3_600_000
    assert scene.ended() is None


@pytest.mark.parametrize("is_seen", [False, True])
def test_a_dialog_whose_end_a_hook_told_may_stand_there_for_a_moment(scene: Scene, *, is_seen: bool) -> None:
    scene.heard("Which?", "call_1")
    if is_seen:
        scene.shown(on_screen("Which?"))
    assert scene.ended("call_1") is None
    assert scene.shown(on_screen("Which?")) is None
    other = scene.shown(on_screen("Which colour?"))
    assert other is not None, "another dialog is news at once"
    assert scene.ended() is None
    again = scene.heard("Which?", "call_2")
    assert len(scene.all()) == 3, "the same words in another call are told by its hook"
    assert scene.ended("call_2") is None
    scene.now += DRAWING_MS
    still = scene.shown(on_screen("Which?"))
    assert still is not None, "it stands there for so long that it is asked again"
    assert still.id != again.id


ROWS = (Option("Yes", number=1), Option("No", number=2))
MORE = [
    (permission("Proceed?", "ls"), {"detail": "ls; rm -rf ~/photos"}),
    (Question("choice", "Shall it go on?", ROWS), {"text": "Shall it go on? And delete all?"}),
    (Question("choice", "Shall it go on?", ROWS, preamble="Soon."), {"preamble": "It deletes all. Soon."}),
    (Question("choice", "Go on?", ROWS), {"options": (Option("Yes", "it deletes all", 1), ROWS[1])}),
]


@pytest.mark.parametrize(("asked", "change"), MORE)
@pytest.mark.parametrize("by_hook", [False, True])
def test_what_a_screen_shows_more_is_kept(
    scene: Scene, asked: Question, change: dict[str, object], *, by_hook: bool
) -> None:
    """It may be the next dialog: whoever judges it has to read what stands there."""
    if by_hook:
        first = asyncio.run(scene.asking.heard(scene.session, asked, "", "PermissionRequest", scene.now))
    else:
        first = scene.shown(Screen("question", question=asked))  # type: ignore[assignment]
    scene.now += DRAWING_MS
    now = scene.shown(Screen("question", question=msgspec.structs.replace(asked, **change)))
    assert first is not None
    assert now is not None
    kept = asked_of(now)
    assert all(getattr(kept, name) == value for name, value in change.items())


@pytest.mark.parametrize(
    ("asked", "change", "is_another"),
    [
        (Question("choice", "Go on?", ROWS, preamble="Tests run."), {"preamble": "All is deleted."}, True),
        (
            Question("choice", "Go on?", (Option("Yes", "it looks", 1),)),
            {"options": (Option("Yes", "it deletes", 1),)},
            True,
        ),
        (Question("plan", "Go on?", ROWS, detail="1. Build"), {"detail": "1. Delete"}, True),
        (Question("choice", "Go on?", ROWS, preamble="Tests run."), {}, False),
        (Question("choice", "Go on?", ROWS, preamble="Tests run."), {"preamble": ""}, False),
    ],
)
def test_another_dialog_after_a_restart(
    scene: Scene, asked: Question, change: dict[str, object], *, is_another: bool
) -> None:
    first = scene.shown(Screen("question", question=asked))
    scene.asking = Asking(scene.journal)
    now = scene.shown(Screen("question", question=msgspec.structs.replace(asked, **change)))
    assert first is not None
    assert now is not None
    assert (now.id != first.id) is is_another
