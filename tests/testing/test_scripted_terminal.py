"""The scripted agent in a real terminal: what it shows, and what keys do."""

from __future__ import annotations

import os
import signal
from typing import Any

from tests.patience import until
from tests.testing.stage import BOX, POINTER, Home, Pane

from maestro import processes

DATABASE = {
    "question": "Which database?",
    "header": "Database",
    "options": [
        {"label": "PostgreSQL", "description": "robust"},
        {"label": "SQLite", "description": "small"},
    ],
}


def ask(**more: Any) -> dict[str, Any]:
    return {"ask": {**DATABASE, **more}}


def test_an_idle_agent_shows_its_box_with_a_dim_placeholder(home: Home, pane: Pane) -> None:
    pane.start(home.script(placeholder="Try me"))
    pane.see(f"{BOX}Try me", "? for shortcuts")
    line = next(line for line in pane.screen(styles=True).splitlines() if "ry me" in line)
    assert ";2m" in line.partition("ry me")[0]
    pane.type("a real draft")
    pane.see(f"{BOX}a real draft")
    line = next(line for line in pane.screen(styles=True).splitlines() if "a real draft" in line)
    assert "\x1b[2m" not in line
    assert not home.transcripts()


def test_a_digit_selects_and_submits(home: Home, pane: Pane) -> None:
    pane.start(home.script({"say": "One question."}, ask(answers={"SQLite": [{"say": "Small it is."}]})))
    screen = pane.see("Enter to select", "● One question.")
    assert "☐ Database" in screen
    assert f"{POINTER} 1. PostgreSQL" in screen
    assert "  4. Chat about this" in screen
    assert BOX not in screen
    assert not [r for r in home.records() if "AskUserQuestion" in str(r)]
    pane.keys("2")
    pane.see("Which database? → SQLite", "● Small it is.", BOX)
    result = next(r for r in home.records() if "toolUseResult" in r)
    assert result["toolUseResult"]["answers"] == {"Which database?": "SQLite"}


def test_free_text_answers_with_digits_in_it(home: Home, pane: Pane) -> None:
    pane.start(home.script(ask(answers={"*": [{"say": "Then ${answer}."}]})))
    pane.see("3. Type something.")
    pane.keys("3")
    pane.see(f"{POINTER} 3. Type something.")
    pane.type("MySQL 8 please")
    pane.see(f"{POINTER} 3. MySQL 8 please")
    pane.keys("Enter")
    pane.see("● Then MySQL 8 please.")


def test_esc_declines_and_ends_the_turn(home: Home, pane: Pane) -> None:
    pane.start(home.script(ask(), {"say": "Going on."}))
    pane.see("Enter to select")
    pane.keys("Escape")
    screen = pane.see("User declined to answer", " for 0s · done ", BOX)
    assert "Going on." not in screen
    pane.type("carry on")
    pane.keys("Enter")
    pane.see("● Going on.")
    texts = [str(record["message"]["content"]) for record in home.records() if record["type"] == "user"]
    assert any("[Request interrupted by user for tool use]" in text for text in texts)


def test_a_multi_select_is_reviewed_before_it_is_sent(home: Home, pane: Pane) -> None:
    pane.start(home.script(ask(multi=True)))
    pane.see("1. [ ] PostgreSQL", "←  ☐ Database  ✔ Submit  →")
    pane.keys("2")
    pane.see("2. [✔] SQLite")
    pane.keys("1")
    pane.see("1. [✔] PostgreSQL")
    pane.keys("Right")
    pane.see("Ready to submit your answers?", "→ SQLite, PostgreSQL")
    pane.keys("1")
    pane.see("Which database? → SQLite, PostgreSQL", BOX)


def test_a_permission_is_given_by_a_digit(home: Home, pane: Pane) -> None:
    pane.start(home.script({"permission": {"command": "rm -r build", "result": "gone"}}))
    screen = pane.see("Esc to cancel · Tab to amend")
    assert " rm -r build" in screen
    assert f" {POINTER} 1. Yes" in screen
    assert BOX not in screen
    pane.keys("1")
    pane.see("⎿  gone", BOX)


def test_no_to_a_permission_ends_the_turn(home: Home, pane: Pane) -> None:
    pane.start(
        home.script({"permission": {"command": "rm -r /", "answers": {"no": [{"say": "Good."}]}}}),
    )
    pane.see("Esc to cancel · Tab to amend")
    pane.keys("3")
    screen = pane.see("User rejected", BOX)
    assert "Good." not in screen
    pane.type("why?")
    pane.keys("Enter")
    pane.see("● Good.")


def test_a_pasted_text_of_several_lines_is_submitted_once(home: Home, pane: Pane) -> None:
    pane.start(home.script(on_prompt=[{"say": "Read."}]))
    pane.see(BOX)
    pane.paste("first line\nsecond line\nthird ünïcödé 日本 line")
    screen = pane.see("third ünïcödé")
    assert f"{BOX}first line\n  second line\n" in screen
    assert not home.transcripts()
    pane.keys("Enter")
    pane.see("● Read.")
    assert home.prompts() == ["first line\nsecond line\nthird ünïcödé 日本 line"]


def test_a_long_paste_with_enter_at_once_is_folded_and_kept_whole(home: Home, pane: Pane) -> None:
    text = "\n".join(f"row {number} with some words in it" for number in range(400))
    pane.start(home.script(on_prompt=[{"say": "Read."}]))
    pane.see(BOX)
    pane.paste(text)
    pane.see("[Pasted text #1 +399 lines]")
    pane.keys("Enter")
    pane.see("● Read.")
    assert home.prompts() == [text]


def test_what_is_typed_while_working_is_queued(home: Home, pane: Pane) -> None:
    steps = [{"work": 0.1}, ask(), {"wait": True}, {"say": "Second turn: ${prompt}"}]
    pane.start(home.script({"run": ["sh", "-c", "until test -e go; do sleep 0.05; done"]}, *steps))
    pane.see("esc to interrupt")
    pane.type("queued while busy")
    pane.keys("Enter")
    pane.see(f"{POINTER} queued while busy", f"{BOX}Press up to edit queued messages")
    pane.type("only a draft")
    pane.see(f"{BOX}only a draft")
    operations = [record for record in home.records() if record["type"] == "queue-operation"]
    assert [(record["operation"], record["content"]) for record in operations] == [
        ("enqueue", "queued while busy")
    ]
    (home.project / "go").touch()
    pane.see("Enter to select")
    pane.keys("1")
    pane.see("● Second turn: queued while busy", f"{BOX}only a draft")
    kinds = [record.get("operation") for record in home.records() if record["type"] == "queue-operation"]
    assert kinds == ["enqueue", "dequeue"]
    assert home.prompts() == ["queued while busy"]


def test_esc_interrupts_work_and_the_command_that_runs(home: Home, pane: Pane) -> None:
    command = ["sh", "-c", "echo $$ > pid; exec sleep 600"]
    pane.start(home.script({"say": "Long one."}, {"run": command}, {"say": "After."}))
    pane.see("Bash(sh -c", "esc to interrupt")
    pid = int(pane_file(home, pane, "pid"))
    pane.keys("Escape")
    pane.see("⎿  Interrupted", "? for shortcuts")
    assert not is_alive(pid)
    assert "After." not in home.said()
    pane.type("go on")
    pane.keys("Enter")
    pane.see("● After.")


def test_esc_before_any_reply_puts_the_prompt_back(home: Home, pane: Pane) -> None:
    pane.start(home.script({"wait": True}, {"work": 600}, {"say": "Here."}))
    pane.see(BOX)
    pane.type("do it")
    pane.keys("Enter")
    pane.see(f"{POINTER} do it", "esc to interrupt")
    pane.keys("Escape")
    pane.until(lambda screen: f"{BOX}do it" in screen and "esc to interrupt" not in screen)
    pane.keys("Enter")
    pane.see("● Here.")
    first, second = (record for record in home.records() if record["type"] == "user")
    assert first["parentUuid"] == second["parentUuid"]


def test_exit_gives_the_terminal_back(home: Home, pane: Pane) -> None:
    pane.start(home.script({"say": "Hello."}))
    pane.see("● Hello.", BOX)
    assert pane.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"
    pane.type("/exit")
    pane.keys("Enter")
    assert pane.ended() == 0
    assert pane.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]
    pane.type("stty -a; cat -v")
    pane.keys("Enter")
    screen = pane.see("icanon")
    assert " -icanon" not in screen
    assert " -echo " not in screen
    pane.paste("marker")
    assert "200~" not in pane.see("marker")


def test_ctrl_c_quits_only_when_pressed_twice(home: Home, pane: Pane) -> None:
    pane.start(home.script({"say": "Hello."}))
    pane.see(BOX)
    pane.type("a draft")
    pane.see(f"{BOX}a draft")
    pane.keys("C-c")
    screen = pane.see("Press Ctrl-C again to exit")
    assert "a draft" not in screen
    pane.see("? for shortcuts")
    pane.keys("C-c", "C-c")
    assert pane.ended() == 0


def test_a_termination_signal_ends_it_cleanly(home: Home, pane: Pane) -> None:
    pane.start(home.script({"run": ["sh", "-c", "echo $PPID > pid; exec sleep 600"]}))
    pid = int(pane_file(home, pane, "pid"))
    os.kill(pid, signal.SIGTERM)
    assert pane.ended() == 128 + signal.SIGTERM
    assert pane.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
    assert [record["type"] for record in home.records()][-1] == "assistant"


def test_a_closed_pane_ends_it_and_its_command(home: Home, pane: Pane) -> None:
    pane.start(home.script({"run": ["sh", "-c", "echo $PPID $$ > pid; exec sleep 600"]}))
    pids = [int(pid) for pid in pane_file(home, pane, "pid").split()]
    pane.tmux("kill-pane")
    until(lambda: not any(map(is_alive, pids)))


def test_the_screen_follows_the_size_of_its_window(home: Home, pane: Pane) -> None:
    pane.start(home.script({"say": "word " * 30}))
    pane.see("● word", BOX)
    pane.tmux("resize-window", "-x", "50", "-y", "20")
    pane.until(lambda screen: "─" * 50 in screen.splitlines() and BOX in screen)


def pane_file(home: Home, pane: Pane, name: str) -> str:
    path = home.project / name
    pane.until(lambda _: path.exists() and path.read_text(encoding="utf-8").endswith("\n"))
    return path.read_text(encoding="utf-8")


def is_alive(pid: int) -> bool:
    """A process that has ended is not alive, even before its parent has taken notice."""
    return processes.start_time(pid) is not None
