"""`maestro coordinate why|stats|audit|init|check|replay`: what was decided and why, and what a policy would do."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import inbox, render
from maestro.cli.coordinate_init import describe_init, init
from maestro.cli.coordinate_trial import check, describe_check, describe_replay, replay, share, spent_words
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from collections.abc import Mapping
    from typing import Any

    Decision = Mapping[str, Any]


def describe_views(verbs: _SubParsersAction[Parser]) -> None:
    why = add_verb(verbs, "why", _why, "the story of a decision: what was asked, decided, typed and answered")
    why.add_argument("what", metavar="ID", help="a decision, question, escalation, prompt or session")
    stats = add_verb(verbs, "stats", _stats, "how much goes on without you, and whether you agree")
    stats.add_argument("--since", metavar="H", type=float, help="of the last H hours; default: all")
    add_verb(verbs, "audit", _audit, "whether the chain of decisions is whole")
    describe_init(add_verb(verbs, "init", init, "write a coordinate.config.json to start from"))
    describe_check(
        add_verb(verbs, "check", check, "what a policy's gate says to questions; no model, no daemon")
    )
    describe_replay(
        add_verb(verbs, "replay", replay, "decide past questions anew, and compare; types nothing")
    )


# why


def _why(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    told = daemon.call("GET", f"/api/decisions/{path_part(arguments.what)}/why")
    decision = told["decision"]
    told["story"] = _story(daemon, decision, told["following"])
    told["session"] = daemon.call("GET", f"/api/sessions/{path_part(decision['sessionId'])}")
    told["findings"] = []
    if told["escalation"]:
        path = f"/api/inbox/{path_part(told['escalation']['id'])}"
        told["findings"] = daemon.call("GET", path)["findings"]
    if wants_json(arguments):
        render.print_json(told)
        return
    for line in why_lines(told):
        print(line)


def _story(daemon: Daemon, decision: Decision, following: list[Decision]) -> list[Decision]:
    """Everything that was decided about the same question, oldest first; else the decision and what came of it."""
    if decision["questionId"] is None:
        return [decision, *following]
    query: dict[str, str | int | None] = {"questionId": decision["questionId"]}
    found: list[Decision] = daemon.call("GET", "/api/decisions", query=query)
    return found or [decision, *following]


def why_lines(told: Mapping[str, Any]) -> list[str]:
    decision, session = told["decision"], told["session"]
    head = f"{decision['id']}  {render.printable(session['name'])} ({session['id']})"
    lines = [render.ansi(head, "bold")]
    if told["question"]:
        asked = told["question"]["asked"]
        if asked.get("preamble"):
            lines += ["", *inbox.text_lines(asked["preamble"], "dim")]
        lines += ["", *inbox.question_lines(asked)]
    lines.append("")
    for one in told["story"]:
        lines += _step(one, is_meant=one["id"] == decision["id"])
    lines += [line for finding in told["findings"] for line in inbox.finding_lines(finding)]
    if told["prompt"]:
        prompt = told["prompt"]
        proof = "; ".join(prompt["evidence"]) or prompt["reason"]
        lines += render.wrapped("typed         ", render.printable(f"{prompt['state']}: {proof}"), None)
    if told["escalation"]:
        lines += render.wrapped("inbox         ", _inbox_words(told["escalation"]), None)
    style = None if told["chain"] == "whole" else "red"
    return [*lines, *render.wrapped("chain         ", render.printable(told["chain"]), style)]


def _step(one: Decision, *, is_meant: bool) -> list[str]:
    """`[14:32:05] verdict: escalate by policy, confidence 0.40, git operations`, then the words, then the reasons."""
    parts = [f"{one['action']} by {one['by']}"]
    if one["confidence"] and one["kind"] != "resolution":
        parts.append(f"confidence {one['confidence']:.2f}")
    if one["categories"]:
        parts.append(", ".join(one["categories"]))
    if one["shadow"]:
        parts.append("in shadow: not carried out")
    head = f"[{render.clock(one['at'])}] {one['kind']}: "
    lines = render.wrapped(head, render.printable("; ".join(parts)), "bold" if is_meant else None)
    if one["text"]:
        label = "would answer" if one["action"] == "escalate" else "text"
        lines += render.wrapped(f"             {label} ", render.quoted(" ".join(one["text"].split())), None)
    for reason in one["reasons"]:
        lines += render.wrapped("             ", render.printable(reason), "dim")
    spent = one["spent"] or {}
    if spent.get("calls"):
        words = spent_words(spent["calls"], spent.get("tokens", 0), spent.get("costUsd", 0.0))
        lines.append(render.ansi(f"             {words}", "dim"))
    return lines


def _inbox_words(escalation: Mapping[str, Any]) -> str:
    if escalation["closedAt"] is None:
        return f"{escalation['id']} waits for you: maestro answer {render.short(escalation['id'])}"
    return render.printable(f"{escalation['id']} is over: {escalation['closedBy']}")


# stats


def _stats(arguments: Namespace) -> None:
    query: dict[str, str | int | None] = {}
    if arguments.since is not None:
        query["sinceHours"] = str(arguments.since)
    told = Daemon(os.environ).call("GET", "/api/decisions/stats", query=query)
    if wants_json(arguments):
        render.print_json(told)
        return
    for line in stats_lines(told):
        print(line)


def stats_lines(told: Mapping[str, Any]) -> list[str]:
    if not told["decided"] and not told["humanAnswers"] and not told["shadow"] and not told["helped"]:
        return ["Nothing was decided yet. `maestro coordinate` watches over a fleet."]
    agreement, spent = told["agreement"], told["spent"]
    rows = [
        ("decided", str(told["decided"])),
        ("without you", share(told["answered"], told["decided"])),
        ("escalated", share(told["escalated"], told["decided"])),
        ("probed", str(told["probed"])),
        ("in shadow", str(told["shadow"])),
        ("helped", str(told["helped"])),
        ("your answers", str(told["humanAnswers"])),
        ("you agree", share(agreement["agreed"], agreement["compared"])),
        ("uncertain", str(told["uncertainReceipts"])),
        ("not typed", str(told["failedReceipts"])),
        ("time to answer", f"engine {_waiting(told['engineWaiting'])}; you {_waiting(told['humanWaiting'])}"),
        ("spent", spent_words(spent["calls"], spent["tokens"], spent["costUsd"])),
    ]
    lines = [f"{name:<15} {words}" for name, words in rows]
    for title, tallies in (("by whom", told["byDecider"]), ("by category", told["byCategory"])):
        if tallies:
            lines.append(f"{title}:")
            lines += [f"  {render.printable(name)}: {_tally(tally)}" for name, tally in tallies.items()]
    return lines


def _tally(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in tally.items() if count)


def _waiting(times: Mapping[str, Any]) -> str:
    if not times["count"]:
        return "none"
    return f"{_seconds(times['median'])} (9 of 10 within {_seconds(times['p90'])})"


def _seconds(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"


# audit


def _audit(arguments: Namespace) -> int:
    told = Daemon(os.environ).call("GET", "/api/decisions/audit", timeout=300.0)
    broken = told["brokenAt"]
    if wants_json(arguments):
        render.print_json(told)
        return errors.LedgerError.exit_code if broken else 0
    if broken:
        raise errors.LedgerError(
            f"The chain of {told['links']} decisions is broken at {broken}: it, or what stood before it, was changed.",
            hint=f"`maestro coordinate why {broken}` shows it; a backup of the ledger shows what it was.",
        )
    print(f"The chain is whole: {told['links']} decisions, none changed or taken out.")
    return 0
