"""The block that an agent ends a step with. Pure and strict.

    === RESULT ===
    STATUS: SUCCESS
    PHASE: 2
    ARTIFACTS:
    - .maestro/phases/02-login/plan.md
    SUMMARY: Planned in four tasks.
    VERIFICATION: every file that the plan names was looked up
    === END ===

A text that only looks like success is none: what is missing or malformed is a fault, told in a sentence that the agent
can mend it by.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, get_args

from maestro.chains import ALWAYS, FIELDS, Field, ResultBlock, StepStatus, StepVerdict
from maestro.redact import clean, redact

BEGIN: Final = "=== RESULT ==="
END: Final = "=== END ==="

LONGEST_LINE: Final = 2_000
MOST_ARTIFACTS: Final = 500
ISSUE_ID: Final = re.compile(r"ISSUE-[A-Za-z0-9](?:[A-Za-z0-9-]{0,58}[A-Za-z0-9])?")
SPEC_ID: Final = re.compile(r"SPEC-[A-Za-z0-9](?:[A-Za-z0-9-]{0,58}[A-Za-z0-9])?")

_LINE: Final = re.compile(r"([A-Z]+):(?: +(.*))?")
_FENCE: Final = re.compile(r"(?:```|~~~)\w*")
_PHASE: Final = re.compile(r"[1-9][0-9]{0,2}")


class BlockFault(NamedTuple):
    """Why an output has no result that counts."""

    words: str


class _Refused(Exception):
    pass


def parse_result(output: str, required: Sequence[Field] = ()) -> ResultBlock | BlockFault:
    """The block at the end of an agent's output. `required`: what the command wants beside the fields of every block."""
    try:
        fields = _fields(_lines_of_block(output))
        _require(fields, required)
        return _built(fields)
    except _Refused as refused:
        return BlockFault(str(refused))


def _require(fields: dict[str, Any], required: Sequence[Field]) -> None:
    # A step that did not succeed may have nothing to tell of what it did not reach.
    unfinished = fields.get("STATUS") in ("FAILURE", "BLOCKED")
    wanted = ALWAYS if unfinished else (*ALWAYS, *required)
    missing = [name for name in FIELDS if name in wanted and name not in fields]
    if missing:
        raise _Refused(f"The result block has no {' and no '.join(missing)}.")


def _lines_of_block(output: str) -> list[str]:
    lines = [line.strip() for line in output.strip().splitlines()]
    begins = [index for index, line in enumerate(lines) if line == BEGIN]
    if not begins:
        raise _Refused(f"There is no result block: no line is “{BEGIN}”.")
    if len(begins) > 1:
        raise _Refused(f"There are {len(begins)} result blocks; there must be one, at the end.")
    body = lines[begins[0] + 1 :]
    if END not in body:
        raise _Refused(f"The result block is not closed by “{END}”.")
    rest = [line for line in body[body.index(END) + 1 :] if line]
    # A block that stands in a code fence is followed by the fence's end.
    if rest and not (len(rest) == 1 and _FENCE.fullmatch(rest[0])):
        raise _Refused("There is text after the result block; it must be the last thing.")
    return [line for line in body[: body.index(END)] if line]


def _fields(lines: Sequence[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    items: list[str] | None = None
    for line in lines:
        if len(line) > LONGEST_LINE:
            raise _Refused(f"A line of the result block has over {LONGEST_LINE} characters.")
        if items is not None and line.startswith("- "):
            items.append(line[2:].strip())
            continue
        found = _LINE.fullmatch(line)
        if found is None or found[1] not in FIELDS:
            raise _Refused(f"“{_cut(line)}” is no field of a result block; there are {', '.join(FIELDS)}.")
        name, value = found[1], (found[2] or "").strip()
        if name in fields:
            raise _Refused(f"{name} stands twice in the result block.")
        items = None
        if name == "ARTIFACTS":
            if value.casefold() not in ("", "none"):
                raise _Refused("ARTIFACTS is “none”, or followed by one line for each path: “- path”.")
            fields[name] = items = ["none"] if value else []
        elif not value:
            raise _Refused(f"{name} of the result block is empty.")
        else:
            fields[name] = value
    return fields


def _built(fields: dict[str, Any]) -> ResultBlock:
    artifacts = fields["ARTIFACTS"]
    if not artifacts:
        raise _Refused("ARTIFACTS of the result block is empty; write “ARTIFACTS: none” if there are none.")
    if [path.casefold() for path in artifacts] == ["none"]:
        artifacts = []
    if len(artifacts) > MOST_ARTIFACTS:
        raise _Refused(f"ARTIFACTS names {len(artifacts)} files; at most {MOST_ARTIFACTS} are possible.")
    given: dict[str, Any] = {
        "artifacts": tuple(dict.fromkeys(_path("ARTIFACTS", path) for path in artifacts)),
    }
    for name, value in fields.items():
        if name != "ARTIFACTS":
            given[name.lower()] = _READERS[name](name, value)
    return ResultBlock(**given)


def _words(name: str, value: str) -> str:
    return _plain(value).strip() or _refuse(name, value)


def _one_of(words: tuple[str, ...]) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in words:
            raise _Refused(f"{name} is “{_cut(value)}”; it is one of {', '.join(words)}.")
        return value

    return read


def _matching(pattern: re.Pattern[str], example: str) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if not pattern.fullmatch(value):
            raise _Refused(f"{name} is “{_cut(value)}”; it looks like {example}.")
        return value

    return read


def _phase(name: str, value: str) -> int:
    if not _PHASE.fullmatch(value):
        raise _Refused(f"{name} is “{_cut(value)}”; it is the number of a phase, 1 to 999.")
    return int(value)


def _path(name: str, value: str) -> str:
    """A path inside the project: what leads out of it, or hides, is none."""
    plain = value.strip("`").strip().removeprefix("./").rstrip("/")
    parts = plain.split("/")
    if not plain or plain.startswith(("/", "~")) or ".." in parts or not plain.isprintable():
        raise _Refused(f"{name} has “{_cut(value)}”; paths start at the project's root and stay inside it.")
    return plain


def _refuse(name: str, value: str) -> str:
    raise _Refused(f"{name} of the result block is “{_cut(value)}”.")


def _plain(text: str) -> str:
    """What may be shown and kept: no secret, no control character."""
    return "".join(letter if letter.isprintable() else " " for letter in redact(clean(text)))


def _cut(text: str) -> str:
    plain = _plain(text)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"


_READERS: Final[dict[str, Callable[[str, str], Any]]] = {
    "STATUS": _one_of(get_args(StepStatus)),
    "VERDICT": _one_of(get_args(StepVerdict)),
    "PHASE": _phase,
    "SUMMARY": _words,
    "VERIFICATION": _words,
    "ISSUE": _matching(ISSUE_ID, "ISSUE-12 or ISSUE-20260131-002"),
    "SPEC": _matching(SPEC_ID, "SPEC-login-2026"),
    "SCRATCH": _path,
}
