"""What a person does in the live view reaches the worker, and what becomes of it is on the screen."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cli.live.viewing import NEVER_LONG_ENOUGH, run, viewing
from tests.fleet.typing.stage import Stage

from maestro.errors import Refused
from maestro.server.client import Daemon

SAY = {"*": [{"say": "I was told ${answer}."}]}


def asks(question: str, *options: str, **named: Any) -> dict[str, Any]:
    chosen = {"options": list(options)} if options else {"free_text": True}
    return {"ask": {"question": question, "header": "Head", "answers": SAY, **chosen, **named}}


WHERE = asks("Where does it go?", "Staging", "Production")
PUSH = {"permission": {"command": "git push", "answers": {"*": [{"say": "It said ${answer}."}]}}}


def test_a_digit_answers_the_question_on_the_screen(stage: Stage) -> None:
    worker = stage.spawn("backend", {"say": "Half done."}, WHERE)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("1 needs you", "▸! backend", "Where does it go?", " 1 Staging", " 2 Production")
            await viewer.press("2")
            await viewer.until(lambda: "I was told Production." in stage.said(worker))
            await viewer.sees("backend: queued", "submitted", "I was told Production.")
            await viewer.sees_no("needs you")

    run(scenario())
    [sent] = stage.prompts(worker)
    assert (sent["kind"], sent["state"], sent["text"]) == ("answer", "submitted", "Choose 2")


def test_what_lasts_is_asked_again_and_only_y_is_yes(stage: Stage) -> None:
    worker = stage.spawn("deployer", {"say": "I am ready for it."}, PUSH)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("Bash: git push", " 2 Yes, and always", "y/N", " 3 No")
            await viewer.press("2")
            await viewer.sees("deployer  Choose 2: Yes, and always", "it changes what will be asked later")
            await viewer.press("enter")
            await viewer.sees_no("it changes what will be asked later")
            assert stage.prompts(worker) == []
            await viewer.press("2")
            await viewer.sees("it changes what will be asked later")
            await viewer.press("y")
            await viewer.until(lambda: "It said always." in stage.said(worker))

    run(scenario())


def test_what_nobody_can_have_read_yet_is_asked_again(stage: Stage) -> None:
    worker = stage.spawn("backend", WHERE)

    async def scenario() -> None:
        async with viewing(stage, looked_at=NEVER_LONG_ENOUGH) as viewer:
            await viewer.sees(" 1 Staging")
            await viewer.press("1")
            await viewer.sees("it asked only just now")
            assert stage.prompts(worker) == []
            await viewer.press("y")
            await viewer.until(lambda: "I was told Staging." in stage.said(worker))

    run(scenario())


def test_answers_in_words_and_several_numbers(stage: Stage) -> None:
    worker = stage.spawn(
        "backend", WHERE, asks("Which of them?", "A", "B", "C", multi=True), {"say": "Fine."}
    )

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("Where does it go?", " 2 Production")
            await viewer.press("t")
            await viewer.sees("backend  in words")
            await viewer.write("the attic, 2 floors up")
            await viewer.press("enter")
            await viewer.until(lambda: "I was told the attic, 2 floors up." in stage.said(worker))
            await viewer.sees("Which of them?", " 3 C")
            await viewer.press("1")
            await viewer.write(", 3")
            await viewer.press("enter")
            await viewer.until(lambda: "I was told A, C." in stage.said(worker))

    run(scenario())


def test_escape_sends_nothing_and_keys_that_are_written_do_nothing_else(stage: Stage) -> None:
    worker = stage.spawn("backend", WHERE)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees(" 2 Production")
            await viewer.press("t")
            await viewer.write("q2djpi")
            await viewer.sees("q2djpi")
            await viewer.press("escape")
            await viewer.sees_no("q2djpi")
            await viewer.sees(" 2 Production")

    run(scenario())
    assert stage.prompts(worker) == []


def test_a_prompt_shows_its_receipt(stage: Stage) -> None:
    worker = stage.spawn("helper", {"say": "I am ready for it."}, on_prompt=[{"say": "I heard ${prompt}."}])

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("▸* helper", "I am ready for it.")
            await viewer.press("2")
            await viewer.sees("helper asks nothing. p prompts it.")
            await viewer.press("p")
            await viewer.write("go on.")
            await viewer.press("enter")
            await viewer.sees("helper: queued", "submitted")
            await viewer.until(lambda: stage.heard(worker) == ["go on."])

    run(scenario())


def test_a_prompt_that_is_held_says_why(stage: Stage) -> None:
    worker = stage.spawn("helper", {"say": "I am ready for it."})
    stage.in_pane(worker, "copy-mode")

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("I am ready for it.")
            await viewer.press("p")
            await viewer.write("go on")
            await viewer.press("enter")
            await viewer.until(lambda: stage.prompts(worker) and stage.prompts(worker)[0]["reason"])
            await viewer.sees(f"helper: queued · {stage.prompts(worker)[0]['reason'][:30]}")

    run(scenario())


def test_evidence_help_and_the_empty_inbox(stage: Stage) -> None:
    stage.spawn("backend", WHERE)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees(" 2 Production")
            await viewer.press("e")
            await viewer.sees("a dialog is on its screen", "screen", "hook")
            await viewer.press("x")
            await viewer.sees(" 2 Production")
            await viewer.press("question_mark")
            await viewer.sees("answer its question with this option")
            await viewer.press("escape", "i")
            await viewer.sees("The inbox is empty.", "inbox only")
            await viewer.press("i")
            await viewer.sees(" 2 Production")

    run(scenario())


def test_the_selection_stays_with_its_session(stage: Stage) -> None:
    first = stage.spawn("first", {"say": "I am ready for it."}, on_prompt=[WHERE])
    stage.spawn("second", {"say": "I am ready, too."})

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("▸* first", "* second")
            await viewer.press("j")
            await viewer.sees("▸* second")
            await viewer.until(lambda: stage.queued(first, "Begin"))
            screen = await viewer.sees("! first")
            assert screen.index("! first") < screen.index("▸* second")
            await viewer.press("k", "k", "k")
            await viewer.sees("▸! first")

    run(scenario())


def test_nothing_that_a_worker_writes_is_markup(stage: Stage) -> None:
    stage.spawn("[red]evil[/]", asks("[b]Bold?[/b] [@click=app.quit]x[/]", "[link=x]A[/link]", "B"))

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("! [red]evil[/]", "[b]Bold?[/b] [@click=app.quit]x[/]", " 1 [link=x]A[/link]")
            await viewer.press("t")
            await viewer.sees("[red]evil[/]  in words")
            await viewer.press("escape", "e")
            await viewer.sees("─ [red]evil[/] ─")

    run(scenario())


def test_beside_each_other_on_a_wide_screen(stage: Stage) -> None:
    stage.spawn("backend", WHERE)

    async def scenario() -> None:
        async with viewing(stage, size=(120, 40)) as viewer:
            screen = await viewer.sees("▸! backend", " 1 Staging")
            line = next(line for line in screen.splitlines() if "▸! backend" in line)
            assert "│ backend · waiting" in line

    run(scenario())


def test_a_daemon_that_dies_is_said_and_found_again(lone_stage: Stage) -> None:
    worker = lone_stage.spawn("backend", WHERE)

    async def scenario() -> None:
        async with viewing(lone_stage) as viewer:
            await viewer.sees(" 1 Staging")
            lone_stage.kill_daemon()
            await viewer.sees("The daemon is not running.", "r starts it")
            await viewer.press("r")
            await viewer.sees_no("The daemon is not running.")
            await viewer.press("1")
            await viewer.until(lambda: "I was told Staging." in lone_stage.said(worker))

    run(scenario())


# Escalations.


def escalated(stage: Stage) -> tuple[str, str]:
    """A worker's question that its coordinator may not answer; the worker and the escalation."""
    place = {"agent": "scripted", "directory": str(stage.maestro.cwd)}
    boss = stage.maestro.daemon.call(
        "POST", "/api/sessions", {**place, "name": "boss", "role": "coordinator"}
    )
    child = {
        **place,
        "name": "deployer",
        "model": stage.script({"say": "I am ready for it."}, PUSH),
        "message": "Begin",
        "environment": stage.maestro.env,
        "parentSessionId": boss["session"]["id"],
    }
    worker = str(stage.maestro.daemon.call("POST", "/api/sessions/spawn", child, timeout=60)["id"])
    # Its hook tells of it before it is drawn, with options that may not be those of the screen.
    stage.see(worker, "3. No")
    assert stage.explain(worker)["question"]
    theirs = Daemon(stage.maestro.env | {"MAESTRO_SESSION_TOKEN": boss["token"]})
    with pytest.raises(Refused):
        theirs.call("POST", f"/api/sessions/{worker}/prompt", {"message": "Choose 1"})
    [waiting] = stage.maestro.daemon.call("GET", "/api/inbox")
    return worker, str(waiting["id"])


def test_an_escalation_is_answered_after_a_second_question(stage: Stage) -> None:
    worker, _ = escalated(stage)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.press("i")
            await viewer.sees("inbox only", "▸! deployer", "escalated", "Bash: git push", " 1 Yes", "after y")
            await viewer.press("1")
            await viewer.sees("it was escalated for")
            await viewer.press("y")
            await viewer.until(lambda: "It said yes." in stage.said(worker))
            await viewer.sees("The inbox is empty.", "submitted")

    run(scenario())
    assert stage.maestro.daemon.call("GET", "/api/inbox") == []


def test_an_escalation_is_dismissed_with_a_reason(stage: Stage) -> None:
    worker, escalation = escalated(stage)

    async def scenario() -> None:
        async with viewing(stage) as viewer:
            await viewer.sees("▸! deployer", "escalated")
            await viewer.press("d", "escape")
            assert stage.maestro.daemon.call("GET", "/api/inbox")
            await viewer.press("d")
            await viewer.write("not now")
            await viewer.press("enter")
            await viewer.sees("deployer: dismissed")
            await viewer.sees_no("escalated")

    run(scenario())
    assert "not now" in stage.maestro.daemon.call("GET", f"/api/inbox/{escalation}")["closedBy"]
    assert stage.prompts(worker) == []
