"""What is wrong with a policy's JSON, each fault with its place. Pure.

Every fault is told at once. What a field may hold is read from the facts themselves; the tables here add what a type
cannot say: the range of a number, the form of a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, NamedTuple, get_args

from msgspec import inspect

from maestro.agents.json_text import Child, Node, find
from maestro.agents.questions import QuestionKind
from maestro.coordinate import (
    AnswerRule,
    BrainSettings,
    CategoryRule,
    NotifySettings,
    Policy,
    PrecedentSettings,
    PreEscalation,
    StuckSettings,
    Timeouts,
)
from maestro.redact import clean, fold, redact

SCHEMA_KEY: Final = "$schema"  # for editors: where the schema of the file is
_LONGEST_SHOWN: Final = 40
_LONGEST_PATH: Final = 120
_A_WEEK: Final = 7 * 86_400
_FROM_ZERO: Final = (0, 10**15)

Slot = tuple[type, str]  # a field: the facts it belongs to, and its name in the file

RANGES: Final[dict[Slot, tuple[int, int]]] = {
    (Policy, "confidenceThreshold"): (0, 1),
    (Timeouts, "waitTimeout"): (1, _A_WEEK),
    (Timeouts, "consecutiveTimeoutLimit"): (1, 1_000_000),
    (Timeouts, "idleHeartbeatInterval"): (1, 1_000_000),
    (BrainSettings, "timeout"): (1, 3_600),
    (BrainSettings, "callsPerHour"): (0, 1_000_000),
    (BrainSettings, "maxTokens"): (1, 1_000_000),
    (PrecedentSettings, "expireDays"): (1, 36_500),
    (PrecedentSettings, "offerRuleAfter"): (1, 1_000_000),
    (StuckSettings, "interveneAfter"): (1, _A_WEEK),
}


class Fault(NamedTuple):
    place: int  # in the text
    words: str


def faults_of(root: Node) -> list[Fault]:
    """In the order of the text; empty where the policy can be used."""
    return sorted([*_of_object(root, _described(), ""), *_repeated_names(root)])


@cache
def _described() -> inspect.StructType:
    kind = inspect.type_info(Policy)
    assert isinstance(kind, inspect.StructType)
    return kind


def _of_object(node: Node, kind: inspect.StructType, path: str) -> Iterator[Fault]:
    if node.kind != "object":
        yield _wrong(node, path or "a policy", "an object in { }")
        return
    fields = {field.encode_name: field for field in kind.fields}
    seen: set[str] = set()
    for child in node.children:
        where = f"{path}.{child.key}" if path else child.key
        if child.key in seen:
            yield Fault(child.start, f"{_named(where)} is there twice. Remove one.")
        elif child.key in fields:
            yield from _of_value(child.node, fields[child.key].type, where, (kind.cls, child.key))
        elif where == SCHEMA_KEY:
            yield from _of_text(child.node, where, (kind.cls, child.key))
        else:
            near = _did_you_mean(child.key, list(fields)) or f" There are: {', '.join(fields)}."
            yield Fault(child.start, f"{_named(where)} is no field of a policy.{near}")
        seen.add(child.key)
    for name, field in fields.items():
        if field.required and name not in seen:
            yield Fault(node.start, f"{_named(path)} has no `{name}`. Add one.")


def _of_value(node: Node, kind: inspect.Type, path: str, slot: Slot) -> Iterator[Fault]:
    match kind:
        case inspect.StructType():
            yield from _of_object(node, kind, path)
        case inspect.VarTupleType():
            yield from _of_list(node, kind.item_type, path, slot)
        case inspect.LiteralType():
            yield from _of_word(node, [str(value) for value in kind.values], path)
        case inspect.BoolType():
            if not isinstance(node.value, bool):
                yield _wrong(node, path, "true or false")
        case inspect.IntType() | inspect.FloatType():
            yield from _of_number(node, path, slot, whole=isinstance(kind, inspect.IntType))
        case _:
            yield from _of_text(node, path, slot)


def _of_list(node: Node, kind: inspect.Type, path: str, slot: Slot) -> Iterator[Fault]:
    if node.kind != "array":
        yield _wrong(node, path, "a list in [ ]")
        return
    for index, child in enumerate(node.children):
        yield from _of_value(child.node, kind, f"{path}[{index}]", slot)


def _of_word(node: Node, words: Sequence[str], path: str) -> Iterator[Fault]:
    if not isinstance(node.value, str):
        yield _wrong(node, path, f"one of {', '.join(words)}")
    elif node.value not in words:
        near = _did_you_mean(node.value, words)
        yield Fault(
            node.start, f"{_named(path)} is one of {', '.join(words)}, not {_shown(node.value)}.{near}"
        )


def _of_number(node: Node, path: str, slot: Slot, *, whole: bool) -> Iterator[Fault]:
    least, most = RANGES.get(slot, _FROM_ZERO)
    span = f"from {least} on" if most == _FROM_ZERO[1] else f"from {least} to {most}"
    value = node.value
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        yield _wrong(node, path, f"a {'whole ' if whole else ''}number {span}")


def _of_text(node: Node, path: str, slot: Slot) -> Iterator[Fault]:
    if not isinstance(node.value, str):
        yield _wrong(node, path, "text in quotation marks")
        return
    try:
        node.value.encode()
    except UnicodeEncodeError:
        yield Fault(node.start, f"{_named(path)} holds half of a character: a \\ud… without its other half.")
        return
    check = _TEXTS.get(slot)
    words = check(node.value) if check else ""
    if words:
        yield Fault(node.start, f"{_named(path)} {words}")


def _repeated_names(root: Node) -> Iterator[Fault]:
    """Two categories of one name would be one in every report."""
    listed = find(root, "categories")
    children = listed.node.children if listed else ()
    named = [(child, name) for child in children if (name := _name_in(child))]
    counts = Counter(name for _, name in named)
    for child, name in named:
        counts[name] -= 1
        if counts[name]:
            yield Fault(child.start, f"`categories` has two of the name {_shown(name)}. Rename one.")


def _name_in(child: Child) -> str:
    found = find(child.node, "name")
    return found.node.value if found and isinstance(found.node.value, str) else ""


def _said(text: str) -> str:
    return "" if text.strip() else "is empty. Say something, or leave it out."


def _expression(text: str) -> str:
    if not text.strip():
        return "is empty, and would match everything. Write a regular expression."
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {_in_a_line(str(error), _LONGEST_PATH)}."
    return ""


def _kind(text: str) -> str:
    kinds: tuple[str, ...] = get_args(QuestionKind)
    if text in kinds:
        return ""
    return f"is one of {', '.join(kinds)}, not {_shown(text)}.{_did_you_mean(text, kinds)}"


def _digest(text: str) -> str:
    good = not text or re.fullmatch(r"[0-9a-f]{64}", text)
    return "" if good else f"is a SHA-256 as `maestro coordinate init` writes it, not {_shown(text)}."


def _file_name(text: str) -> str:
    good = not text or (len(text) <= _LONGEST_PATH and clean(text) == text and not text.startswith("/"))
    return "" if good else f"is a file of the project, by its path below it, not {_shown(text)}."


def _address(text: str) -> str:
    good = not text or re.fullmatch(r"https?://[^\s/?#]+\S*", text)
    return "" if good else f"is an address that begins with http:// or https://, not {_shown(text)}."


def _variable(text: str) -> str:
    """A key that was put here by mistake is not repeated in the message."""
    good = not text or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text)
    return "" if good else "is the name of an environment variable that holds the key, never the key itself."


_TEXTS: Final[dict[Slot, Callable[[str], str]]] = {
    (Policy, "alwaysEscalate"): _said,
    (Policy, "alwaysLog"): _said,
    (Policy, "principles"): _said,
    (PreEscalation, "probeMessage"): _said,
    (StuckSettings, "helpMessage"): _said,
    (StuckSettings, "resumeMessage"): _said,
    (CategoryRule, "name"): _said,
    (CategoryRule, "commands"): _said,
    (CategoryRule, "patterns"): _expression,
    (AnswerRule, "pattern"): _expression,
    (AnswerRule, "answer"): _said,
    (AnswerRule, "kinds"): _kind,
    (AnswerRule, "source"): _file_name,
    (AnswerRule, "digest"): _digest,
    (BrainSettings, "baseUrl"): _address,
    (BrainSettings, "apiKeyEnv"): _variable,
    (NotifySettings, "webhook"): _address,
    (NotifySettings, "command"): _said,
}


def _wrong(node: Node, path: str, wanted: str) -> Fault:
    given = {"object": "an object", "array": "a list"}.get(node.kind) or _shown(node.value)
    return Fault(node.start, f"{_named(path)} is {wanted}, not {given}.")


def _named(path: str) -> str:
    return f"`{_in_a_line(path, _LONGEST_PATH)}`" if path != "a policy" else path


def _in_a_line(text: str, longest: int) -> str:
    words = fold(redact(clean(text)))
    return words if len(words) <= longest else words[: longest - 1] + "…"


def _shown(value: Any) -> str:
    """A value as its author would recognise it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"“{_in_a_line(str(value), _LONGEST_SHOWN)}”"


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(word.casefold(), folded, n=1, cutoff=0.7)
    return f" Did you mean “{folded[near[0]]}”?" if near else ""
