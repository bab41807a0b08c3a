"""One question as JSON, and the gate's word on it: what `maestro coordinate check` prints a line for. Pure."""

from __future__ import annotations

import re
from typing import Any, Final, cast, get_args

from maestro.agents.questions import Option, Question, QuestionKind
from maestro.coordinate import Policy
from maestro.coordinate.gate.judge import gate
from maestro.errors import InvalidInput

_KINDS: Final = get_args(QuestionKind)
# How people and other tools call them.
_ALSO_CALLED: Final[dict[str, QuestionKind]] = {
    "select": "choice",
    "single": "choice",
    "single_choice": "choice",
    "single_select": "choice",
    "question": "choice",
    "multi": "multi_choice",
    "multichoice": "multi_choice",
    "multi_select": "multi_choice",
    "multiselect": "multi_choice",
    "multiple": "multi_choice",
    "approval": "permission",
    "command": "permission",
    "text": "free_text",
    "free": "free_text",
    "freetext": "free_text",
    "open": "free_text",
}
_SCHEMA: Final = "A record has kind, question, options, preamble, detail, tool, proposed; see `maestro coordinate check --help`."


def check_line(record: Any, policy: Policy) -> dict[str, Any]:
    """The gate's verdict on one record. Raises InvalidInput that names the field."""
    question = as_question(record)
    verdict = gate(question, policy, _text(record, "proposed"))
    return {
        "verdict": verdict.verdict,
        "readOnly": verdict.read_only,
        "reasons": [f"{finding.where}: {finding.why} ({finding.evidence})" for finding in verdict.findings],
        "categories": list(verdict.categories),
        "labels": [f"fetch from an unknown host: {host}" for host in verdict.fetches],
    }


def as_question(record: Any) -> Question:
    """A record as the question that it describes."""
    if not isinstance(record, dict):
        raise InvalidInput("A record is not a JSON object.", hint=_SCHEMA)
    options = _options(record)
    kind = _kind(record, "choice" if options else "free_text")
    parts = record.get("parts", [])
    if not isinstance(parts, list):
        raise InvalidInput("`parts` is not a list.", hint=_SCHEMA)
    return Question(
        kind,
        _text(record, "question"),
        options,
        header=_text(record, "header"),
        preamble=_text(record, "preamble"),
        tool=_text(record, "tool"),
        detail=_text(record, "detail") or _text(record, "command"),
        parts=tuple(as_question(part) for part in parts),
        inputs=_text(record, "inputs"),
        unread=_text(record, "unread"),
    )


def _kind(record: dict[str, Any], otherwise: QuestionKind) -> QuestionKind:
    called = _text(record, "kind")
    kind = re.sub(r"[-\s]+", "_", called.strip().lower()) or otherwise
    kind = _ALSO_CALLED.get(kind, kind)
    if kind not in _KINDS:
        raise InvalidInput(f"`kind` is {called!r}, which is none.", hint=f"One of {', '.join(_KINDS)}.")
    return cast("QuestionKind", kind)


def _text(record: dict[str, Any], field: str) -> str:
    value = record.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"`{field}` is not text.", hint=_SCHEMA)
    return value


def _options(record: dict[str, Any]) -> tuple[Option, ...]:
    options = record.get("options")
    if options is None:
        return ()
    if not isinstance(options, list):
        raise InvalidInput("`options` is not a list.", hint=_SCHEMA)
    return tuple(_option(option, number) for number, option in enumerate(options, 1))


def _option(option: Any, number: int) -> Option:
    if isinstance(option, str):
        return Option(option, number=number)
    if not isinstance(option, dict) or not isinstance(option.get("label"), str):
        raise InvalidInput(
            f"`options`, number {number}, is neither text nor an object with a `label`.", hint=_SCHEMA
        )
    return Option(
        option["label"],
        _text(option, "description"),
        number,
        is_free_text=_flag(option, "isFreeText"),
        is_lasting=_flag(option, "isLasting"),
        preview=_text(option, "preview"),
    )


def _flag(option: dict[str, Any], field: str) -> bool:
    value = option.get(field, False)
    if not isinstance(value, bool):
        raise InvalidInput(f"`{field}` of an option is neither true nor false.", hint=_SCHEMA)
    return value
