"""Whether a piece of text is a command line, and not a sentence or a piece of a program. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate.command_rules import known_programs
from maestro.coordinate.gate.program_names import known_as
from maestro.coordinate.gate.shell import INTERPRETERS, parse_shell
from maestro.coordinate.gate.statements import CLIENTS

_SIGNS: Final = re.compile(r"&&|\|\||[|;<>$]|(?:^|\s)-{1,2}\w|[\w*]/|\.\w{1,4}\b|=")
ENGLISH: Final = frozenset(
    {"the", "a", "an", "this", "that", "to", "of", "is", "are", "should", "and", "or", "with", "for",
     "in", "on", "it", "be", "my", "your", "our", "i", "we", "you", "them", "from", "if", "not", "into",
     "as"}
)  # fmt: skip
# English words that are programs as well: alone they say nothing.
_WORDS_TOO: Final = frozenset(
    {"test", "type", "set", "read", "find", "sort", "cut", "join", "split", "make", "time", "watch", "which", "where", "who", "help", "info", "open", "code", "file", "head", "tail", "more", "less", "date", "look", "write", "format", "install", "service", "init", "at", "batch", "render", "up", "now",
     "platform", "modal", "cap", "port", "pass", "step", "age", "security", "slack", "mail", "kill", "wipe", "true", "false", "export", "alias", "source", "command", "link", "pr", "fold", "paste", "serve", "task", "just", "go", "patch", "touch", "host", "wait", "return", "break", "continue", "let", "local", "exit",
     "history", "act", "stack", "cross", "copy", "move", "trash", "truncate", "del", "erase", "route", "release", "migrate", "atlas", "goose", "air", "standard", "next", "expo", "dot", "convert", "black", "v", "swift", "arch", "expr", "clear", "jobs", "column", "comm", "apex", "cf", "fetch", "links", "http", "https", "stripe", "amp", "surge", "wp", "env", "mount", "reg", "sc", "deploy", "add", "remove", "delete", "drop", "use", "yes", "no", "keep", "skip",
     "size", "groups", "factor", "invoke", "foreman", "reuse", "prism", "robot", "anchor", "forge", "foundry", "poe", "tap", "tape", "axe", "percy", "detox", "blender", "emulator", "west", "postgres", "accelerate", "sage", "scale", "behave", "identify", "watchman", "steep", "doit", "hurl", "newman", "cairo", "infection", "dusk", "backstop", "soda", "flux", "salt", "chef", "puppet", "vault", "consul", "nomad", "trunk", "stylish-haskell", "presto", "clickhouse", "dolt", "groovy", "snowsql"}
)  # fmt: skip
# What a program is told in quotes or in a here-document is no part of the sentence.
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\([^()]*\)|<<-?\s*\S+\n.*", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=\S*$")
_QUOTED_VALUE: Final = re.compile(r"(?<=\w=)(?:'[^']*'|\"(?:\\.|[^\"\\])*\")")
_ALONE: Final = frozenset({"rm", "reboot", "shutdown", "printenv", "dropdb", "env", "poweroff"})
_DELETES: Final = frozenset({"sudo", "rm", "rmdir", "mkfs", "dd"})
# Runners whose tasks are plain words: `make test`, `go vet`.
_RUNNERS_TOO: Final = frozenset(
    {"make", "just", "task", "go", "stack", "swift", "next", "expo", "black", "air", "act", "port"}
)
_TASK: Final = re.compile(r"[\w.:/@=+-]+")
_COMPOUND: Final = re.compile(r"(?:for \w+ in|while|until|if)\b.*\b(?:do|then)\b|\(\s*cd ", re.DOTALL)
# These are commands even alone, where a permission is for nothing else.
_WORDS_AND_COMMANDS: Final = frozenset({"make", "env", "date", "who", "jobs", "history", "clear", "true"})


def looks_like_shell(text: str) -> bool:
    """Whether this piece of prose is a command line."""
    words = _bare_words(text)
    if not words:
        return False
    first = _program(words)
    if first in _DELETES and len(words) > 1 and words[1].casefold() not in ENGLISH:
        return True
    if not _is_known(first, words[0]):
        return False
    if len(words) < 2:
        return first in _ALONE and len(text.split()) == 1
    return _has_no_sentence(first, words)


def is_command(text: str) -> bool:
    """Whether the whole of what a permission asks is a command line."""
    words = _bare_words(text)
    if not words:
        return False
    first = _program(words)
    if _COMPOUND.match(text.strip()):
        return not parse_shell(text).unreadable
    if not _is_known(first, words[0]):
        return _looks_foreign(words)
    if len(words) == 1:
        is_word = first in _WORDS_TOO and len(text.split()) == 1
        return (not is_word or first in _WORDS_AND_COMMANDS) and not parse_shell(text).unreadable
    is_task = first in _RUNNERS_TOO and len(words) < 6 and all(map(_TASK.fullmatch, words))
    return (is_task and not ENGLISH.intersection(words)) or _has_no_sentence(first, words)


def _looks_foreign(words: list[str]) -> bool:
    """A program that nobody told us about, with arguments that no sentence has."""
    rest = " ".join(words[1:])
    return (
        re.fullmatch(r"[a-z][\w.+-]*", words[0]) is not None
        and not ENGLISH.intersection(word.casefold() for word in words)
        and words[0] not in _WORDS_TOO
        and not rest.endswith("?")
        and re.search(r"(?:^|\s)-{1,2}\w|[\w*]/|\.\w{1,5}(?:\s|$)|\s[|<>]", rest) is not None
    )


def _bare_words(text: str) -> list[str]:
    valued = _QUOTED_VALUE.sub("''", text.strip().removeprefix("$ "))
    return _QUOTED.sub(lambda quoted: quoted[0] if quoted[0] == "''" else " '' ", valued).split()


def _program(words: list[str]) -> str:
    """The first word that is no assignment, without its folder."""
    named = next((word for word in words if not _ASSIGNMENT.match(word)), "")
    return known_as(re.sub(r"^.*/", "", named).strip("'\"("))


def _is_known(program: str, first: str) -> bool:
    return (
        program in known_programs()
        or program in CLIENTS
        or program in INTERPRETERS
        or first.startswith(("./", "bin/", "scripts/", "node_modules/.bin/", ".venv/bin/", "vendor/bin/"))
    )


def _has_no_sentence(program: str, words: list[str]) -> bool:
    at = next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word)), 0)
    rest = " ".join(words[at + 1 :])
    if not rest:
        return True
    if re.match(r"[({=]|:\s", rest) or (re.search(r"\w\(\w*\)|=>|\{$", rest) and program in _WORDS_TOO):
        return False
    english = sum(word.casefold().strip(",.?!") in ENGLISH for word in words[at + 1 :])
    is_capital = words[at][0].isupper() and program not in INTERPRETERS and program not in known_programs()
    if program in _WORDS_TOO:
        return english == 0 and (bool(_SIGNS.search(rest)) or at > 0) and not is_capital
    return english < 2 and not is_capital
