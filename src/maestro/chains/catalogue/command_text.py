"""A command's Markdown: its facts as TOML between two lines of +++, then its prompt. Pure.

    +++
    purpose = "Plan a phase, so that another agent can carry it out."
    seed_name = "maestro-plan"
    artifacts = ["{work}/plan.md"]
    auto_flag = "--auto"
    result = ["PHASE"]
    formats = ["plan.md"]
    +++
    You plan; …

The file's name is the command's. Faults name the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from maestro.agents.headless import RunMode
from maestro.chains import ALWAYS, ARGUMENTS, PLACEHOLDERS, Command, Field, Placeholder, Workplace
from maestro.chains.catalogue.toml_lines import line_of_key
from maestro.chains.template import placeholders_in
from maestro.errors import InvalidInput

NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_MARK: Final = "+++"
_LONGEST_NAME: Final = 60


class _Front(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    purpose: str
    seed_name: str = ""
    tool: str = ""
    mode: RunMode = "write"
    inputs: tuple[Placeholder, ...] = ()
    args: str = '"{description}"'
    work: Workplace = "either"
    artifacts: tuple[str, ...] = ()
    may_keep: tuple[str, ...] = ()
    auto_flag: str = ""
    result: tuple[Field, ...] = ()
    formats: tuple[str, ...] = ()


def parse_command(name: str, text: str, place: str, formats: Sequence[str]) -> Command:
    """`place` is the file, for faults; `formats` are the sections that there are."""
    where = place if place != "built in" else f"commands/{name}.md"
    if not NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise InvalidInput(
            f"{where}: “{name}” cannot be a command's name.",
            hint="Use small letters, digits and single dashes.",
        )
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].strip() != _MARK:
        raise InvalidInput(
            f"{where}:1: the first line is not {_MARK}.", hint="A command begins with its facts in TOML."
        )
    ends = [index for index, line in enumerate(lines) if index and line.strip() == _MARK]
    if not ends:
        raise InvalidInput(f"{where}:1: the facts are not closed by a line {_MARK}.")
    # With an empty first line in place of the mark, lines of the facts are lines of the file.
    facts, body = "\n".join(["", *lines[1 : ends[0]]]), "\n".join(lines[ends[0] + 1 :])
    front = _front(facts, where)
    if not body.strip():
        raise InvalidInput(f"{where}:{ends[0] + 1}: there is no prompt.")
    command = Command(name=name, prompt=body.strip(), place=place, **msgspec.structs.asdict(front))
    _check(command, facts, body, ends[0] + 1, where, formats)
    return command


def _front(facts: str, where: str) -> _Front:
    try:
        told: dict[str, Any] = tomllib.loads(facts)
    except tomllib.TOMLDecodeError as error:
        what, line = split_line(str(error))
        raise InvalidInput(f"{where}:{line or facts.count(chr(10)) + 1}: {what}.") from error
    try:
        return msgspec.convert(told, _Front)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        key = re.split(r"[.\[]", path.strip("`").lstrip("."))[0] or _named_in(what)
        raise InvalidInput(
            f"{where}:{line_of_key(facts, key) if key else 1}: {key or 'facts'}: {what}."
        ) from error


def split_line(complaint: str) -> tuple[str, int]:
    """What the library says of a text that is not TOML, and the line; 0 where it says none (the text's end)."""
    what, _, place = complaint.partition(" (at ")
    found = re.match(r"line (\d+)", place)
    return what, int(found[1]) if found else 0


def _named_in(what: str) -> str:
    found = re.search(r"unknown field `([^`]+)`", what)
    return found[1] if found else ""


def _check(command: Command, facts: str, body: str, offset: int, where: str, formats: Sequence[str]) -> None:
    def refuse(key: str, words: str, hint: str = "") -> None:
        raise InvalidInput(f"{where}:{line_of_key(facts, key)}: {key}: {words}", hint=hint)

    if not command.purpose.strip():
        refuse("purpose", "it is empty.")
    if command.seed_name and not NAME.fullmatch(command.seed_name):
        refuse("seed_name", f"“{command.seed_name}” is no name.")
    if command.auto_flag and not re.fullmatch(r"-{1,2}[a-z][a-z-]*", command.auto_flag):
        refuse("auto_flag", f"“{command.auto_flag}” is no flag.")
    for name in placeholders_in(command.args):
        if name not in ARGUMENTS:
            refuse("args", f"there is no placeholder {{{name}}}.", f"There are: {', '.join(ARGUMENTS)}.")
    for path in command.artifacts:
        for name in placeholders_in(path):
            if name not in PLACEHOLDERS:
                refuse(
                    "artifacts",
                    f"there is no placeholder {{{name}}}.",
                    f"There are: {', '.join(PLACEHOLDERS)}.",
                )
        if path.startswith("/") or ".." in path.split("/"):
            refuse("artifacts", f"“{path}” leads out of the project.")
    for path in command.may_keep:
        if path not in command.artifacts:
            refuse("may_keep", f"“{path}” is not among the command's artifacts.")
    for field in command.result:
        if field in ALWAYS:
            refuse("result", f"{field} is in every result block and need not be named.")
    for section in command.formats:
        if section not in formats:
            refuse("formats", f"there is no format “{section}”.", f"There are: {', '.join(formats)}.")
    known = {"state", "work", *command.inputs}
    for number, line in enumerate(body.split("\n"), offset + 1):
        for name in placeholders_in(line):
            if name not in known:
                raise InvalidInput(
                    f"{where}:{number}: the prompt has {{{name}}}, which is not among the command's inputs.",
                    hint=f"Add it to `inputs`, if it is one of {', '.join(PLACEHOLDERS)}.",
                )
