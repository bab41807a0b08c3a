"""Reads the recipes of a Makefile: the shell lines that `make TARGET` runs, with everything that runs on the way. Pure.

It knows rules, prerequisites, pattern rules, simple variables and `$(shell …)`. A Makefile that builds its rules by itself
(`include`, `define`, `$(eval …)`) is refused whole: its text does not say what a target runs. A variable that cannot be
told stays as `$(NAME)`, which the gate reads as an unknown program.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

_ASSIGNMENT: Final = re.compile(r"([^\s:#=!?+$]+)\s*(:{0,3}=|\?=|\+=|!=)\s*(.*)", re.DOTALL)
_BUILDS_RULES: Final = re.compile(r"\$[({](?:eval|file|guile|load)\b")
_REFUSED: Final = frozenset(
    {"include", "-include", "sinclude", "load", "-load", "define", "undefine", "vpath"}
)
_CONDITIONS: Final = frozenset({"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"})
_MODIFIERS: Final = frozenset({"override", "export", "private"})
_PLAIN_SHELL: Final = re.compile(r"(?:/usr/bin/env\s+|/usr/bin/|/bin/|/usr/local/bin/)?(?:ba|da|z)?sh")
_PLAIN_FLAGS: Final = re.compile(r"[\w\s-]*")
_PLAIN_MAKEFLAGS: Final = re.compile(
    r"(?:\s*(?:--no-[\w-]+|--warn-undefined-variables|-[jrRsk]\d*|--silent|--jobs(?:=\d+)?))*\s*"
)
_BUILT_IN: Final = {"MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "c++", "AR": "ar", "SHELL": "/bin/sh"}
_MOST: Final = 4_000  # characters of one line, and of one expanded text
_DEEPEST: Final = 10
_MOST_TARGETS: Final = 100
# Characters that are looked at for one Makefile: variables in variables could keep us busy for ever.
_MOST_WORK: Final = 2_000_000
_OWN_NAMES: Final = ("GNUmakefile", "makefile", "Makefile")  # make first makes these anew, for every target
_PLAIN_SETTINGS: Final = frozenset({".SHELLFLAGS", ".DEFAULT_GOAL"})


class _Rule(NamedTuple):
    targets: str
    needs: str
    lines: list[str]


class NotTold(ValueError):
    """The text does not say what runs; the message says why, as an end of a sentence."""


class Makefile:
    """The rules and variables of one Makefile. Raises NotTold for one that cannot be read by its text."""

    def __init__(self, text: str) -> None:
        if _BUILDS_RULES.search(text):
            raise NotTold("it makes rules by itself")
        self._work = _MOST_WORK
        self._values: dict[str, list[tuple[str, str]]] = {}
        self._exported: set[str] = set()
        self._loose: list[str] = []  # texts outside of recipes, which make expands for every target
        self._rules: list[_Rule] = []
        self._has_conditions = False
        self._exports_all = False
        self._read(text.replace("\r\n", "\n"))
        self._require_plain_shell()
        self._named = self._by_target()
        self._patterns = [name for name in self._named if "%" in name]
        self._always = list(self._everywhere())

    @property
    def targets(self) -> tuple[str, ...]:
        """Names the explicit targets, in the order of the file."""
        return tuple(name for name in self._named if "%" not in name and not name.startswith("."))

    def recipe(self, target: str) -> str:
        """Returns every shell line that `make TARGET` can run; what others need comes first. Raises NotTold."""
        seen: dict[str, None] = {}
        always = (line for name in _OWN_NAMES for line in self._lines_of(name, seen))
        lines = [*self._always, *always, *self._lines_of(target, seen)]
        text = "\n".join(dict.fromkeys(line for line in lines if line.strip()))
        if len(text) > _MOST:
            raise NotTold("its recipe is too long")
        return text

    # Reading.

    def _read(self, text: str) -> None:
        rule: _Rule | None = None
        for line in _logical_lines(text):
            if line.startswith("\t"):
                if rule is None:
                    raise NotTold("a recipe stands outside of a rule")
                rule.lines.append(line[1:])
                continue
            bare = re.sub(r"(?<!\\)#.*", "", line, flags=re.DOTALL).strip()
            if bare:
                rule = self._take(bare, rule)

    def _take(self, line: str, rule: _Rule | None) -> _Rule | None:
        """Takes one line that is no recipe; returns the rule that recipe lines after it belong to."""
        first, *others = line.split()
        if first in _REFUSED:
            raise NotTold("it includes other files or makes rules by itself")
        if first in _CONDITIONS:
            self._has_conditions = True
            self._loose.append(line)
            return rule
        words, exported = line, False
        while first in _MODIFIERS and others and not re.match(r"[:?+!]?=", others[0]):
            exported = exported or first == "export"
            words = words.removeprefix(first).lstrip()
            first, *others = words.split()
        if (found := _ASSIGNMENT.fullmatch(words)) is not None:
            self._assign(found, exported=exported)
            return None
        if first in {"export", "unexport"} and not others:
            self._exports_all = True
            return None
        if exported or first == "unexport":
            self._exported.update([first, *others])
            return None
        return self._begin(words)

    def _assign(self, found: re.Match[str], *, exported: bool) -> None:
        name, operator, value = found.groups()
        if name == ".RECIPEPREFIX":
            raise NotTold("its recipes do not begin with a tab")
        if name.startswith(".") and name not in _PLAIN_SETTINGS:
            raise NotTold(f"it sets {name[:40]}")
        self._values.setdefault(name, []).append((operator, value))
        self._loose.append(f"$(shell {value})" if operator == "!=" else value)
        if exported:
            self._exported.add(name)

    def _begin(self, line: str) -> _Rule | None:
        """Begins a rule; returns it for the recipe that follows."""
        self._loose.append(line)
        colon = self._colon(line)
        left, right = line[:colon].rstrip("& "), line[colon:].lstrip(":").strip()
        if "=" in left or right.startswith("="):
            raise NotTold("the name of a variable is computed")
        if colon == len(line):
            if line.startswith(("$(info", "$(warning", "$(error")):
                return None
            raise NotTold("it makes rules by itself")
        own = _ASSIGNMENT.fullmatch(re.sub(r"^(?:(?:export|override|private)\s+)+", "", right))
        if own is not None:
            # A value for some targets only: whichever it is, the name has more than one.
            self._assign(own, exported=True)
            self._values[own[1]].append(("=", ""))
            return None
        needs, _, inline = right.partition(";")
        rule = _Rule(left, needs.rpartition(":")[2].strip(), [inline.strip()] if inline.strip() else [])
        self._rules.append(rule)
        return rule

    def _colon(self, line: str) -> int:
        """Returns the place of the first colon outside of brackets; the length of the line where there is none."""
        at = 0
        while at < len(line):
            if line[at] == ":":
                return at
            if line[at] == "$" and line[at + 1 : at + 2] in {"(", "{"}:
                at += len(self._inside(line, at + 1)) + 2
            at += 1
        return len(line)

    def _require_plain_shell(self) -> None:
        for name, plain in (
            ("SHELL", _PLAIN_SHELL),
            (".SHELLFLAGS", _PLAIN_FLAGS),
            ("MAKEFLAGS", _PLAIN_MAKEFLAGS),
        ):
            if any(not plain.fullmatch(value.strip()) for _, value in self._values.get(name, ())):
                raise NotTold(f"it sets {name}")

    def _by_target(self) -> dict[str, list[_Rule]]:
        named: dict[str, list[_Rule]] = {}
        for rule in self._rules:
            names = self._expand(rule.targets, rule)
            if "$" in names:
                raise NotTold("the name of a target is computed")
            for name in names.split():
                named.setdefault(name, []).append(rule)
        return named

    # What runs.

    def _everywhere(self) -> Iterator[str]:
        """Yields what every call of make does: `$(shell …)` outside of recipes, and variables that programs see."""
        for text in self._loose:
            for called in re.finditer(r"\$[({]shell\s", text):
                yield self._expand(self._inside(text, called.start() + 1).partition(" ")[2], None)
        seen_by_programs = set(self._values) if self._exports_all else self._exported | {"PATH"}
        for name in sorted(seen_by_programs):
            for _, value in self._values.get(name, ()):
                yield f"{name}={shlex.quote(self._expand(value, None))}"

    def _lines_of(self, target: str, seen: dict[str, None]) -> Iterator[str]:
        if target in seen:
            return
        if len(seen) > _MOST_TARGETS:
            raise NotTold("too many targets belong to it")
        seen[target] = None
        rules = self._named.get(target)
        if rules is None:
            self._charge(len(self._patterns))
            rules = [rule for name in self._patterns if _fits(name, target) for rule in self._named[name]]
        for rule in rules:
            needs = self._expand(rule.needs, rule, target)
            if "$" in needs:
                raise NotTold("what it needs is computed")
            for need in needs.replace("|", " ").split():
                yield from self._lines_of(need, seen)
            for line in rule.lines:
                yield from self._ran(self._expand(line, rule, target).lstrip("@+- \t"), seen)

    def _ran(self, line: str, seen: dict[str, None]) -> Iterator[str]:
        """Yields a line, and before it the recipes of the targets that it makes by another call of make."""
        words = re.findall(r"[^\s;&|()'\"`]+", line)
        if "make" in words or "gmake" in words:
            if any(re.match(r"-[Cf]|--(?:directory|file|makefile|eval)", word) for word in words):
                raise NotTold("it calls make in another folder")
            for word in words:
                if word in self._named:
                    yield from self._lines_of(word, seen)
        yield line

    def _expand(self, text: str, rule: _Rule | None, target: str = "", depth: int = 0) -> str:
        """Replaces variables by their values. One that is not known for certain stays, as `$(NAME)`."""
        parts: list[str] = []
        at = length = 0
        self._charge(len(text))
        while (sign := text.find("$", at)) >= 0:
            parts.append(text[at:sign])
            following = text[sign + 1 : sign + 2]
            if following in {"(", "{"}:
                name = self._inside(text, sign + 1)
                at = sign + len(name) + 3
                parts.append(self._value(name, rule, target, depth))
            else:
                at = sign + 2
                parts.append(self._value(following, rule, target, depth))
            length += len(parts[-1])
            if length > _MOST:
                raise NotTold("its variables are too long")
        parts.append(text[at:])
        return "".join(parts)

    def _inside(self, text: str, opened: int) -> str:
        """Returns what stands between a bracket and the one that closes it. Raises NotTold without one."""
        opening = text[opened]
        closing = ")" if opening == "(" else "}"
        depth = 0
        for at in range(opened, len(text)):
            depth += (text[at] == opening) - (text[at] == closing)
            if depth == 0:
                self._charge(at - opened)
                return text[opened + 1 : at]
        raise NotTold("a bracket is not closed")

    def _charge(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise NotTold("its rules and variables are too many")

    def _value(self, name: str, rule: _Rule | None, target: str, depth: int) -> str:
        if name == "$":
            return "$"
        if depth > _DEEPEST:
            raise NotTold("its variables are nested too deeply")
        if name.startswith("shell "):
            return f"$({self._expand(name[6:], rule, target, depth + 1)})"
        if name == "@" and target:
            return target
        if name in {"<", "^", "+", "?"} and rule is not None:
            needs = self._expand(rule.needs, None, "", depth + 1).replace("|", " ").split()
            return needs[0] if name == "<" and needs else " ".join(needs)
        given = self._values.get(name)
        if given is None:
            return _BUILT_IN.get(name, f"$({name})")
        first, *more = given
        is_certain = first[0] not in {"!=", "+="} and all(operator == "+=" for operator, _ in more)
        if not is_certain or (more and self._has_conditions):
            return f"$({name})"
        return " ".join(self._expand(value, rule, target, depth + 1) for _, value in given)


def _logical_lines(text: str) -> Iterator[str]:
    """Yields lines, each with those that a backslash continues."""
    lines = iter(text.split("\n"))
    for line in lines:
        whole = line
        while whole.endswith("\\") and (following := next(lines, None)) is not None:
            whole = f"{whole[:-1]} {following.strip()}"
            if len(whole) > _MOST:
                break
        if len(whole) > _MOST:
            raise NotTold("a line is too long")
        yield whole


def _fits(pattern: str, name: str) -> bool:
    before, _, after = pattern.partition("%")
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
