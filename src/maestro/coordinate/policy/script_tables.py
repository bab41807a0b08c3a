"""Keeps the scripts of a project by the program that runs them, and tells all that one of them runs. Pure."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from maestro.coordinate.policy.makefile_text import NotTold

# Which scripts a program runs by their names. Those of npm are run by all package managers, and by small programs.
_FAMILY: Final[dict[str, str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "node", "npm-run-all", "npm-run-all2", "run-s", "run-p", "wireit"), "npm"),
    "make": "make", "gmake": "make", "hatch": "hatch", "pdm": "pdm", "tox": "tox",
}  # fmt: skip
# In these, a word of a script may itself be the name of another.
_BY_WORD: Final = frozenset({"hatch", "pdm"})
_WORD: Final = re.compile(r"[^\s;&|()'\"`]+")
_ALIASES: Final = {"t": "test", "tst": "test"}
_LONGEST_LINE: Final = 2_000
_MOST_TEXT: Final = 8_000
_MOST_SCRIPTS: Final = 400  # of one program; those of a larger project are not looked through
_MOST_PATTERNS: Final = 20
_MOST_RUN: Final = 50  # scripts by one

Script = tuple[str, str]  # family and name


class Scripts:
    """Texts of scripts. One that runs others, by any of the programs, runs their texts too."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str | None]] = {}
        self._run: dict[Script, tuple[Script, ...] | None] = {}

    def add(self, family: str, name: str, text: str | None) -> None:
        """Adds a script; None stands for one whose text cannot be told."""
        self._texts.setdefault(family, {})[name] = text

    def add_package(self, package: Mapping[str, Any]) -> None:
        scripts = package.get("scripts")
        for name, text in scripts.items() if isinstance(scripts, dict) else ():
            if isinstance(text, str):
                self.add("npm", name, text)

    def names(self, family: str) -> tuple[str, ...]:
        return tuple(self._texts.get(family, ()))

    def own_text(self, family: str, name: str) -> str:
        return self._texts.get(family, {}).get(name) or ""

    def whole_text(self, family: str, name: str) -> str:
        """Returns a script's text with those of all that it runs, each once, in the order in which they are named; nothing
        where one of them cannot be told, or where they are too many or too long to look at."""
        waiting, texts, length = deque([(family, name)]), dict[Script, str](), 0
        while waiting:
            here = waiting.popleft()
            if here in texts or here[1] not in self._texts.get(here[0], {}):
                continue
            text = self._texts[here[0]][here[1]]
            length += len(text or "")
            if text is None or length > _MOST_TEXT or len(self._texts[here[0]]) > _MOST_SCRIPTS:
                return ""
            if len(texts) == _MOST_RUN:
                return ""
            texts[here] = text.strip()
            if here not in self._run:
                self._run[here] = self._run_by(*here)
            following = self._run[here]
            if following is None:
                return ""
            waiting += following
        lines = (line for text in texts.values() for line in text.split("\n"))
        return "\n".join(dict.fromkeys(line for line in lines if line.strip()))

    def _run_by(self, family: str, name: str) -> tuple[Script, ...] | None:
        """Returns the scripts that a script runs itself; None where their names are patterns, and too many."""
        found: dict[Script, None] = {}
        if family == "npm":  # run around every script, by their names alone
            found.update(dict.fromkeys([(family, f"pre{name}"), (family, f"post{name}")]))
        if family == "pdm":
            found.update(dict.fromkeys([(family, f"pre_{name}"), (family, f"post_{name}")]))
        environment = f"{name.partition(':')[0]}:" if ":" in name else ""
        patterns: set[Script] = set()
        for line in self.own_text(family, name).splitlines():
            words = _WORD.findall(line)
            called = {family: environment} if family in _BY_WORD else {}
            for word in words:
                # All words behind a program that runs scripts may be their names.
                for runner, prefix in called.items():
                    meant = prefix + (_ALIASES.get(word, word) if runner == "npm" else word)
                    if meant in self._texts.get(runner, {}):
                        found[runner, meant] = None
                    if "*" in meant:
                        patterns.add((runner, meant.replace("**", "*")))
                if (runs := _FAMILY.get(word.rpartition("/")[2])) is not None:
                    called.setdefault(runs, "")
        if len(patterns) > _MOST_PATTERNS:
            return None
        for runner, pattern in sorted(patterns):
            known = self._texts.get(runner, {})
            found.update(dict.fromkeys((runner, one) for one in known if fnmatchcase(one, pattern)))
        return tuple(found)


def python_scripts(python: Mapping[str, Any], scripts: Scripts) -> Iterator[tuple[str, str, str]]:
    """Takes the scripts of hatch, pdm and tox from pyproject.toml; yields each as family, name and the line that runs it."""
    for environment, settings in _table(python, "tool", "hatch", "envs").items():
        for name, text in _texts(_table(settings, "scripts")):
            whole = name if environment == "default" else f"{environment}:{name}"
            scripts.add("hatch", whole, re.sub(r"^- ", "", text, flags=re.MULTILINE))
            yield "hatch", whole, f"hatch run {whole}"
    for name, text in _texts(_table(python, "tool", "pdm", "scripts")):
        if not name.startswith("_"):
            scripts.add("pdm", name, text)
            yield "pdm", name, f"pdm run {name}"
    commands = dict(_tox_commands(_table(python, "tool", "tox")))
    for name, ran in commands.items():
        if name:
            scripts.add("tox", name, ran)
            yield "tox", name, f"tox -e {name}"
    if commands:
        # Without a name tox runs them all.
        known = [ran for ran in commands.values() if ran is not None]
        scripts.add("tox", "", "\n".join(known) if len(known) == len(commands) else None)
        yield "tox", "", "tox"


def _texts(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields scripts that are shell lines; what calls a function of the project is none."""
    for name, value in table.items():
        given = value
        if isinstance(value, dict):
            given = next((value[key] for key in ("cmd", "shell", "composite") if key in value), None)
            if isinstance(given, list) and "cmd" in value:
                given = " ".join(map(str, given))
        lines = given if isinstance(given, list) else [given]
        if lines and all(isinstance(line, str) for line in lines):
            yield name, "\n".join(lines)


def _tox_commands(tox: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yields the environments of tox with their commands, None where these cannot be told; the base has no name."""
    base = _table(tox, "env_run_base").get("commands")
    if base is not None:
        yield "", _listed(base)
    for name, settings in _table(tox, "env").items():
        yield name, _listed(settings.get("commands", base) if isinstance(settings, dict) else None)
    legacy = tox.get("legacy_tox_ini")
    if not isinstance(legacy, str):
        return
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(legacy)
    except configparser.Error as error:
        raise NotTold("its settings of tox cannot be parsed") from error
    for section in parser.sections():
        kind, _, name = section.partition(":")
        text = parser.get(section, "commands", fallback="").strip()
        # A reference to another section does not say here what runs.
        if kind == "testenv":
            yield name, None if "{[" in text else text


def _listed(commands: Any) -> str | None:
    if not isinstance(commands, list):
        return None
    plain = [
        line for line in commands if isinstance(line, list) and all(isinstance(word, str) for word in line)
    ]
    return "\n".join(" ".join(line) for line in plain) if len(plain) == len(commands) else None


def _table(place: Any, *path: str) -> dict[str, Any]:
    for key in path:
        place = place.get(key) if isinstance(place, dict) else None
    return place if isinstance(place, dict) else {}


# Parsing.


def json_object(text: str) -> dict[str, Any]:
    """Returns an object of JSON. Raises ValueError for anything else, and for a key that stands twice."""
    value = json.loads(text, object_pairs_hook=_once)
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - as for text that is no JSON
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotTold("a key stands twice in it")
    return found


def toml_table(text: str) -> dict[str, Any]:
    """Returns a document of TOML. Raises ValueError for anything else."""
    # The time that the library takes grows with the square of the parts of a dotted key.
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        raise NotTold("a line is too long")
    return tomllib.loads(text)
