"""The seven kinds of entries of COORDINATE_LOG.md, as text. Pure.

What a worker says is one escaped line: it can neither begin a heading nor end an entry. Every entry ends with a comment
on a line of its own, by which the log knows which entries are whole and which decision was the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from maestro.coordinate import Policy
from maestro.redact import clean, fold, redact

AUTONOMOUS: Final = "## Autonomous Decision"
ESCALATION: Final = "## Escalation to Human"
RESOLUTION: Final = "## Human Resolution"
PROBE: Final = "## Pre-Escalation Probe"
HEARTBEAT: Final = "## Idle Heartbeat"
CHAPTER_COMPLETE: Final = "## Chapter Complete"
CHAPTER_STARTED: Final = "## Chapter Started"
HEADINGS: Final = (
    AUTONOMOUS,
    ESCALATION,
    RESOLUTION,
    PROBE,
    HEARTBEAT,
    CHAPTER_COMPLETE,
    CHAPTER_STARTED,
)

Fields = list[tuple[str, str]]

_MOST: Final = 600  # characters of one text
_MOST_LISTED: Final = 20
_MOST_OF_LISTED: Final = 200
_MARKUP: Final = re.compile(r"[\\`*\[\]#~|]|(?<![^\W_])_|_(?![^\W_])")


def entry(
    decision: Mapping[str, Any],
    question: Mapping[str, Any] | None,
    session_name: str,
    policy: Policy,
    *,
    response: str = "",
    outcome: str = "",
) -> str | None:
    """A decision as the log tells it, all as on the wire; None where the policy does not want it there.

    `response` and `outcome`, of a probe: what the worker answered and what came of it, where that is known by now.
    """
    heading = _heading(decision)
    if heading is None or not _is_wanted(decision, heading, policy):
        return None
    worker = f"{plain(session_name)} ({decision['sessionId']})"
    asked = asked_words(question) or "none; " + (_joined(decision["reasons"]) or "the worker does not get on")
    fields = {
        AUTONOMOUS: lambda: _autonomous(decision, asked),
        ESCALATION: lambda: _escalation(decision, asked, question),
        PROBE: lambda: _probe(decision, asked, response, outcome),
        RESOLUTION: lambda: _resolution(decision, asked),
    }[heading]()
    return _text(heading, [("Time", moment(decision["at"])), ("Worker", worker), *fields], decision["id"])


def _autonomous(decision: Mapping[str, Any], asked: str) -> Fields:
    return [
        ("Question", asked),
        ("Answer chosen", _answer(decision)),
        ("Confidence", f"{decision['confidence']:.2f} ({plain(decision['by'])})"),
        ("Reasoning", _joined(decision["reasons"]) or "none given"),
    ]


def _escalation(decision: Mapping[str, Any], asked: str, question: Mapping[str, Any] | None) -> Fields:
    return [
        ("Question", asked),
        ("Reason", _why_escalated(decision)),
        ("Options", _options(question) or "none"),
    ]


def _probe(decision: Mapping[str, Any], asked: str, response: str, outcome: str) -> Fields:
    return [
        ("Original question", asked),
        ("Probe", plain(decision["text"])),
        ("Response", plain(response) or "awaited"),
        ("Outcome", plain(outcome) or ("not sent (shadow)" if decision["shadow"] else "asked")),
    ]


def _resolution(decision: Mapping[str, Any], asked: str) -> Fields:
    return [
        ("Question", asked),
        ("Human's answer", plain(decision["text"]) or _joined([decision["action"], *decision["reasons"]])),
        ("Relayed", f"yes ({decision['promptId']})" if decision["promptId"] else "no"),
    ]


def heartbeat(at: int, statuses: Mapping[str, int]) -> str:
    """While nothing happens. `statuses`: how many workers are in each; `total` of them, where they overlap."""
    told = [f"{count} {plain(status)}" for status, count in statuses.items() if count and status != "total"]
    count = statuses.get("total", sum(statuses.values()))
    return _text(
        HEARTBEAT,
        [
            ("Worker count", str(count)),
            ("Statuses", ", ".join(told) or "none"),
            ("Timestamp", moment(at)),
        ],
        "heartbeat",
    )


def chapter_started(at: int, number: int, vision: str, items: int) -> str:
    return _text(
        CHAPTER_STARTED,
        [
            ("Time", moment(at)),
            ("Chapter number", str(number)),
            ("Vision path", plain(vision)),
            ("Work item count", str(items)),
        ],
        "chapter",
    )


def chapter_complete(at: int, number: int, completed: Iterable[str]) -> str:
    items = [plain(item, _MOST_OF_LISTED) for item in completed]
    shown = _some(items)
    return _text(
        CHAPTER_COMPLETE,
        [
            ("Chapter number", str(number)),
            ("Work items completed", f"{len(items)}: {shown}" if shown else "0"),
            ("Time", moment(at)),
        ],
        "chapter",
    )


def plain(text: str, most: int = _MOST) -> str:
    """A text of anybody's on one line, without secrets, as Markdown that shows exactly its words."""
    whole = fold(redact(clean(str(text))))
    cut = whole if len(whole) <= most else whole[: most - 1] + "…"
    escaped = _MARKUP.sub(r"\\\g<0>", cut)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def asked_words(question: Mapping[str, Any] | None) -> str:
    """The question, and of a permission what it is for."""
    if question is None:
        return ""
    asked = question.get("asked") or {}
    said = " ".join(word for word in (question["text"], asked.get("detail", "")) if word)
    return plain(said)


def _heading(decision: Mapping[str, Any]) -> str | None:
    """Receipts, and questions that ended without the human, are in the ledger only."""
    match decision["kind"], decision["action"]:
        case "verdict" | "attention", "escalate":
            return ESCALATION
        case "verdict", "probe":
            return PROBE
        case "verdict" | "attention", _:
            return AUTONOMOUS
        case "resolution", _ if decision["by"] == "human":
            return RESOLUTION
    return None


def _is_wanted(decision: Mapping[str, Any], heading: str, policy: Policy) -> bool:
    forced = {name.casefold() for name in policy.always_log}
    if forced & {name.casefold() for name in decision["categories"]}:
        return True
    switches = policy.logging
    if decision["action"] == "ignore":
        return switches.log_routine_skips
    if heading == AUTONOMOUS:
        return switches.log_autonomous_decisions
    return switches.log_probes if heading == PROBE else switches.log_escalations


def _answer(decision: Mapping[str, Any]) -> str:
    if decision["action"] == "ignore":
        return "none (skipped)"
    said = plain(decision["text"]) or plain(decision["action"])
    return f"{said} (shadow: not typed)" if decision["shadow"] else said


def _why_escalated(decision: Mapping[str, Any]) -> str:
    parts = []
    if decision["categories"]:
        parts.append("category: " + ", ".join(map(plain, decision["categories"])))
    if decision["confidence"]:
        parts.append(f"confidence: {decision['confidence']:.2f} ({plain(decision['by'])})")
    parts.append(_joined(decision["reasons"]))
    return "; ".join(part for part in parts if part) or plain(decision["by"])


def _options(question: Mapping[str, Any] | None) -> str:
    options = ((question or {}).get("asked") or {}).get("options") or ()
    return _some(
        [
            f"{place}) {plain(option['label'], _MOST_OF_LISTED)}"
            + (" (lasts)" if option.get("isLasting") else "")
            for place, option in enumerate(options, 1)
        ]
    )


def _some(texts: list[str]) -> str:
    more = [f"and {len(texts) - _MOST_LISTED} more"] if len(texts) > _MOST_LISTED else []
    return "; ".join([*texts[:_MOST_LISTED], *more])


def _joined(reasons: Iterable[str]) -> str:
    return plain(" ".join(reasons))


def _text(heading: str, fields: Iterable[tuple[str, str]], end: str) -> str:
    lines = [f"- **{name}**: {value}" for name, value in fields]
    return "\n".join([heading, "", *lines, "", f"<!-- {end} -->", ""])
