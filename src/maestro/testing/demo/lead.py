"""The second chapter: a coordinator that is an agent starts a worker, watches it, helps it, checks it, and tells of it.

The person starts it by `maestro session spawn --role coordinator`; all else it does by commands of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from maestro.errors import MaestroError, TimedOut
from maestro.server.client import Daemon
from maestro.testing.demo.audience import Audience, Spoken
from maestro.testing.demo.hands import Person
from maestro.testing.demo.stage import FLEET
from maestro.testing.scripted_agent.transcript import transcript_path

NAME: Final = "Lead Agent"
_SCRIPT: Final = "lead.json"
_TASK: Final = "Document the account API"
_QUESTION: Final = "Tell me in a sentence how it went."
# Of what a command prints, its first line, or the fields that begin so; of any other command all of it.
_FIRST_LINE: Final = frozenset({"session spawn", "fleet coordinate-wait"})
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "task create": ("id ",),
    "session show": ("status ", "last report ", "for it ", "against it "),
    "session report": ("against it ",),
}
# Of its context, the board and what the worker itself says.
_OF_CONTEXT: Final = ("<task ", "<session ", "[")


class Chapter(NamedTuple):
    """What the log tells of the agent's coordination."""

    workers_started: int = 0
    prompts_arrived: int = 0
    reports_checked: int = 0  # “done”, held against what else is known
    reports_disputed: int = 0
    context_turns: int = 0
    context_tokens: int = 0
    report: str = ""
    seconds: float = 0.0


class Lead:
    """The agent as its transcript shows it: the commands that it runs, and what is worth showing of the answers."""

    def __init__(self, session: Mapping[str, Any]) -> None:
        config = Path(session["environment"]["CLAUDE_CONFIG_DIR"])
        self.session_id: str = session["id"]
        self._path = transcript_path(config, os.path.realpath(session["cwd"]), session["transcriptId"])
        self._read = 0
        self._commands: dict[str, str] = {}

    def said(self) -> list[Spoken]:
        """What it ran since the last look."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._read)
                written = file.read()
        except FileNotFoundError:
            return []
        whole = written[: written.rfind(b"\n") + 1]
        self._read += len(whole)
        return [line for record in whole.splitlines() for line in self._lines(json.loads(record))]

    def _lines(self, record: Mapping[str, Any]) -> list[Spoken]:
        content = record.get("message", {}).get("content", ())
        blocks = [block for block in content if isinstance(block, dict)]
        return [
            Spoken(_moment(record["timestamp"]), NAME, text)
            for block in blocks
            for text in self._texts(block)
        ]

    def _texts(self, block: Mapping[str, Any]) -> list[str]:
        if block["type"] == "tool_use" and block["name"] == "Bash":
            self._commands[block["id"]] = command = block["input"]["command"]
            return [f"$ {command}"]
        command = self._commands.pop(block.get("tool_use_id", ""), "")
        if not command:
            return []
        if block["is_error"]:
            raise MaestroError(
                f"The demo's {NAME} ran `{command}`: {block['content']}",
                hint="Run `maestro doctor`, and the demo again.",
            )
        return worth_showing(command, block["content"])


def worth_showing(command: str, output: str) -> list[str]:
    """Pure: the lines of a command's output that the audience reads."""
    verb = " ".join(shlex.split(command)[1:3])
    lines = output.splitlines()
    if verb in _FIRST_LINE:
        return lines[:1]
    if verb == "context":
        return [line.strip() for line in lines if _tells(line)]
    if verb not in _FIELDS:
        return lines
    shown: list[str] = []
    is_shown = False
    for line in lines:
        # A field's further lines are indented.
        is_shown = line.startswith(_FIELDS[verb]) or (is_shown and line.startswith(" "))
        shown += [line] if is_shown else []
    return shown


def _tells(line: str) -> bool:
    return line.strip().startswith(_OF_CONTEXT) and "[PROMPT]" not in line


def play_chapter(daemon: Daemon, person: Person, told: Audience, deadline: float) -> Chapter:
    """Until the agent has reported that all is done, and has answered the person."""
    began = time.monotonic()
    person.remark(
        "The same with an agent as the coordinator: it has the role, a task, and commands of its own."
    )
    person.run("task", "create", _TASK)
    told.look()
    person.run(
        "session", "spawn", "--role", "coordinator", "--agent", "scripted", "--model", _SCRIPT,
        "--fleet", FLEET, "--name", NAME, "--task", _TASK,
    )  # fmt: skip
    [session] = [one for one in daemon.call("GET", "/api/sessions") if one["name"] == NAME]
    lead = Lead(session)
    told.speakers.append(lead)
    events = _until_its_turn_ends(told, lead, deadline)
    person.run("session", "prompt", NAME, "--message", _QUESTION)
    events += _until_its_turn_ends(told, lead, deadline)
    return facts_of(events, lead.session_id)._replace(seconds=time.monotonic() - began)


def _until_its_turn_ends(told: Audience, lead: Lead, deadline: float) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while True:
        news = told.look()
        events += news
        of_it = [event for event in news if event["subjectId"] == lead.session_id]
        if any(event["data"].get("changes", {}).get("endedAt") for event in of_it):
            raise MaestroError(
                f"The demo's {NAME} has ended.", hint="Run `maestro doctor`, and the demo again."
            )
        if any(event["kind"] == "agent.turn_ended" for event in of_it):
            return events
        if time.monotonic() > deadline:
            raise TimedOut(
                f"The demo took too long: it still waits for its {NAME}.",
                hint="Is the machine very busy? Try again.",
            )


def facts_of(events: Sequence[Mapping[str, Any]], lead_id: str) -> Chapter:
    """Pure: what the session did as a coordinator, by the log."""
    by_it = [event for event in events if event["sessionId"] == lead_id]
    sent = {event["data"]["prompt"]["promptId"] for event in by_it if event["kind"] == "prompt.queued"}
    arrived = [event["data"]["prompt"]["promptId"] for event in events if event["kind"] == "prompt.submitted"]
    done = [
        event["data"]
        for event in events
        if event["kind"] == "session.reported" and event["data"]["report"] == "complete"
    ]
    briefed = [
        event["data"]["tokens"]
        for event in events
        if event["kind"] == "session.briefed" and event["subjectId"] == lead_id
    ]
    return Chapter(
        workers_started=sum(event["kind"] == "session.created" for event in by_it),
        prompts_arrived=len(sent.intersection(arrived)),
        reports_checked=sum(bool(data.get("evidence")) for data in done),
        reports_disputed=sum(not (data.get("evidence") or {"agrees": True})["agrees"] for data in done),
        context_turns=len(briefed),
        context_tokens=sum(briefed),
        report=next(
            (
                event["data"]["message"]
                for event in by_it
                if event["kind"] == "session.reported" and event["data"]["report"] == "complete"
            ),
            "",
        ),
    )


def _moment(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
