"""The debrief: what became of an oversight, in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maestro.coordinate.log_entries import moment, plain

_SHOWN = 100


def debrief(
    *,
    began: int,
    ended: int,
    why: str,
    sessions: Sequence[Mapping[str, Any]],
    tasks: Sequence[Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]],
    open_escalations: Sequence[Mapping[str, Any]],
    stats: Mapping[str, Any],
    usage: Sequence[Mapping[str, Any]] = (),
    tags: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Everything as on the wire. Worker text cannot forge a heading."""
    names = {one["id"]: one["name"] for one in sessions}
    parts = [
        "# Debrief\n",
        f"{moment(began)} to {moment(ended)}: {why}.\n",
        "## What was done\n",
        *_lines(
            (f"- {plain(task['title'])}: {task['status']}{_report(task)}" for task in tasks), "No tasks."
        ),
        "\n## Workers\n",
        *_lines(
            (f"- {plain(one['name'])} ({one['agent']}): {_became(one)}" for one in sessions), "No workers."
        ),
        "\n## Decisions\n",
        *_lines((_decision(one, names) for one in decisions if _counts(one)), "None."),
        "\n## Waiting for you\n",
        *_lines(
            (
                f"- {plain(names.get(one['sessionId'], ''))}: {plain(one['text'])} (`maestro answer {one['id']}`)"
                for one in open_escalations
            ),
            "Nothing.",
        ),
        "\n## Open tags\n",
        *_lines(
            (
                f"- #{tag['state']}-{tag['kind']} {plain(tag['text'])} ({plain(tag['file'])}:{tag['line']})"
                for tag in tags
            ),
            "None.",
        ),
        "\n## In numbers\n",
        *_numbers(stats),
        *_usage(usage),
    ]
    return "\n".join(parts) + "\n"


def _numbers(stats: Mapping[str, Any]) -> list[str]:
    rate = stats["autonomyRate"]
    agreed = stats["agreement"]
    spent = stats["spent"]
    lines = [
        f"- Decided: {stats['decided']}; answered without you: {stats['answered']}"
        + (f" ({rate:.0%})" if rate is not None else ""),
        f"- Escalated: {stats['escalated']}; probed: {stats['probed']}; workers helped: {stats['helped']}",
        f"- You answered: {stats['humanAnswers']}",
    ]
    if agreed["compared"]:
        lines.append(f"- You agreed with what was proposed {agreed['agreed']} of {agreed['compared']} times")
    if spent["calls"]:
        lines.append(
            f"- The brain was asked {spent['calls']} times: {spent['tokens']:,} tokens, ${spent['costUsd']:.2f}"
        )
    if stats["uncertainReceipts"]:
        lines.append(f"- Typed without proof that it arrived: {stats['uncertainReceipts']}")
    return lines


def _became(session: Mapping[str, Any]) -> str:
    """One that has done its work may still sit in its pane."""
    report = session.get("report") or {}
    return {"complete": "completed", "error": "error"}.get(str(report.get("kind")), str(session["status"]))


def _usage(usage: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the workers used, as their transcripts tell."""
    models = [model for one in usage for model in one["models"]]
    tokens = sum(model["input"] + model["output"] + model["cacheWrite"] for model in models)
    cost = sum(one["costUsd"] for one in usage)
    unpriced = sorted({name for one in usage for name in one["unpriced"]})
    if not tokens:
        return []
    without = f"; without {plain(', '.join(unpriced))}, whose prices are not known" if unpriced else ""
    return [f"- The workers used {tokens:,} tokens: ${cost:.2f}{without}"]


def _counts(decision: Mapping[str, Any]) -> bool:
    return decision["kind"] != "receipt" and not decision["shadow"]


def _decision(decision: Mapping[str, Any], names: Mapping[str, str]) -> str:
    said = f": {plain(decision['text'], 200)}" if decision["text"] else ""
    why = f" ({plain(' '.join(decision['reasons']), 200)})" if decision["reasons"] else ""
    name = plain(names.get(decision["sessionId"], ""))
    return f"- {moment(decision['at'])} {name}: {decision['action']} by {decision['by']}{said}{why}"


def _report(task: Mapping[str, Any]) -> str:
    return f". {plain(task['lastReport'], 300)}" if task.get("lastReport") else ""


def _lines(lines: Iterable[str], empty: str) -> list[str]:
    found = list(lines)
    left = len(found) - _SHOWN
    return [*found[-_SHOWN:], *([f"- and {left} before these"] if left > 0 else [])] or [empty]
