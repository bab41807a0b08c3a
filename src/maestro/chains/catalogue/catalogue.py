"""The catalogue of chains: files put on top of each other, and everything that is wrong with them. Pure.

    [chains.execute-verify]
    purpose = "Carry out a phase's plan, then check it against its goals."
    work = "phase"
    steps = ["execute {phase}", "verify {phase}"]

A step is a command with its arguments, or the name of another chain. A chain of a later file replaces the one of the
same name. Each command is a chain of one step by its own name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from maestro.chains import ARGUMENTS, Catalogue, Chain, Command, Step, Workplace
from maestro.chains.catalogue.command_text import NAME, split_line
from maestro.chains.catalogue.toml_lines import line_of_item, line_of_key, line_of_table
from maestro.chains.template import placeholders_in
from maestro.errors import InvalidInput

MOST_STEPS: Final = 50


class Source(NamedTuple):
    """One chains.toml."""

    place: str  # "built in", or the file
    text: str


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    purpose: str
    steps: tuple[str, ...]
    work: Workplace = "either"


class _Chains(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    chains: dict[str, _Entry] = {}


class _Told(NamedTuple):
    entry: _Entry
    source: Source


def formats_in(text: str) -> dict[str, str]:
    """Sections of formats.md by their title: what stands under `## `, outside of code fences."""
    found: dict[str, list[str]] = {}
    title, fenced = "", False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            title = line[3:].strip()
            found[title] = []
        elif title:
            found[title].append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def build_catalogue(
    commands: Sequence[Command], sources: Sequence[Source], formats: Mapping[str, str]
) -> Catalogue:
    """`commands` and `sources` in the order in which later ones replace earlier ones."""
    known = {command.name: command for command in commands}
    _check_seed_names(known)
    entries: dict[str, _Told] = {}
    for source in sources:
        for name, entry in _parsed(source).chains.items():
            entries[name] = _Told(entry, source)
    for name, told in entries.items():
        _check_chain(name, told, known, entries)
    chains = {
        name: Chain(
            name=name,
            purpose=told.entry.purpose,
            steps=_flat(name, entries, known, ()),
            work=told.entry.work,
            place=told.source.place,
        )
        for name, told in entries.items()
    }
    return Catalogue(known, {**chains, **{name: _alone(command) for name, command in known.items()}}, formats)


def command_of(catalogue: Catalogue, name: str) -> Command | None:
    """By its name or the seed's."""
    found = catalogue.commands.get(name)
    return found or next((one for one in catalogue.commands.values() if one.seed_name == name), None)


def _alone(command: Command) -> Chain:
    return Chain(
        name=command.name,
        purpose=command.purpose,
        steps=(Step(command.name, command.args),),
        work=command.work,
        place=command.place,
    )


def _check_seed_names(commands: Mapping[str, Command]) -> None:
    taken: dict[str, Command] = {}
    for command in commands.values():
        for name in {command.name, command.seed_name} - {""}:
            other = taken.setdefault(name, command)
            if other is not command:
                raise InvalidInput(
                    f"{command.place}: the name {name} is also one of the command {other.name} ({other.place}).",
                    hint="Give one of them another `seed_name`.",
                )


def _parsed(source: Source) -> _Chains:
    try:
        told: dict[str, Any] = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        what, line = split_line(str(error))
        raise InvalidInput(f"{_at(source, line or source.text.count(chr(10)) + 1)}: {what}.") from error
    try:
        return msgspec.convert(told, _Chains)
    except msgspec.ValidationError as error:
        raise InvalidInput(_validation_fault(source, told, str(error))) from error


def _validation_fault(source: Source, told: Mapping[str, Any], complaint: str) -> str:
    """The library names no key of a mapping: each chain is converted alone to find the one that is wrong."""
    chains = told.get("chains")
    for name, entry in chains.items() if isinstance(chains, dict) else ():
        try:
            msgspec.convert(entry, _Entry)
        except msgspec.ValidationError as error:
            what, _, path = str(error).partition(" - at `$")
            key = re.split(r"[.\[]", path.strip("`").lstrip("."))[0]
            place = f"{key}: " if key else ""
            return f"{_at(source, line_of_table(source.text, 'chains', name))}: chains.{name}: {place}{what}."
    what = complaint.partition(" - at `$")[0]
    unknown = next((key for key in told if key != "chains"), "")
    return f"{_at(source, line_of_key(source.text, unknown))}: {what}."


def _check_chain(
    name: str, told: _Told, commands: Mapping[str, Command], entries: Mapping[str, _Told]
) -> None:
    source, entry = told.source, told.entry
    if not NAME.fullmatch(name):
        _refuse(source, name, None, "a name has small letters, digits and single dashes.")
    if name in commands or any(name == command.seed_name for command in commands.values()):
        _refuse(
            source,
            name,
            None,
            "there is a command of this name.",
            "Each command is a chain already. Choose another name.",
        )
    if not entry.purpose.strip():
        _refuse(source, name, None, "its purpose is empty.")
    if not entry.steps:
        _refuse(source, name, None, "it has no steps.")
    for index, words in enumerate(entry.steps):
        first, args = _split(words)
        found = _command_named(first, commands)
        if found is None and first not in entries:
            _refuse(
                source,
                name,
                index,
                f"there is no command or chain “{first}”.",
                "`maestro chain list` shows all.",
            )
        if found is None and args:
            _refuse(source, name, index, f"{first} is a chain, and a chain takes no arguments here.")
        for placeholder in placeholders_in(args):
            if placeholder not in ARGUMENTS:
                _refuse(
                    source, name, index, f"there is no placeholder {{{placeholder}}}.",
                    f"There are: {', '.join(ARGUMENTS)}.",
                )  # fmt: skip


def _flat(
    name: str, entries: Mapping[str, _Told], commands: Mapping[str, Command], above: tuple[str, ...]
) -> tuple[Step, ...]:
    """The chain's steps, with the chains that it names taken apart."""
    told = entries[name]
    steps: list[Step] = []
    for index, words in enumerate(told.entry.steps):
        first, args = _split(words)
        command = _command_named(first, commands)
        if command is not None:
            steps.append(Step(command.name, args))
        elif first in (*above, name):
            way = " → ".join([*above, name, first])
            _refuse(told.source, name, index, f"chains name each other in a circle: {way}.")
        else:
            steps += _flat(first, entries, commands, (*above, name))
        # Checked as it grows: chains that name others twice would double with each level.
        if len(steps) > MOST_STEPS:
            _refuse(told.source, name, index, f"with this one it has over {MOST_STEPS} steps.")
    return tuple(steps)


def _command_named(name: str, commands: Mapping[str, Command]) -> Command | None:
    return commands.get(name) or next((one for one in commands.values() if one.seed_name == name), None)


def _split(words: str) -> tuple[str, str]:
    first, _, args = words.strip().partition(" ")
    return first, args.strip()


def _refuse(source: Source, chain: str, step: int | None, words: str, hint: str = "") -> None:
    line = (
        line_of_table(source.text, "chains", chain)
        if step is None
        else line_of_item(source.text, ("chains", chain), "steps", step)
    )
    which = f"chains.{chain}" if step is None else f"chains.{chain}, step {step + 1}"
    raise InvalidInput(f"{_at(source, line)}: {which}: {words}", hint=hint)


def _at(source: Source, line: int) -> str:
    return f"{source.place if source.place != 'built in' else 'catalogue.toml'}:{line}"
