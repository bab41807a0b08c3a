"""Tells which commands of a project test, lint, type-check, build or format, by their names and tools. Pure.

A name or tool that is not certainly one of these has no kind: nobody then proposes a rule for it.
"""

from __future__ import annotations

import re
import shlex
from typing import Final, Literal

from maestro.redact import clean

Kind = Literal["test", "lint", "type", "build", "format"]

_BY_WORD: Final[dict[str, Kind]] = {
    **dict.fromkeys(("test", "tests", "unittest", "unittests", "unit", "spec", "specs", "pytest", "jest", "vitest"), "test"),
    **dict.fromkeys(("lint", "linter", "eslint", "stylelint", "clippy", "flake8", "pylint", "ruff", "vet"), "lint"),
    **dict.fromkeys(("types", "typecheck", "typechecks", "typing", "tsc", "mypy", "pyright"), "type"),
    **dict.fromkeys(("build", "compile"), "build"),
    **dict.fromkeys(("format", "fmt", "formatting", "prettier", "black"), "format"),
}  # fmt: skip
# A name with one of these does more than its first word says, or does not end by itself.
_NEVER: Final = frozenset(
    {"deploy", "deploys", "deployment", "publish", "release", "releases", "clean", "clear", "install", "uninstall",
     "dev", "develop", "serve", "server", "start", "stop", "restart", "watch", "preview", "push", "pull", "upload",
     "download", "migrate", "migration", "migrations", "seed", "db", "database", "docker", "image", "container",
     "prod", "production", "staging", "live", "storybook", "setup", "init", "reset", "update", "upgrade", "bump",
     "version", "prepare", "open", "ui", "debug", "inspect", "remote", "cloud", "aws", "gcp", "azure", "k8s", "helm",
     "terraform", "infra", "e2e", "smoke", "load", "destroy", "delete", "remove", "purge", "drop", "commit", "tag",
     "git", "sign", "notarize", "dist", "wheel", "sdist", "package", "pack", "shell", "repl", "rebuild"}
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:./-]{0,59}")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_TEST: Final = "no test specified"  # what `npm init` writes
_WATCHES: Final = re.compile(
    r"(?:^|\s)(?:--watch(?:All|-all)?\b|watch\b|nodemon\b)|\b(?:tsc|vite|vitest|jest|mocha|ava|webpack|rollup)\b.*\s-w\b"
)

# Tools by the words that they are called with; the longest that fits counts.
_CALLED: Final[dict[Kind, tuple[str, ...]]] = {
    "test": ("pytest", "unittest", "jest", "vitest run", "mocha", "ava", "node --test", "cargo test", "cargo nextest run",
             "go test", "bun test", "tox", "nox", "ctest", "mvn test", "gradle test", "./gradlew test", "rspec",
             "dotnet test", "mix test", "swift test", "phpunit"),
    "lint": ("ruff check", "flake8", "pylint", "eslint", "cargo clippy", "go vet", "golangci-lint run", "shellcheck",
             "stylelint", "biome check", "biome lint", "oxlint", "yamllint", "hadolint", "rubocop", "markdownlint"),
    "type": ("mypy", "pyright", "basedpyright", "tsc --noEmit", "vue-tsc --noEmit", "cargo check", "ty check"),
    "build": ("cargo build", "go build", "tsc", "vite build", "next build", "webpack", "rollup -c", "dotnet build"),
    "format": ("black", "ruff format", "prettier", "cargo fmt", "gofmt", "go fmt", "isort", "biome format", "rustfmt"),
}  # fmt: skip
_TOOLS: Final = {tuple(words.split()): kind for kind, called in _CALLED.items() for words in called}
_RUN_THROUGH: Final = (
    ("npx",), ("pnpm", "exec"), ("uv", "run"), ("poetry", "run"), ("bundle", "exec"), ("python", "-m"), ("python3", "-m"),
)  # fmt: skip
# Whoever is called so runs a script whose text stands elsewhere.
RUNNERS: Final = frozenset(
    {"npm", "pnpm", "yarn", "bun", "make", "gmake", "hatch", "pdm", "tox", "nox", "just", "task"}
)
# No variables, no operators, no second command, no comment: the line is what runs.
_PLAIN_LINE: Final = re.compile(r"[^$`|&;<>(){}#\\\n\r]{1,200}")
_LONGEST: Final = 4_000


def kind_of_name(name: str) -> Kind | None:
    """Returns the kind of a script by its name; None where the name does not certainly say it."""
    if not _NAME.fullmatch(name) or ".." in name:
        return None
    words = [word for word in re.split(r"[^a-z0-9]+", _HUMP.sub("-", name).lower()) if word]
    if not words or not _NEVER.isdisjoint(words):
        return None
    first, *others = words
    if first == "type" and others[:1] in (["check"], ["checks"], ["checking"]):
        return "type"
    if first != "check":
        return _BY_WORD.get(first)
    # `check-types` says what is checked; `check` alone runs the tests.
    return _BY_WORD.get(others[0]) if others else "test"


def is_endless(text: str) -> bool:
    """Tells whether a script waits for changes, or is the placeholder for tests that nobody wrote."""
    return _NO_TEST in text or _WATCHES.search(text) is not None


def kind_of_line(line: str) -> Kind | None:
    """Returns the kind of a command line that calls one well-known tool; None for every other line."""
    words = [] if is_endless(line) else split_line(line)
    for through in _RUN_THROUGH:
        if tuple(words[: len(through)]) == through:
            words = words[len(through) :]
            break
    if words[:1] == ["tsc"] and "--noEmit" in words:
        return "type"
    fitting = (called for called in _TOOLS if tuple(words[: len(called)]) == called)
    longest = max(fitting, key=len, default=None)
    return None if longest is None else _TOOLS[longest]


def split_line(line: str) -> list[str]:
    """Returns the words of one plain command; none where the line has variables, operators or open quotes."""
    if not _PLAIN_LINE.fullmatch(line):
        return []
    try:
        return shlex.split(line)
    except ValueError:
        return []


def is_plain(text: str, breaks: str = "\n\t") -> bool:
    """Tells whether a text has no character that nobody sees, none that is half of one, and a length to look at."""
    if not text.strip() or len(text) > _LONGEST:
        return False
    bare = "".join(sign for sign in text if sign not in breaks)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return clean(bare) == bare and "\n" not in bare and "\t" not in bare
