"""What one simple command does, and what a command line does as a whole. Pure.

A command that is not in the table is not read-only. Whether it is let through: where nothing but certain matches stop
(`sure`), a program of the project (`./scripts/check`) or one that is asked for something harmless (`tool lint`) passes,
because workers run the project's own tools all day; any other unknown program stops, because a table can never hold
every dangerous one. Where doubt stops (`wary`), only the project's own programs and `--help` pass.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from maestro.coordinate.gate import arguments, places, statements, task_names
from maestro.coordinate.gate import command_rules as rules
from maestro.coordinate.gate.deed_words import command_does
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE, Effect, Level
from maestro.coordinate.gate.shell import SHELLS, Command, Line, parse_shell

_ASKS: Final = frozenset({"--version", "--help", "-h", "-V", "version", "help", "-help", "-version", "/?"})
_HARMLESS_WORDS: Final = frozenset(
    {"list", "ls", "show", "status", "check", "test", "tests", "lint", "build", "fmt", "format", "info", "get", "describe", "search",
     "validate", "diff", "view", "logs", "print", "compile", "typecheck", "doctor", "explain", "query", "dev", "watch", "docs", "bench"}
)  # fmt: skip
_POWERSHELL: Final = re.compile(
    r"^(?:add|clear|copy|disable|enable|invoke|move|new|out|register|remove|rename|reset|restart|set|start|stop|uninstall|unregister|update|write|publish|send|install|grant|revoke)-[a-z]+$",
    re.IGNORECASE,
)
_DOWNLOADERS: Final = frozenset(
    {"curl", "wget", "aria2c", "http", "https", "xh", "iwr", "irm", "invoke-webrequest",
     "invoke-restmethod", "fetch", "lynx", "nc", "ncat", "scp", "ftp", "gsutil", "aws"}
)  # fmt: skip
_RUNS_FILES: Final = frozenset(
    {*SHELLS, "python", "node", "perl", "ruby", "php", "source", ".", "chmod", "dpkg", "rpm", "installer",
     "pip", "make", "java", "sudo", "msiexec", "start-process"}
)  # fmt: skip
# Where somebody puts a file to run it.
_OWN_PLACES: Final = ("./", "/tmp/", "~/")  # noqa: S108 - named, never written to
_COMPILERS: Final = frozenset(
    {"gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "rustc", "go", "ghc", "swiftc", "dmd", "ldc2",
     "gdc", "nim", "zig", "crystal", "fpc", "ocamlopt", "ocamlfind", "gnatmake", "nvcc", "hipcc", "kotlinc", "v"}
)  # fmt: skip
# Frameworks, and their words for a prompt that has the application's data at hand.
_CONSOLES: Final = frozenset(
    {"python", "flask", "rails", "php", "artisan", "django-admin", "wp", "drush", "mix"}
)
_CONSOLE_WORDS: Final = frozenset({"shell", "shell_plus", "console", "tinker", "runner", "eval", "php:eval"})
# These run what the project itself calls so, or what it has installed.
_PROJECT_RUNNERS: Final = frozenset(
    {
        "hatch run",
        "pdm run",
        "rye run",
        "poetry run",
        "pipenv run",
        "uv run",
        "mise exec",
        "bundle exec",
        "pixi run",
        "devbox run",
    }
)
# Programs that only show something, by how such are called.
_SHOWS: Final = re.compile(
    r"[\w-]{2,}(?:info|stats?|(?<!s)top|viewer|probe|lint|pretty|beautify|-smi|-inspect)$"
)
_FETCH_AND_RUN: Final = frozenset(
    {"npx", "bunx", "uvx", "pnpm dlx", "yarn dlx", "pipx run", "npm exec", "bun x"}
)


def effects_of(text: str) -> tuple[Effect, ...]:
    """Everything that a command line does; one `read` where it only reads."""
    return line_effects(parse_shell(text), text)


def line_effects(line: Line, text: str = "") -> tuple[Effect, ...]:
    found: list[Effect] = []
    if line.unreadable:
        found.append(Effect("sure", UNREADABLE, line.unreadable, text[:80]))
    built: set[str] = set()
    written = {redirect.target.text for redirect in line.redirects if redirect.writes}
    for command in line.commands:
        effects = command_effects(command)
        found += [each for each in effects if command.path not in built or each.category != UNKNOWN]
        built |= _built(command, written)
    for redirect in line.redirects:
        target = redirect.target.text
        if redirect.writes:
            found.append(Effect("change"))
            if ">>" not in redirect.operator and not redirect.has_content and not target.startswith("/dev/"):
                found.append(
                    Effect("sure", "file deletion", "it empties a file", f"{redirect.operator} {target}")
                )
            found += arguments.placed(places.writes(target), f"{redirect.operator} {target}")
        elif (place := places.reads(target)) or (
            place := next(iter(places.writes(target)), None) if target.startswith("/dev/") else None
        ):
            found += arguments.placed((place,), f"{redirect.operator} {target}")
    found += _fetched(line)
    if (
        not line.commands
        and not line.redirects
        and not line.unreadable
        and text.strip()
        and not text.strip().startswith("#")
    ):
        found.append(Effect("change"))
    return tuple(dict.fromkeys(found)) or (Effect("read"),)


def _built(command: Command, written: set[str]) -> set[str]:
    """The program that a compiler makes of the project's sources: what the line writes itself is none of these."""
    words = command.arguments
    if command.name not in _COMPILERS or command.stdin or command.fed_by or not written.isdisjoint(words):
        return set()
    if "-" in words or (command.name in {"go", "zig", "swift", "crystal", "nim"} and words[:1] == ("run",)):
        return set()
    made = {after for option, after in itertools.pairwise(words) if option in {"-o", "--output"}}
    made |= {word[2:] for word in words if re.match(r"-o[\w./~]", word)}
    return {
        path
        for path in made
        if "/" in path and not places.writes(path) and not task_names.risky_names([task_names.stem(path)])
    }


def _fetched(line: Line) -> list[Effect]:
    """What was fetched, and then run."""
    names = [command.name for command in line.commands]
    fetchers = [name for name in names if name in _DOWNLOADERS]
    found = []
    for command in line.commands:
        if command.runs_input and (command.fed_by or not command.stdin):
            feeding = [name for name in command.fed_by if name in _DOWNLOADERS]
            if feeding:
                found.append(
                    Effect(
                        "sure",
                        "network fetch-and-run",
                        "it runs what it fetches",
                        f"{feeding[0]} | {command.name}",
                    )
                )
            elif command.fed_by and not command.stdin:
                found.append(
                    Effect(
                        "sure",
                        UNREADABLE,
                        "it runs what another command prints",
                        f"{command.fed_by[-1]} | {command.name}",
                    )
                )
            elif not command.fed_by and not command.stdin and not command.words:
                found.append(
                    Effect(
                        "wary", UNKNOWN, "it starts a shell or interpreter that waits for input", command.name
                    )
                )
    runs = [c for c in line.commands if c.name in _RUNS_FILES or c.path.startswith(_OWN_PLACES)]
    if fetchers and line.unreadable:
        found.append(Effect("sure", "network fetch-and-run", "it runs what it fetches", fetchers[0]))
    elif fetchers and any(_runs_file(command) for command in runs):
        found.append(
            Effect(
                "sure",
                "network fetch-and-run",
                "it fetches something and runs a file",
                f"{fetchers[0]} … {runs[-1].path}",
            )
        )
    elif any(c.name == "git" and "clone" in c.arguments for c in line.commands) and len(runs) > 0:
        found.append(
            Effect("sure", "network fetch-and-run", "it clones something and runs a file", runs[-1].path)
        )
    return found


def _runs_file(command: Command) -> bool:
    if command.code or command.runs_input or "-m" in command.arguments:
        return False
    if command.name in {"pip", "make"} and not any("/" in word for word in command.arguments):
        return command.name == "make"
    return command.name != "chmod" or any("x" in word or word[:1] == "7" for word in command.arguments[:1])


def command_effects(command: Command) -> list[Effect]:
    """What one simple command does."""
    found = arguments.variable_effects(command)
    if command.name == "=":
        return found or [Effect("change")]
    shown = " ".join((command.path or command.name, *command.arguments))[:100]
    if command.name.endswith(" -c") or command.name == "eval":
        found.append(Effect("read"))
    else:
        found += [_shown(effect, shown) for effect in _looked_up(command)]
    found += [_shown(effect, shown) for effect in arguments.argument_effects(command)]
    if command.code:
        found += [_shown(Effect(*what), shown) for what in statements.code_effects(command.code)]
    return found


def _shown(effect: Effect, shown: str) -> Effect:
    if effect.level in {"read", "change"}:
        return Effect(effect.level)
    return effect._replace(
        evidence=effect.evidence or shown, why=effect.why or command_does(effect.category, shown.split())
    )


def _looked_up(command: Command) -> list[Effect]:
    name = command.name if command.name in rules.known_programs() else command.name.casefold()
    words = list(command.arguments)
    if (
        any(word in _ASKS for word in words[:1])
        and len(words) <= 2
        and name not in {"init", "shutdown", "halt", "export"}
    ):
        return [Effect("read")]
    if name in statements.CLIENTS:
        return statements.client_effects(name, words, command.stdin)
    operands, flags = rules.taken_apart(name, words)
    if name in _CONSOLES and _CONSOLE_WORDS.intersection(operands[:2]) and _given_code(command):
        return [Effect("sure", "database changes", "it runs code on the application and its data")]
    if (name, *operands[:1]) == ("bq", "query"):
        return statements.query_effects(words[1:])
    best = rules.best_rules(name, words)
    if best:
        found = [effect for rule in best for effect in rule.effects]
        grave = [effect for effect in found if effect.level in {"sure", "wary"}]
        is_dry = (
            any(rules.has_flag(flags, option) for option in ("-n", "--dry-run", "--just-print"))
            and name in task_names.TASK_RUNNERS
        )
        told = task_names.task_effects(name, operands) + task_names.option_effects(name, flags)
        return (grave or found) + ([] if is_dry else told)
    return _unknown(command, operands)


def _given_code(command: Command) -> bool:
    """Whether a console is told what to run: on its input, by an option, or as an operand behind its name."""
    words = command.arguments
    at = next((at for at, word in enumerate(words) if word in _CONSOLE_WORDS), len(words))
    return bool(command.stdin or command.fed_by or words[at + 1 :])


def _unknown(command: Command, operands: list[str]) -> list[Effect]:
    name = command.name
    if _POWERSHELL.match(name):
        return [Effect("sure", UNREADABLE, "PowerShell commands that change something are not looked into")]
    risky = task_names.risky_names([task_names.stem(name)])
    if any(label in _FETCH_AND_RUN for label in command.through):
        # Scaffolding (`npx create-…`) is how projects begin.
        level: Level = "wary" if name.startswith("create-") else "sure"
        return [
            *risky,
            Effect(level, "network fetch-and-run", "it fetches a package that is not known, and runs it"),
        ]
    if command.through and command.through[-1] in _PROJECT_RUNNERS:
        return risky or [Effect("change")]
    if not risky and _SHOWS.match(name) and "/" not in command.path:
        return [Effect("change")]
    if command.path.startswith(
        ("./", "bin/", "scripts/", "tools/", "node_modules/.bin/", ".venv/bin/", "venv/bin/", "vendor/bin/")
    ):
        return risky or [
            Effect("change"),
            *task_names.risky_names([task_names.stem(word) for word in operands[:1]]),
        ]
    if "/" in command.path and not command.path.startswith(("/", "~", "..", "$")):
        return risky or [Effect("change")]
    if name.endswith((".sh", ".py", ".js", ".rb")) and not command.path.startswith(_OWN_PLACES):
        return risky or [Effect("change")]
    why = f"the program {name[:40]} is not known"
    harmless = any(word.casefold() in _HARMLESS_WORDS for word in operands[:2])
    harmless = harmless and not task_names.risky_names(list(command.arguments))
    return [*risky, Effect("wary" if harmless else "sure", UNKNOWN, why)]
