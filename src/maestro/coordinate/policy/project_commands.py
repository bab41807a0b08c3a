"""Finds the commands by which a project tests, lints, type-checks, builds and formats itself, in the texts of its files. Pure.

    package.json    scripts, for the package manager that the project uses
    Makefile        targets with their recipes
    pyproject.toml  pytest, ruff, mypy, black, tox, nox; scripts of hatch and pdm
    Cargo.toml, go.mod
    .github/workflows/*.yml, .gitlab-ci.yml    lines that call a well-known tool

Each command has a text of its own: all that its script runs, also by other scripts. What the project brings is data: nothing
here runs, and what cannot be told for certain is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from maestro.coordinate import AnswerRule
from maestro.coordinate.policy.ci_lines import github_lines, gitlab_lines
from maestro.coordinate.policy.command_kinds import (
    RUNNERS,
    Kind,
    is_endless,
    is_plain,
    kind_of_line,
    kind_of_name,
    split_line,
)
from maestro.coordinate.policy.makefile_text import Makefile, NotTold
from maestro.coordinate.policy.script_tables import Scripts, json_object, python_scripts, toml_table
from maestro.redact import redact

PACKAGE: Final = "package.json"
PYPROJECT: Final = "pyproject.toml"
CARGO: Final = "Cargo.toml"
GO: Final = "go.mod"
MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
GITHUB: Final = ".github/workflows/"
GITLAB: Final = ".gitlab-ci.yml"
LOCKS: Final[dict[str, str]] = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
}
LARGEST: Final = 128 * 1024  # bytes of one file; parsers of larger ones may take very long
_CARGO_COMMANDS: Final[tuple[tuple[Kind, str], ...]] = (
    ("test", "cargo test"),
    ("type", "cargo check"),
    ("lint", "cargo clippy"),
    ("build", "cargo build"),
    ("format", "cargo fmt"),
    ("format", "cargo fmt --check"),
)
_GO_COMMANDS: Final[tuple[tuple[Kind, str], ...]] = (
    ("test", "go test ./..."),
    ("lint", "go vet ./..."),
    ("build", "go build ./..."),
    ("format", "go fmt ./..."),
)
_PYTHON_COMMANDS: Final[dict[str, tuple[tuple[Kind, str], ...]]] = {
    "pytest": (("test", "pytest"), ("test", "python -m pytest")),
    "ruff": (("lint", "ruff check"), ("lint", "ruff check ."), ("format", "ruff format"), ("format", "ruff format .")),
    "mypy": (("type", "mypy"), ("type", "mypy .")),
    "black": (("format", "black ."), ("format", "black --check .")),
    "nox": (("test", "nox"),),
}  # fmt: skip
_MOST_NOTES: Final = 20
_ORDER: Final[tuple[Kind, ...]] = ("test", "lint", "type", "build", "format")


T = TypeVar("T")


class ProjectCommand(NamedTuple):
    kind: Kind
    command: str  # the exact line
    source: str  # the file that says so
    text: str  # all that it runs, as far as the project's files say


class Commands(NamedTuple):
    found: tuple[ProjectCommand, ...]
    notes: tuple[str, ...]  # sentences: which file, or which part of it, was not understood


def rule_of(found: ProjectCommand) -> AnswerRule:
    """Returns the rule that answers this command, and no other, as long as its text stays as it is."""
    return AnswerRule(
        pattern=re.escape(found.command),
        answer="Choose 1",
        kinds=("permission",),
        name=f"{found.kind}: {found.command} ({found.source})",
        source=found.source,
        digest=text_digest(found.text),
    )


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def still_as_confirmed(rule: AnswerRule, text_now: str | None) -> bool:
    """Tells whether a rule still stands for what the person confirmed. `text_now` is None where its script is gone."""
    return not rule.digest or (text_now is not None and text_digest(text_now) == rule.digest)


def project_commands(files: Mapping[str, bytes]) -> Commands:
    """Returns the commands that these files hold, those of a kind together; of equal ones the first file's.

    `files` has the content of each file by its path below the project; of a lock file its name is enough.
    """
    notes: list[str] = []
    texts = {
        name: text for name, content in files.items() if (text := _decoded(name, content, notes)) is not None
    }
    found: dict[str, ProjectCommand] = {}
    for one in _all_of(texts, notes):
        if is_plain(one.command, "") and is_plain(one.text) and redact(one.command) == one.command:
            found.setdefault(one.command, one)
    ordered = sorted(found.values(), key=lambda one: _ORDER.index(one.kind))
    return Commands(tuple(ordered), tuple(notes))


def _all_of(texts: Mapping[str, str], notes: list[str]) -> Iterator[ProjectCommand]:
    scripts = Scripts()
    package = _parsed(PACKAGE, texts, json_object, notes)
    python = _parsed(PYPROJECT, texts, toml_table, notes)
    makefile_name = next((name for name in MAKEFILES if name in texts), "")
    makefile = _parsed(makefile_name, texts, Makefile, notes) if makefile_name else None
    scripts.add_package(package or {})
    python_found = list(python_scripts(python or {}, scripts))
    if makefile is not None:
        _add_targets(makefile_name, makefile, scripts, notes)
    yield from _of_package(package or {}, texts, scripts)
    yield from _of_makefile(makefile_name, scripts)
    yield from _of_python(python or {}, scripts, python_found)
    cargo = _parsed(CARGO, texts, toml_table, notes) or {}
    if "package" in cargo or "workspace" in cargo:
        yield from (ProjectCommand(kind, line, CARGO, line) for kind, line in _CARGO_COMMANDS)
    if re.search(r"^module\s+\S", texts.get(GO, ""), re.MULTILINE):
        yield from (ProjectCommand(kind, line, GO, line) for kind, line in _GO_COMMANDS)
    yield from _of_ci(texts, notes, _added_options(python or {}))


# Files with scripts.


def _add_targets(source: str, makefile: Makefile, scripts: Scripts, notes: list[str]) -> None:
    """Adds every target: a script of another file may make one that no rule is proposed for."""
    for target in makefile.targets:
        try:
            scripts.add("make", target, makefile.recipe(target))
        except NotTold as why:
            scripts.add("make", target, None)
            if kind_of_name(target) is not None and len(notes) < _MOST_NOTES:
                notes.append(f"{source}: {target} is left out: {why}.")


def _of_package(
    package: Mapping[str, Any], texts: Mapping[str, str], scripts: Scripts
) -> Iterator[ProjectCommand]:
    manager = _manager(package, texts)
    for name in scripts.names("npm"):
        kind, text = kind_of_name(name), scripts.whole_text("npm", name)
        if kind is None or not text or is_endless(text) or "\n" in scripts.own_text("npm", name):
            continue
        for line in _calls(manager, name):
            yield ProjectCommand(kind, line, PACKAGE, text)


def _calls(manager: str, name: str) -> tuple[str, ...]:
    """Returns the lines by which a package manager runs a script."""
    if manager == "npm":
        return ("npm test", "npm run test") if name == "test" else (f"npm run {name}",)
    # `bun test` is a program of bun's own, and not the script.
    return (f"bun run {name}",) if manager == "bun" else (f"{manager} {name}", f"{manager} run {name}")


def _manager(package: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    named = package.get("packageManager")
    word = named.partition("@")[0] if isinstance(named, str) else ""
    if word in set(LOCKS.values()):
        return word
    return next((manager for lock, manager in LOCKS.items() if lock in texts), "npm")


def _of_makefile(source: str, scripts: Scripts) -> Iterator[ProjectCommand]:
    for name in scripts.names("make"):
        kind, text = kind_of_name(name), scripts.whole_text("make", name)
        if kind is not None and text and not is_endless(text):
            yield ProjectCommand(kind, f"make {name}", source, text)


def _of_python(
    python: Mapping[str, Any], scripts: Scripts, called: list[tuple[str, str, str]]
) -> Iterator[ProjectCommand]:
    for family, name, line in called:
        kind = "test" if line == "tox" else kind_of_name(name)
        text = scripts.whole_text(family, name)
        if kind is not None and text and not is_endless(text):
            yield ProjectCommand(kind, line, PYPROJECT, text)
    tools = python.get("tool")
    tools = tools if isinstance(tools, dict) else {}
    through = [name for name in ("uv", "poetry") if name in tools]
    for tool, lines in _PYTHON_COMMANDS.items():
        if tool not in tools:
            continue
        added = f" {_added_options(python)}" if tool == "pytest" and _added_options(python) else ""
        for kind, line in lines:
            yield ProjectCommand(kind, line, PYPROJECT, f"{line}{added}")
        for runner in through:
            for kind, line in dict(reversed(lines)).items():
                called_by = f"{runner} run {line}"
                yield ProjectCommand(kind, called_by, PYPROJECT, f"{called_by}{added}")


def _added_options(python: Mapping[str, Any]) -> str:
    """Returns the options that pyproject.toml adds to every call of pytest."""
    place: Any = python
    for key in ("tool", "pytest", "ini_options", "addopts"):
        place = place.get(key) if isinstance(place, dict) else None
    given = place if isinstance(place, list) else [place]
    return " ".join(" ".join(word.split()) for word in given if isinstance(word, str))


# CI.


def _of_ci(texts: Mapping[str, str], notes: list[str], added: str) -> Iterator[ProjectCommand]:
    for name in sorted(texts):
        read = gitlab_lines if name == GITLAB else github_lines if name.startswith(GITHUB) else None
        if read is None:
            continue
        for line in _parsed(name, texts, read, notes) or ():
            kind = kind_of_line(line)
            # A script's text stands in another file, whose commands are proposed already.
            if kind is not None and split_line(line)[0] not in RUNNERS:
                is_pytest = added and "pytest" in split_line(line)[:3]
                yield ProjectCommand(kind, line, name, f"{line} {added}" if is_pytest else line)


def _parsed(name: str, texts: Mapping[str, str], read: Callable[[str], T], notes: list[str]) -> T | None:
    """Returns what a reader makes of a file; None, with a note, where it cannot."""
    if name not in texts:
        return None
    try:
        return read(texts[name])
    except NotTold as why:
        notes.append(f"{name} is left out: {why}.")
    except (ValueError, RecursionError):
        notes.append(f"{name} is left out: it cannot be parsed.")
    return None


def _decoded(name: str, content: bytes, notes: list[str]) -> str | None:
    if name in LOCKS:
        return ""
    if len(content) > LARGEST:
        notes.append(f"{name} is left out: it has over {LARGEST:,} bytes.")
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append(f"{name} is left out: it is not UTF-8.")
        return None
