"""What a person does in the live view, as requests, and what became of each: receipts, as they come."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from maestro.cli.project import path_part
from maestro.coordinate.overview import Row
from maestro.errors import MaestroError
from maestro.redact import clean, fold
from maestro.server.client import Daemon

Tone = Literal["going", "good", "bad"]

_FOLLOWED_SECONDS: Final = 120.0  # a prompt that still waits then is left to `session prompts`
_LOOK_SECONDS: Final = 2  # why it waits is told by no event
_SETTLED: Final = frozenset({"submitted", "uncertain", "failed", "withdrawn"})


class Receipt(NamedTuple):
    text: str
    tone: Tone


NOTHING: Final = Receipt("", "going")


class Target(NamedTuple):
    """Whom it is for, and exactly what was on the screen when the person decided."""

    session_id: str
    name: str
    question_id: str | None = None
    version: int | None = None
    escalation_id: str | None = None


def target_of(row: Row) -> Target:
    question, escalation = row.question, row.escalation
    return Target(
        row.session_id,
        fold(row.name),
        question.id if question is not None else None,
        question.version if question is not None else None,
        escalation.id if escalation is not None else None,
    )


def answer(daemon: Daemon, target: Target, message: str) -> Iterator[Receipt]:
    """To the escalation, where there is one; else to the question itself, if it is still that one."""
    if target.escalation_id is None:
        yield from prompt(daemon, target, message)
        return
    yield Receipt(f"{target.name}: answering …", "going")
    path = f"/api/inbox/{path_part(target.escalation_id)}/answer"
    told = daemon.call("POST", path, {"message": message, "wait": True}, timeout=60.0)
    for receipt in _follow(daemon, target, told["prompt"]):
        yield receipt._replace(text=receipt.text + _offer(told["offer"]))


def prompt(daemon: Daemon, target: Target, message: str) -> Iterator[Receipt]:
    """Text into its terminal; while it asks something, only as the answer to what the person saw."""
    body: dict[str, Any] = {"message": message, "wait": False}
    if target.question_id is not None:
        body |= {"questionId": target.question_id, "version": target.version}
    sent = daemon.call("POST", f"/api/sessions/{path_part(target.session_id)}/prompt", body)
    yield from _follow(daemon, target, sent)


def dismiss(daemon: Daemon, target: Target, reason: str) -> Iterator[Receipt]:
    daemon.call("POST", f"/api/inbox/{path_part(target.escalation_id or '')}/dismiss", {"reason": reason})
    yield Receipt(f"{target.name}: dismissed", "good")


def _offer(rule: dict[str, Any] | None) -> str:
    if rule is None:
        return ""
    words = fold(clean(f"{rule['pattern']} → {rule['answer']}"))
    return f"  The same answer {rule['times']} times: a rule could give it ({words})."


def complaint(error: MaestroError) -> Receipt:
    return Receipt(fold(clean(f"{error.message} {error.hint}")), "bad")


def absence(error: MaestroError) -> Receipt:
    """The daemon does not answer; what the view shows is old."""
    return Receipt(fold(clean(f"{error.message} What you see is old; r starts it.")), "bad")


def receipt_of(name: str, told: dict[str, Any], passed: tuple[str, ...]) -> Receipt:
    """One line: the steps so far, and what proves or holds the last."""
    state = str(told["state"])
    steps = " → ".join(dict.fromkeys((*passed, state)))
    why = "; ".join(told["evidence"]) if state == "submitted" else told["reason"]
    words = fold(clean(f"{name}: {steps}{f' · {why}' if why else ''}"))
    if state == "uncertain":
        words += "  It is never typed again by itself: look at its pane."
    tone: Tone = "good" if state == "submitted" else "bad" if state in _SETTLED else "going"
    return Receipt(words, tone)


def _follow(daemon: Daemon, target: Target, sent: dict[str, Any]) -> Iterator[Receipt]:
    """Each step of it, until it is settled. A daemon that is gone meanwhile is not started for that."""
    passed: tuple[str, ...] = ("queued",)
    deadline = time.monotonic() + _FOLLOWED_SECONDS
    cursor = str(daemon.call("GET", "/api/events", query={"since": "now"}, start=False)["cursor"])
    session = path_part(sent["sessionId"])
    while True:
        found = daemon.call("GET", f"/api/sessions/{session}/prompts", start=False)
        told = next((one for one in found if one["id"] == sent["id"]), sent)
        yield receipt_of(target.name, told, passed)
        passed = (*passed, str(told["state"]))
        if told["state"] in _SETTLED:
            return
        if time.monotonic() > deadline:
            yield Receipt(f"{target.name}: still {told['state']}; `maestro session prompts` shows it", "bad")
            return
        query = {"since": cursor, "subjects": sent["sessionId"], "wait": _LOOK_SECONDS}
        cursor = str(daemon.call("GET", "/api/events", query=query, start=False)["cursor"])
