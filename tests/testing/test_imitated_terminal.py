"""The imitated CLIs in a real terminal, and the steps that only they need."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.patience import until
from tests.testing.stage import BOX, Home, Pane

from maestro.agents.screen import captured
from maestro.agents.scripted import ADAPTER
from maestro.testing.scripted_agent.steps import IMITATED

CODEX_BOX = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Ask Codex to do anything"
GEMINI_BOX = " >   Type your message or @path/to/file"
IDLE = {"claude": BOX, "codex": CODEX_BOX, "gemini": GEMINI_BOX}
PAUSE = 0.3
SIZE = {"question": "How big?", "header": "Size", "options": ["Small", "Large"]}
COLOUR = {"question": "Which?", "header": "Colour", "options": ["Red", "Green", "Blue"]}


def state(pane: Pane) -> str:
    """What the scripted agent's adapter says of the pane as it is now."""
    title = pane.tmux("display-message", "-p", "#{pane_title}").rstrip("\n")
    return ADAPTER.read_screen(captured(pane.screen(styles=True), title=title)).state


def settled(pane: Pane, wanted: str) -> None:
    until(lambda: state(pane) == wanted, pane.screen)


def enter(pane: Pane) -> None:
    """Enter as a person presses it: for two of the CLIs, sooner would be a part of what was typed before."""
    time.sleep(PAUSE)
    pane.keys("Enter")


def at_once(pane: Pane, text: str, *, paste: bool = False) -> None:
    """The text and Enter, so that nothing comes between them."""
    if paste:
        pane.tmux("load-buffer", "-b", "x", "-", text=text)
        pane.tmux("paste-buffer", "-p", "-d", "-b", "x", ";", "send-keys", "Enter")
    else:
        pane.tmux("send-keys", "-l", text, ";", "send-keys", "Enter")


@pytest.mark.parametrize("imitate", IMITATED)
def test_a_session_from_start_to_end(home: Home, pane: Pane, imitate: str) -> None:
    permission = {
        "permission": {"command": "make", "result": "made", "answers": {"yes": [{"say": "Built."}]}}
    }
    work = {"run": ["sh", "-c", "until test -e go; do sleep 0.05; done"]}
    pane.start(home.script({"wait": True}, work, permission, {"ask": COLOUR}), "--imitate", imitate)
    pane.see(IDLE[imitate])
    settled(pane, "idle")
    pane.paste("begin")
    pane.see("begin")
    enter(pane)
    settled(pane, "working")
    (home.project / "go").touch()
    settled(pane, "permission")
    pane.keys("1")
    settled(pane, "question")
    pane.keys("2")
    pane.see(IDLE[imitate])
    settled(pane, "idle")
    assert home.prompts() == ["begin"]
    assert "Built." in home.said()
    result = next(r for r in reversed(home.records()) if "toolUseResult" in r)
    assert result["toolUseResult"]["answers"] == {"Which?": "Green"}


def test_the_environment_says_whom_to_imitate(home: Home, pane: Pane) -> None:
    pane.tmux(
        "start-server", ";", "set-environment", "-g", "MAESTRO_IMITATE", "gemini", ";", "new-session", "-d"
    )
    pane.start(home.script(imitate="codex"))
    pane.see(GEMINI_BOX)
    title = pane.tmux("display-message", "-p", "#{pane_title}")
    assert "Ready (project)" in title


def test_codex_takes_text_and_enter_at_once_for_a_paste(home: Home, pane: Pane) -> None:
    pane.start(home.script(imitate="codex", on_prompt=[{"say": "Heard ${prompt}."}]))
    pane.see(CODEX_BOX)
    at_once(pane, "some text")
    pane.see("some text")
    assert not home.transcripts()
    enter(pane)
    pane.see("• Heard some text.")
    at_once(pane, "pasted\ntext", paste=True)
    pane.see("• Heard pasted")
    assert home.prompts() == ["some text", "pasted\ntext"]


def test_codex_quits_by_one_ctrl_c_on_an_empty_box(home: Home, pane: Pane) -> None:
    pane.start(home.script(imitate="codex"))
    pane.see(CODEX_BOX)
    pane.type("a draft")
    pane.see("a draft")
    pane.keys("C-c")
    pane.see(CODEX_BOX)
    pane.keys("C-c")
    assert pane.ended() == 0


def test_gemini_takes_enter_right_after_a_paste_for_a_new_line(home: Home, pane: Pane) -> None:
    pane.start(home.script(imitate="gemini", on_prompt=[{"say": "Heard ${prompt}."}]))
    pane.see(GEMINI_BOX)
    at_once(pane, "pasted text", paste=True)
    pane.see(" > pasted text")
    assert not home.transcripts()
    enter(pane)
    pane.see("✦ Heard pasted text.")


@pytest.mark.parametrize("imitate", IMITATED)
def test_what_is_typed_into_the_shell_mode_is_recorded_and_not_run(
    home: Home, pane: Pane, imitate: str
) -> None:
    pane.start(home.script(imitate=imitate, on_prompt=[{"say": "Never."}]))
    pane.see(IDLE[imitate])
    pane.keys("!")
    pane.type("touch ran")
    pane.see("! touch ran" if imitate != "claude" else "!\N{NO-BREAK SPACE}touch ran")
    enter(pane)
    pane.see("runs nothing that is typed")
    assert home.prompts()[0] == "<bash-input>touch ran</bash-input>"
    assert "Never." not in home.said()
    assert not (home.project / "ran").exists()


@pytest.mark.parametrize(("imitate", "no"), [("claude", "Enter"), ("codex", "Escape"), ("gemini", "3")])
def test_a_folder_that_is_not_trusted_ends_it(home: Home, pane: Pane, imitate: str, no: str) -> None:
    pane.start(home.script({"dialog": "trust"}, {"say": "Here."}, imitate=imitate), "--prompt", "begin")
    settled(pane, "dialog")
    pane.keys(no)
    assert pane.ended() == 1
    assert not home.transcripts()


@pytest.mark.parametrize(
    ("imitate", "yes"), [("claude", ["Down", "Enter"]), ("codex", ["Enter"]), ("gemini", ["1"])]
)
def test_a_folder_that_is_trusted_lets_it_begin(home: Home, pane: Pane, imitate: str, yes: list[str]) -> None:
    pane.start(home.script({"dialog": "trust"}, {"say": "Here."}, imitate=imitate), "--prompt", "begin")
    settled(pane, "dialog")
    pane.keys(*yes)
    pane.see("Here.")
    assert home.prompts() == ["begin"]


def test_several_questions_a_preview_and_a_plan(home: Home, pane: Pane) -> None:
    looked_at = [{"label": "Left", "preview": "|  "}, {"label": "Top", "preview": "==="}]
    steps: list[dict[str, Any]] = [
        {"ask": {"questions": [COLOUR, {**SIZE, "multi": True}], "answers": {"Green; Small, Large": [{"say": "Both."}]}}},
        {"ask": {"question": "Which layout?", "header": "Layout", "options": looked_at}},
        {"plan": {"plan": "1. Do it", "answers": {"*": [{"say": "Then ${answer}."}], "yes": [{"say": "Done."}]}}},
    ]  # fmt: skip
    pane.start(home.script(*steps))
    pane.see("☐ Colour", "☐ Size")
    pane.keys("2")
    pane.see("How big?")
    pane.keys("1", "2", "Right")
    pane.see("Ready to submit your answers?", "→ Small, Large")
    pane.keys("1")
    pane.see("● Both.", "n to add notes")
    pane.keys("2")
    pane.see("2. Top", "│ ===")
    pane.keys("Enter")
    pane.see("Which layout? → Top", "Ready to code?")
    pane.keys("3")
    pane.type("add 2 tests")
    pane.see("3. add 2 tests")
    pane.keys("Enter")
    pane.see("● Then add 2 tests.", BOX)


def test_background_agents_work_on_after_the_turn(home: Home, pane: Pane) -> None:
    agent = {"background": {"description": "Count files", "seconds": 600}}
    pane.start(home.script({"say": "Starting."}, agent, {"say": "It is one."}))
    pane.see("Waiting for 1 background agent to finish", BOX)
    settled(pane, "background")
    pane.type("meanwhile")
    pane.see(f"{BOX}meanwhile")
    assert "It is one." not in home.said()


def test_the_end_of_a_background_agent_is_a_turn_of_its_own(home: Home, pane: Pane) -> None:
    pane.start(home.script({"background": {"seconds": 0.1, "result": "One."}}, {"say": "It is one."}))
    pane.see("● It is one.", BOX)
    settled(pane, "idle")
    (prompt,) = home.prompts()
    assert prompt.startswith("<task-notification>")


@pytest.mark.parametrize("imitate", IMITATED)
def test_errors_and_limits_look_like_those_of_the_cli(home: Home, pane: Pane, imitate: str) -> None:
    failing = {"api_error": {"status": 500, "text": "overloaded", "retrying": 600}}
    refused = {"api_error": {"status": 400, "text": "bad request"}}
    limited = {"limit": {"text": "Usage limit reached", "resets": "3pm"}}
    steps: list[dict[str, Any]] = [{"wait": True}, failing, refused, {"wait": True}, limited]
    pane.start(home.script(*steps, imitate=imitate))
    pane.see(IDLE[imitate])
    for number, wanted in enumerate(("retrying", "error", "limit")):
        pane.paste(f"prompt {number}")
        pane.see(f"prompt {number}")
        enter(pane)
        settled(pane, wanted)
        if wanted == "retrying":
            pane.keys("Escape")
            settled(pane, "idle")
            pane.keys("C-u")
            pane.see(IDLE[imitate])
