"""Proof that a prompt arrived: the agent's own words for it, written after it was typed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_keys import made

from maestro.agents.registry import terminal_named
from maestro.agents.terminal import TellsQueue
from maestro.fleet.proof import (
    AMONG_QUEUED,
    AT_WORK,
    QUEUED,
    left_in_queue,
    lines_since,
    mentions,
    same_prompt,
    size_of,
    taken_since,
)
from maestro.fleet.roll import Roll
from maestro.home import Home
from maestro.ledger import prompts, sessions
from maestro.ledger.database import open_database
from maestro.ledger.facts import Place, Prompt
from maestro.ledger.journal import Change, Journal
from maestro.ledger.prompts import shown
from maestro.ledger.roles import HUMAN


@pytest.mark.parametrize(
    ("told", "same"),
    [
        ("Fix the login", True),
        ("  Fix the\nlogin \n", True),
        ("Fixthelogin", True),
        ("Fix the login now", False),
        ("Fix the", False),
        ("fix the login", False),
        ("", False),
    ],
)
def test_the_same_prompt(told: str, same: bool) -> None:  # noqa: FBT001 - a table's column
    assert same_prompt(told, "Fix the login") is same
    assert same_prompt(told, "other", "Fix the login") is same


def test_a_prompt_that_lay_on_the_disk_without_its_key() -> None:
    """A hook tells of it while no daemon runs."""
    typed = f"Log in with {made('github', 1)} now"
    assert same_prompt("Log in with [redacted] now", "other", typed)
    assert mentions("Before.\nLog in with [redacted] now", typed)
    assert not same_prompt("Log in with [redacted] later", typed)
    assert not same_prompt("Log in with [redacted] now", "Log in with the password now")


@pytest.mark.parametrize(
    ("told", "is_mentioned"),
    [
        ("Fix the login", True),
        ("first this\nFix the\n login", True),
        ("an earlier prompt", False),
        ("Fix the", False),
        ("", False),
    ],
)
def test_a_prompt_that_was_taken_with_another(told: str, is_mentioned: bool) -> None:  # noqa: FBT001 - a table's column
    assert mentions(told, "Fix the login") is is_mentioned


@given(st.text(max_size=60), st.lists(st.sampled_from([" ", "\n", "\t", "\u00a0"]), max_size=5).map("".join))
def test_wrapping_is_no_difference(text: str, space: str) -> None:
    assert same_prompt(space + text.replace(" ", space or " ") + space, text)


def line(text: str, **named: object) -> bytes:
    record = {"type": "user", "message": {"role": "user", "content": text}, **named}
    return json.dumps(record).encode() + b"\n"


def test_only_what_was_written_since_counts(tmp_path: Path) -> None:
    terminal = terminal_named("scripted")
    assert terminal is not None
    path = tmp_path / "log.jsonl"
    assert size_of(path) == size_of(None) == 0
    assert list(lines_since(path, 0)) == []
    path.write_bytes(line("Again") + line("Again"))
    size = size_of(path)

    def taken(*typed: str) -> bool:
        return taken_since(terminal, lines_since(path, size), *typed)

    assert not taken("Again"), "said before, not by this prompt"
    with path.open("ab") as file:
        file.write(b"\xff\0 no record\n" + line("Again")[:-1])
        file.flush()
        assert not taken("Again"), "a torn line proves nothing"
        file.write(b"\n")
        file.flush()
        assert taken("Again")
        assert taken("!x", "Again")
        assert not taken("Agai")
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "Later"}
    path.write_bytes(json.dumps(queued).encode() + b"\n")
    assert taken("Later"), "a log that began anew is read from its beginning"


@given(st.binary(max_size=300))
def test_any_line_may_stand_in_a_transcript(written: bytes) -> None:
    for name in ("claude", "codex", "gemini", "scripted"):
        terminal = terminal_named(name)
        if terminal is not None:
            assert not taken_since(terminal, written.split(b"\n"), "a prompt that nobody wrote")
            if isinstance(terminal, TellsQueue):
                assert not any(map(terminal.enqueued, written.split(b"\n")))
                assert terminal.given(b"queued_command" + written) is None


def sent(text: str, *, evidence: str = AMONG_QUEUED, size: int = 0, kind: Any = "prompt") -> Prompt:
    """A prompt that was submitted."""
    return Prompt(
        id=f"prom_{text}", session_id="s", kind=kind, state="submitted", text=shown(text), sender=None,
        question_id=None, answer=None, reason="", evidence=(evidence,), transcript_size=size, created_at=1,
        updated_at=1, typed_at=1, settled_at=1,
    )  # fmt: skip


def queue(operation: str, content: str = "") -> bytes:
    record = {"type": "queue-operation", "operation": operation} | ({"content": content} if content else {})
    return json.dumps(record).encode() + b"\n"


def attached(prompt: object) -> bytes:
    """As Claude Code takes a prompt into the middle of a turn; 2.1.197 names it nowhere else."""
    record = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}
    return json.dumps(record).encode() + b"\n"


PUT, TOOK = queue("enqueue", "then this"), line("then this")
HOOK = "its own hook says that it took this prompt"


@pytest.mark.parametrize(
    ("lines", "lost"),
    [
        (PUT, True),
        (PUT + line("something else"), True),
        (PUT + queue("dequeue"), True),
        (PUT + queue("dequeue") + TOOK, False),
        (PUT + queue("remove", "then this"), False),
        (PUT + queue("remove", "another"), True),
        (PUT + queue("remove") + attached("then this"), False),
        (PUT + queue("remove") + attached([{"type": "text", "text": "then this"}]), False),
        (PUT + queue("remove") + attached("another"), True),
        (PUT + line("before\nthen this\nafter"), False),
        (PUT + TOOK[:-30], True),
        (TOOK, False),
    ],
)
@pytest.mark.parametrize("evidence", [AMONG_QUEUED, QUEUED, AT_WORK, HOOK])
def test_claudes_log_tells_what_it_had_queued(
    tmp_path: Path, lines: bytes, evidence: str, *, lost: bool
) -> None:
    """Its hook tells of a prompt when it is queued, not when the model gets it."""
    terminal = terminal_named("claude")
    assert terminal is not None
    path = tmp_path / "log.jsonl"
    path.write_bytes(line("the first") + lines)
    prompt = sent("then this", evidence=evidence, size=len(line("the first")))
    assert left_in_queue(terminal, path, [prompt]) == ([prompt] if lost else [])


@pytest.mark.parametrize(
    ("evidence", "lost"), [(AMONG_QUEUED, True), (QUEUED, True), (AT_WORK, True), (HOOK, False)]
)
def test_what_claude_held_and_had_no_time_to_log(tmp_path: Path, evidence: str, *, lost: bool) -> None:
    terminal = terminal_named("claude")
    assert terminal is not None
    path = tmp_path / "log.jsonl"
    path.write_bytes(line("the first") + PUT)
    size = len(line("the first"))
    before, last = (
        sent("then this", evidence=evidence, size=size),
        sent("and that", evidence=evidence, size=size),
    )
    assert left_in_queue(terminal, path, [before, last]) == ([before, last] if lost else [])


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_others_log_what_the_model_got(tmp_path: Path, name: str) -> None:
    terminal = terminal_named(name)
    assert terminal is not None
    path = tmp_path / "log.jsonl"
    got = {
        "codex": {"timestamp": "2026-11-15T12:00:00Z", "type": "event_msg", "payload": {
            "type": "item_completed", "item": {"type": "UserMessage", "content": [{"text": "then this"}]}}},
        "gemini": {"id": "1", "type": "user", "timestamp": "2026-11-15T12:00:00Z", "content": "then this"},
    }[name]  # fmt: skip
    older, newer = sent("then this"), sent("and that")
    path.write_bytes(json.dumps(got).encode() + b"\n")
    assert left_in_queue(terminal, path, [older, newer]) == [newer]
    assert left_in_queue(terminal, None, [older, newer]) == [older, newer]
    assert left_in_queue(terminal, path, [older]) == []
    assert left_in_queue(terminal, None, [sent("then this", evidence=HOOK)]) == []
    assert left_in_queue(terminal, None, [sent("then this", kind="answer")]) == []


def test_a_secret_in_a_prompt_hides_nothing_of_this(tmp_path: Path) -> None:
    """The ledger keeps of a prompt that is over what may be shown."""
    terminal = terminal_named("claude")
    assert terminal is not None
    text = "! use sk-ant-api03-abcdefghijklmnopqrstuvwxyz for it"
    typed = terminal.as_text(text)
    path = tmp_path / "log.jsonl"
    path.write_bytes(queue("enqueue", typed))
    assert left_in_queue(terminal, path, [sent(text)]) == [sent(text)]
    path.write_bytes(queue("enqueue", typed) + line(typed))
    assert left_in_queue(terminal, path, [sent(text)]) == []


class Ended:
    """A pane of a person's own tmux that is gone, with the prompts that its Codex had queued."""

    def __init__(self, place: Path, *typed: str, sizes: int) -> None:
        self.journal = Journal(open_database(f"sqlite+pysqlite:///{place}/l.db"), "host_T", lambda: 1)
        self._place = place
        self._typed, self._sizes = typed, sizes
        self.session = self.journal.write(HUMAN, self._begin)

    def _begin(self, change: Change) -> str:
        session = sessions.adopt_session(
            change, agent="codex", transcript_id="unknown", transcript_path=None, cwd=str(self._place),
            project=None, name="theirs",
        )  # fmt: skip
        gone = Place(
            fleet="gone", label="x", pane_id="%0", pane_pid=2**22, server_pid=2**22, server_started=1
        )
        sessions.place_session(change, session, gone, None)
        for text in self._typed:
            prompt = prompts.enqueue(change, session, text, kind="prompt")
            prompts.move(change, prompt, "typing", transcript_size=self._sizes)
            prompts.move(change, prompt, "submitted", evidence=[QUEUED])
        return session

    def states(self, transcript: Path | None) -> list[str]:
        """What became of each prompt when the end is noticed."""
        roll = Roll(self.journal, Home(str(self._place)), lambda _session: transcript)
        asyncio.run(roll.settle_fleet("gone"))
        assert self.journal.read(lambda c: sessions.get_session(c, self.session)).ended_at is not None
        found = self.journal.read(lambda c: prompts.list_prompts(c, self.session))
        self.journal.engine.dispose()
        return [one.state for one in found]


def test_in_a_persons_pane_an_unknown_transcript_shows_no_loss(place: Path) -> None:
    ended = Ended(place, "answered yesterday", "and this one too", sizes=0)
    assert ended.states(None) == ["submitted", "submitted"]


def test_in_a_persons_pane_a_size_may_be_of_another_transcript(place: Path) -> None:
    got = {"timestamp": "2026-11-15T12:00:00Z", "type": "event_msg", "payload": {
        "type": "item_completed", "item": {"type": "UserMessage", "content": [{"text": "taken"}]}}}  # fmt: skip
    log = place / "rollout.jsonl"
    log.write_text(json.dumps(got) + "\n" + json.dumps({"type": "other"}) + "\n")
    ended = Ended(place, "taken", "left behind", sizes=log.stat().st_size - 1)
    assert ended.states(log) == ["submitted", "failed"]
