"""Whether a command line is proven to read only, and only inside the project. Pure.

Proven means that code may answer yes, once, without a model or a human: every program, subcommand and option of the line
is in `read_only_table.py`, every path is relative and stays below the folder that it runs in, and nothing in the line is
known only when it runs. A variable, an output file, the network and what may hold secrets are never proven.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from maestro.agents.questions import Question
from maestro.coordinate.gate import places, tools
from maestro.coordinate.gate.folding import is_disguised
from maestro.coordinate.gate.read_only_table import READ_ONLY
from maestro.coordinate.gate.shell import Command, Redirect, parse_shell

_LONGEST: Final = 2_000
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
# What stands outside quotes: nothing that a shell expands, but for patterns of file names and git's `HEAD~1`.
_BARE: Final = re.compile(r"(?:[\w\s./:=,@%+^*?\[\]|&;<>!-]|(?<=[\w^])~|\\[|().*+?\[\]])*", re.ASCII)
_WRAPPERS: Final = frozenset({"timeout", "time"})
_DURATION: Final = re.compile(r"\d+(?:\.\d+)?[smh]?")
_GLOB: Final = re.compile(r"[*?\[]")
# These print names and numbers, search, or take patterns that are no names of files.
_TAKE_PATTERNS: Final = frozenset(
    {"ls", "wc", "stat", "du", "file", "find", "fd", "fdfind", "grep", "egrep", "fgrep", "rg", "git", "echo", "printf",
     "sed", "jq", "tr", "expr", "date", "tree", "diff"}
)  # fmt: skip
_SOME_LINES: Final = r"(?:\d+|\$)(?:,\+?(?:\d+|\$))?p"
_LINES: Final = re.compile(rf"{_SOME_LINES}(?:;\s*{_SOME_LINES})*(?:;\s*\d+q)?")
_REACHES_OUT: Final = re.compile(
    r"\benv\b|\$ENV|\b(?:import|include|input|inputs|debug|halt_error|modulemeta)\b"
)
# What a search that looks for secrets looks for: it is not proven, and goes on to rules, a model or a human.
_HUNTS: Final = re.compile(
    r"secret|passw|passphrase|credential|api.?key|access.?key|private.?key|token|bearer|BEGIN|AKIA|ghp_|xox[bp]|sk-",
    re.IGNORECASE,
)
_RECURSIVE: Final = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
_READS_HIDDEN: Final = re.compile(r"-[a-zA-Z]*u[a-zA-Z]*|-[a-zA-Z]*H[a-zA-Z]*")
_REVISION: Final = re.compile(r"[\w./@^~{}:+=*-]+", re.ASCII)
_LISTS: Final = re.compile(r"-[a-z]*l|--(?:list|contains|no-contains|merged|no-merged|points-at)\b")
_WITH_SUBCOMMANDS: Final = frozenset({"git", "pip", "go"})


class _Spec(NamedTuple):
    """What a program or subcommand may be given."""

    flags: frozenset[str]  # whole options
    letters: str  # those that may stand together behind one dash
    valued: frozenset[str]
    valued_letters: str
    operands: str


def is_read_only(question: Question) -> bool:
    """Returns whether a permission is for one command line that is proven to read only."""
    if question.kind != "permission" or question.unread or question.is_cut or question.parts:
        return False
    if tools.has_unknown_arguments(question):
        return False
    used = tools.whole_use(question)
    asked = [used] if used else tools.detail_texts(question, "") if question.detail.strip() else []
    return len(asked) == 1 and asked[0].kind == "shell" and proves(asked[0].text)


def proves(command: str) -> bool:
    """Returns whether a command line is proven to read only."""
    if len(command) > _LONGEST or not command.isascii() or is_disguised(command) or not _is_plain(command):
        return False
    line = parse_shell(command)
    if line.unreadable or not line.commands:
        return False
    return all(map(_reads, line.commands)) and all(map(_leads_nowhere, line.redirects))


def _is_plain(command: str) -> bool:
    """Whether every shell would read it as it stands, so that one parser's word on it is enough."""
    bare = _QUOTED.sub("", command)
    return "<<" not in bare and bool(_BARE.fullmatch(bare))


def _leads_nowhere(redirect: Redirect) -> bool:
    target = redirect.target
    if not target.is_certain:
        return False
    is_inside = target.text.isdigit() or _is_inside(target.text)
    return target.text == "/dev/null" or (not redirect.writes and is_inside)


def _reads(command: Command) -> bool:
    if command.variables or command.code or command.runs_input or not _WRAPPERS.issuperset(command.through):
        return False
    if not all(word.is_certain for word in command.words):
        return False
    name, words = command.name, list(command.arguments)
    if "/" in command.path or (command.path != name and name not in {"python", "pip"}):
        return False
    if name in _WRAPPERS:
        return bool(words) and _wraps(name, words[0])
    if name not in _TAKE_PATTERNS and any(map(_GLOB.search, words)):
        # Which files it would print is known only when it runs.
        return False
    return any(_fits(spec, rest) for spec, rest in _specs_of(name, words))


def _wraps(name: str, first: str) -> bool:
    """Of its own it has a duration or nothing; the command behind it is looked at by itself."""
    return bool(_DURATION.fullmatch(first)) if name == "timeout" else not first.startswith("-")


def _specs_of(name: str, words: list[str]) -> list[tuple[_Spec, list[str]]]:
    if name == "git":
        words = _past_git_options(words)
    if name == "command" and words[:1] == ["-v"]:
        name, words = "which", words[1:]
    lengths = (0, 1, 2) if name in _WITH_SUBCOMMANDS else (0,)
    return [
        (spec, words[length:]) for length in lengths for spec in _table().get((name, *words[:length]), ())
    ]


def _past_git_options(words: list[str]) -> list[str]:
    """git's own options in front of its subcommand that change nothing but where it looks, below this folder."""
    while words:
        if words[0] in {"--no-pager", "-P", "--no-optional-locks"}:
            words = words[1:]
        elif words[0] == "-C" and len(words) > 1 and _is_inside(words[1]):
            words = words[2:]
        else:
            break
    return words


# Options.


def _fits(spec: _Spec, words: list[str]) -> bool:
    operands: list[str] = []
    options: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if not _is_option(spec, word):
            operands.append(word)
            continue
        taken = _taken(spec, word)
        if taken is None or at + taken > len(words):
            return False
        options.append(word)
        at += taken
    return _OPERANDS[spec.operands](operands, options)


def _is_option(spec: _Spec, word: str) -> bool:
    return (word.startswith("-") and word != "-") or (spec.operands == "find" and word in spec.flags)


def _taken(spec: _Spec, word: str) -> int | None:
    """How many words behind an option are its value; None for an option that is not known to be harmless."""
    name, has_value, _ = word.partition("=")
    if word.startswith("--") and has_value:
        return 0 if name in spec.valued else None
    if word in spec.flags:
        return 0
    if word in spec.valued:
        return 1
    if re.fullmatch(r"-\d+", word) and spec.operands in {"paths", "revisions", "pattern"}:
        return 0  # `head -20`, `git log -5`, `grep -3`
    if word.startswith("--"):
        return None
    for place, letter in enumerate(word[1:], 1):
        if letter in spec.valued_letters:
            return 0 if word[place + 1 :] else 1
        if letter not in spec.letters:
            return None
    return 0


# Operands.


def _paths(operands: list[str], _options: list[str]) -> bool:
    return all(map(_is_inside, operands))


def _folder(operands: list[str], _options: list[str]) -> bool:
    return len(operands) == 1 and operands != ["-"] and _is_inside(operands[0])


def _named(operands: list[str], options: list[str]) -> bool:
    """With a name and without a request to list, it would make what the name says."""
    return not operands or any(map(_LISTS.match, options))


def _some_lines(operands: list[str], options: list[str]) -> bool:
    is_asked = bool(operands) and bool(_LINES.fullmatch(operands[0])) and "-n" in options
    return is_asked and all(map(_is_inside, operands[1:]))


def _filtered(operands: list[str], _options: list[str]) -> bool:
    return bool(operands) and not _REACHES_OUT.search(operands[0]) and all(map(_is_inside, operands[1:]))


def _searched(operands: list[str], options: list[str]) -> bool:
    pattern, paths = operands[:1], operands[1:]
    if not pattern or _HUNTS.search(pattern[0]) or any(map(_READS_HIDDEN.fullmatch, options)):
        return False
    is_everywhere = any(map(_RECURSIVE.fullmatch, options)) and not any(
        word.startswith("--include=") for word in options
    )
    if is_everywhere and not (paths and all(path.strip("./") for path in paths)):
        # From the top, it reads the files with secrets as well.
        return False
    return all(map(_is_inside, paths))


_OPERANDS: Final[dict[str, Callable[[list[str], list[str]], bool]]] = {
    "paths": _paths,
    "find": _paths,
    "folder": _folder,
    "listed": _named,
    "lines": _some_lines,
    "filter": _filtered,
    "pattern": _searched,
    "revisions": lambda operands, _: all(map(_is_revision, operands)),
    "one": lambda operands, _: len(operands) <= 1 and all(map(_is_inside, operands)),
    "format": lambda operands, _: len(operands) <= 1 and all(word.startswith("+") for word in operands),
    "words": lambda _operands, _options: True,
    "version": lambda operands, options: not operands and options == ["--version"],
    "none": lambda operands, _: not operands,
}


def _is_inside(path: str) -> bool:
    """Whether a path stays below the folder that the command runs in, and is no file that may hold secrets."""
    if not path or path == "-":
        return bool(path)
    parts = path.split("/")
    if path.startswith(("/", "~")) or ":" in path or "\\" in path or ".." in parts or ".git" in parts:
        return False
    # A pattern of names may bring a file with secrets: `.*`, `src/.e*`, `keys/*.pem`.
    if any(part.startswith(".") and _GLOB.search(part) for part in parts):
        return False
    return places.reads(re.sub(r"[*?\[\]]", "x", path)) is None


def _is_revision(word: str) -> bool:
    """A revision or a path, and in neither a file that may hold secrets: `HEAD~2`, `main..topic`, `HEAD:src/a.py`."""
    if not _REVISION.fullmatch(word) or word.startswith(("/", "~", "-")):
        return False
    path = word.rpartition(":")[2]
    return "../" not in word and not word.endswith("/..") and places.reads(path) is None


# The table.


@cache
def _table() -> dict[tuple[str, ...], list[_Spec]]:
    found: dict[tuple[str, ...], list[_Spec]] = {}
    for line in filter(None, READ_ONLY.splitlines()):
        names, _, rest = line.partition(": ")
        flags, valued, operands = (part.strip() for part in rest.split(";"))
        spec = _Spec(*_apart(flags, operands), *_apart(valued, operands), operands)
        for key in _keys(names.split()):
            found.setdefault(key, []).append(spec)
    return found


def _keys(names: list[str]) -> list[tuple[str, ...]]:
    """`git stash list` is one program with its subcommands; `grep egrep` are two programs."""
    is_one = names[0] in _WITH_SUBCOMMANDS
    return [tuple(names)] if is_one else [(name,) for name in names]


def _apart(options: str, operands: str) -> tuple[frozenset[str], str]:
    """Whole options, and the letters that may stand together; an option of find is a whole word behind one dash."""
    whole = {
        word
        for word in options.split()
        if word.startswith("--") or not word.startswith("-") or operands == "find"
    }
    return frozenset(whole), "".join(word[1:] for word in options.split() if word not in whole)
