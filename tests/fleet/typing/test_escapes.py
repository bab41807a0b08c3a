"""What a worker writes reaches a person's terminal as text: no command shows a control byte of it (bar R14)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading

import pytest
from tests.characters import ODD
from tests.fleet.typing.stage import BIN, Stage
from tests.patience import end_of, until

from maestro.errors import Conflict

pytestmark = pytest.mark.more  # make test-more

EVIL = "\x1b[31mred\x1b]0;owned\x07\x9b2J\x1b[2J\x90q\x9c\x08\x7f\u202e\u2066 end"
# With escapes between characters that a terminal drops, joins or widens.
ODDLY = "\x1b[2J\x9b31m\x07".join(ODD.values())
ASKS = {
    "ask": {
        "question": f"Which {EVIL}?",
        "header": f"H{EVIL}"[:40],
        "options": [
            {"label": f"A {EVIL}", "description": f"first {EVIL}"},
            {"label": "B", "description": f"{EVIL} {ODDLY}"},
        ],
        "answers": {"*": [{"say": f"Said {EVIL} {ODDLY}"}]},
    }
}


def controls(text: str, *, colours: bool = False) -> list[str]:
    """Control characters that must not be there; our own colours are none of a worker's."""
    if colours:
        import re

        text = re.sub("\x1b\\[[0-9;]*m", "", text)
    hidden = "\u202e\u2066\u200b\ufeff"
    return [
        hex(ord(c)) for c in text if (ord(c) < 32 and c not in "\n\r\t") or 127 <= ord(c) < 160 or c in hidden
    ]


def on_a_terminal(stage: Stage, *words: str) -> str:
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    read: list[bytes] = []

    def drain() -> None:
        try:
            while chunk := os.read(master, 65536):
                read.append(chunk)
        except OSError:
            pass

    reading = threading.Thread(target=drain)
    reading.start()
    process = subprocess.Popen(
        [BIN / "maestro", *words],
        env=stage.maestro.env,
        cwd=stage.maestro.cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    end_of(process)
    reading.join()
    os.close(master)
    return b"".join(read).decode("utf-8", "surrogateescape")


def test_no_control_byte_of_a_worker_on_a_terminal(stage: Stage) -> None:
    asking = stage.spawn(f"evil{EVIL}"[:60], ASKS)
    question = until(lambda: stage.explain(asking)["question"], lambda: stage.screen(asking))
    assert "red" in question["text"], "the words themselves are kept"
    drafted = stage.adopt("drafted", {"say": f"Hello {EVIL} {ODDLY}"})
    stage.in_pane(drafted, "send-keys", "-l", "draft \u202e of somebody")
    stage.see(drafted, "of somebody")
    held = stage.queued(drafted, f"held {EVIL} {ODDLY}")
    stage.held(drafted, held, "of somebody")
    commands = [
        ("session", "explain", asking),
        ("session", "explain", drafted),
        ("session", "prompts", drafted),
        ("session", "list"),
        ("session", "show", asking),
        ("session", "logs", drafted),
        ("session", "prompt", asking, "--message", f"Choose 9{EVIL}"),
        ("session", "prompt", asking, "--message", "Choose 9"),
        ("session", "prompt", drafted, "--message", f"more {EVIL}", "--timeout", "0"),
        ("fleet", "capture-pane", asking),
        ("fleet", "capture-pane", drafted),
        ("fleet", "list-panes"),
        ("fleet", "status"),
        ("status",),
    ]
    for words in commands:
        plain = stage.maestro(*words)
        shown = plain.stdout + plain.stderr
        assert shown, words
        assert not controls(shown), (words, shown)
        structured = stage.maestro(*words, "--json")
        assert not controls(structured.stdout + structured.stderr), (words, structured.stdout)
        coloured = on_a_terminal(stage, *words)
        assert not controls(coloured, colours=True), (words, coloured)


def test_a_screen_of_somebody_elses_is_read_without_its_escapes(stage: Stage) -> None:
    path = stage.place / "screen"
    path.write_text(
        f"{EVIL}\n\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} {EVIL}\nEnter to select · {EVIL} Esc to cancel\n"
    )
    for agent in ("claude", "codex", "gemini", "scripted"):
        words = ("agents", "read-screen", agent, str(path), "--title", EVIL)
        assert not controls(stage.maestro(*words).stdout)
        told = stage.maestro(*words, "--json").stdout
        assert json.loads(told)["state"]
        assert not controls(told)


def test_an_answer_with_escapes_is_typed_without_them(stage: Stage) -> None:
    session = stage.spawn("plain-asker", ASKS)
    until(lambda: stage.explain(session)["question"])
    done = stage.prompt(session, f"in words {EVIL}")
    assert done.returncode in {0, Conflict.exit_code}, done.stderr
    until(lambda: stage.said(session))
    [result] = stage.results(session)
    assert not controls(" ".join(result["answers"].values()).replace("\u202e", "").replace("\u2066", ""))
