"""What one simple command does, and what a command line does as a whole. Pure.

A command that is not in the table is not read-only. A program that nobody here knows is stopped where it is told to
change something (`tool cluster create`), where it reaches another machine, and where it is not the project's own; anything
else passes on to rules, a model or the human, because workers run tools all day that no table has.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from maestro.coordinate.gate import arguments, options, places, statements, task_names, verbs
from maestro.coordinate.gate import command_rules as rules
from maestro.coordinate.gate.deed_words import command_does
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE, Effect, Level
from maestro.coordinate.gate.shell import INTERPRETERS, SHELLS, Command, Line, parse_shell

_ASKS: Final = frozenset({"--version", "--help", "-h", "-V", "version", "help", "-help", "-version", "/?"})
_POWERSHELL: Final = re.compile(
    r"^(?:add|clear|copy|disable|enable|invoke|move|new|out|register|remove|rename|reset|restart|set|start|stop|uninstall|unregister|update|write|publish|send|install|grant|revoke)-[a-z]+$",
    re.IGNORECASE,
)
_REDIS_READS: Final = re.compile(
    r"(?i)\s*(?:(?:get|mget|keys|info|ping|scan|ttl|type|llen|lrange|hget|hgetall|hlen|scard|smembers|zrange|zcard|exists|dbsize|select)\b|$)"
)
_COMMAND_OPTION: Final = re.compile(r"-(?:c|e|x|rx|Q)|--(?:exec|execute|eval|command|query|run)")
_OWN_MOUNT: Final = re.compile(r"(?:\$\{?PWD\}?|\$\(pwd\)|`pwd`|\.)(?:/(?!\.\.)[\w.-]+)*:")
_TELLS_SECRETS: Final = re.compile(
    r"(?i)(?:get|read|show|export)-\w*(?:secret|passw|credential|token|apikey)"
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
_OUTSIDE: Final = "deletion outside the project"
_SPOKEN: Final = re.compile(r"[a-z][\w:-]*")  # an operand that is a word: it says what to do
# Where a project's own build puts programs: there a name says nothing of what it is.
_BUILT: Final = re.compile(
    r"(?:\./)?(?:build|target|out|dist|bin/(?:Debug|Release)|cmake-build-\w+|zig-out)/"
)
# Programs that only show something, by how such are called.
_SHOWS: Final = re.compile(
    r"[\w-]{2,}(?:info|stats?|(?<!s)top|viewer|probe|lint|pretty|beautify|-smi|-inspect)$|(?:[\w-]+[-_])?(?:check|lint|verify|validate)\w*$"
)
_DRY_RUN: Final = re.compile(
    r"--dry[-_]?run(?:=(?:client|server|true|all))?|--what-?if|-WhatIf|--simulate|--pretend|--no-?op|--no-act|--dry|--preview-only|--plan-only|--test-only|--check-only|--validate-only"
)
# Options that take no value, in whatever program has them.
_SWITCH: Final = re.compile(
    r"--(?:no-[a-z-]+|yes|assume-yes|force|install|verbose|quiet|silent|json|all|all-tables|prune|atomic|wait|recursive|clean|snapshot|debug|ci|auto-approve"
    r"|non-interactive|tags|follow-tags|workspaces?|allow-dirty|locked|stat|cached|archive|delete|compress|progress|access=\w+)|-(?:y|v|vv|q|d|n|av|avz|az|p|avzn|rv)|--?[\w-]+=\S*"
)
# What is told to them may be meant for what they run, or sent.
_HANDS_ON: Final = frozenset(
    {*SHELLS, *INTERPRETERS, *task_names.TASK_RUNNERS, "ssh", "docker", "podman", "docker-compose", "kubectl exec", "sudo", "doas", "env", "xargs",
     "parallel", "eval", "source", ".", "rm", "curl", "wget", "xh", "aria2c", "nc", "ansible", "salt", "npx", "bunx", "uvx", "pipx", "go", "java", "bazel", "nix"} - {"gradle", "gradlew", "mix"}
)  # fmt: skip
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
    found += _written_and_run(line, written)
    for redirect in line.redirects:
        target = redirect.target.text
        if redirect.writes:
            found.append(Effect("change"))
            if ">>" not in redirect.operator and not redirect.has_content and not target.startswith("/dev/"):
                found.append(
                    Effect("sure", "file deletion", "it empties a file", f"{redirect.operator} {target}")
                )
            if ">>" not in redirect.operator and redirect.is_read:
                found.append(
                    Effect(
                        "sure",
                        "file deletion",
                        "it empties the file before it reads it",
                        f"{redirect.operator} {target}",
                    )
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


def _written_and_run(line: Line, written: set[str]) -> list[Effect]:
    """What a program does that the line itself writes, and then runs."""
    run = {word for command in line.commands for word in (command.path, *command.arguments)}
    if written.isdisjoint(run):
        return []
    contents = [
        command.stdin for command in line.commands if command.name in {"cat", "tee"} and command.stdin
    ]
    return [
        effect._replace(evidence=content[:80])
        for content in contents
        for effect in statements.code_effects(content)
        if effect.level == "sure"
    ]


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
    if _only_checks(command.name, list(command.arguments), command.path):
        return found + [
            _shown(effect, shown) for effect in options.option_effects(command.name, command.arguments)
        ]
    found += [_shown(effect, shown) for effect in arguments.argument_effects(command)]
    if command.name in {"make", "gmake"} and ("-f", "-") in itertools.pairwise(command.arguments):
        found.append(Effect("sure", UNREADABLE, "it runs what another command prints", shown))
    if command.name == "tee" and {"true", ":"} & set(command.fed_by) and "-a" not in command.arguments:
        found.append(Effect("sure", "file deletion", "it empties a file", shown))
    if command.name in {"dig", "nslookup", "host", "ping", "kdig", "drill"} and any(
        not word.is_certain and "." in word.text for word in command.words
    ):
        found.append(Effect("sure", "security decisions", "it may send data out in names", shown))
    if command.name in {"less", "more", "most"} and any(
        re.match(r"\+\S*[!|]", word) for word in command.arguments
    ):
        found.append(Effect("sure", UNREADABLE, "the pager runs a program", shown))
    if command.code:
        found += [
            _shown(Effect(*what), shown) for what in statements.code_effects(command.code, command.name)
        ]
    if any(effect.category == "file deletion" for effect in found) and _reaches_out(command):
        found.append(Effect("sure", _OUTSIDE, command_does(_OUTSIDE, []), shown))
    return found


def _reaches_out(command: Command) -> bool:
    """Whether a path among its arguments is outside of the project, or known only when it runs."""
    if command.code or command.name in {"docker", "podman"}:
        return True
    return any(
        not word.is_certain or re.match(r"/(?!tmp/)|~|\.\.(?:/|$)|[a-z]:\\", word.text, re.IGNORECASE)
        for word in command.words
    )


def _shown(effect: Effect, shown: str) -> Effect:
    if effect.level in {"read", "change"}:
        return Effect(effect.level)
    return effect._replace(
        evidence=effect.evidence or shown, why=effect.why or command_does(effect.category, shown.split())
    )


def _looked_up(command: Command) -> list[Effect]:
    name = command.name if command.name in rules.known_programs() else command.name.casefold()
    words = (
        [word.casefold() for word in command.arguments] if name == "redis-cli" else list(command.arguments)
    )
    if name == "mix" and "-e" in words[:-1]:
        return [Effect(*what) for what in statements.code_effects(words[words.index("-e") + 1])]
    if (
        any(word in _ASKS for word in words[:1])
        # `-h` may name a host, and `version minor` makes one.
        and len(words) <= (1 if words[:1] in (["-h"], ["version"]) else 2)
        and name not in {"init", "shutdown", "halt", "export"}
    ):
        return [Effect("read")]
    if _only_checks(name, words, command.path):
        return [Effect("read")]
    if name == "redis-cli" and not all(map(_REDIS_READS.match, command.stdin.splitlines())):
        return [Effect("sure", "database changes", "it runs commands on a data store")]
    if name in statements.CLIENTS:
        return statements.client_effects(name, words, command.stdin)
    if name in {"docker", "podman"}:
        words = _without_own_mounts(words)
    operands, flags = rules.taken_apart(name, words)
    if (name, *operands[:1]) == ("gh", "api") and ("-X", "GET") in itertools.pairwise(words):
        return [Effect("read")]
    if name == "gh" and operands[:2] == ["api", "graphql"]:
        return [Effect("sure" if any("mutation" in word for word in words) else "read", "deployments")]
    if name in _CONSOLES and _CONSOLE_WORDS.intersection(operands[:2]) and _given_code(command):
        return [Effect("sure", "database changes", "it runs code on the application and its data")]
    if (name, *operands[:1]) == ("bq", "query"):
        return statements.query_effects(words[1:])
    best = [] if _is_built(command.path) else rules.best_rules(name, words)
    verb = verbs.read_verb(name, operands)
    if verb is not None and all(len(rule.operands) <= verb and not rule.flags for rule in best):
        return [Effect("read")]
    if best and not any(rule.operands or rule.flags for rule in best) and _looks(name, words, flags, best):
        return [Effect("read")]
    if operands[:1] in (["publish"], ["unpublish"]) and name != "dotnet" and _is_only_a_tool(best):
        return [Effect("sure", "publishing")]
    if best:
        found = [effect for rule in best for effect in rule.effects]
        grave = [effect for effect in found if effect.level in {"sure", "wary"}]
        is_dry = bool({"-n", "--dry-run", "--just-print", "--pretend"} & set(flags)) and name in {
            "php",
            "artisan",
            *task_names.TASK_RUNNERS,
        }
        told = task_names.task_effects(
            name, [] if command.code else _before_dashes(name, words, operands), flags
        ) + task_names.option_effects(name, flags)
        return (grave or found) + ([] if is_dry else told)
    return _unknown(command, operands)


def _without_own_mounts(words: list[str]) -> list[str]:
    """Without the mounts of the project's own folder: a container that builds it needs them."""
    own = {
        at + 1
        for at, (option, value) in enumerate(itertools.pairwise(words))
        if option in {"-v", "--volume"} and _OWN_MOUNT.match(value)
    }
    return [word for at, word in enumerate(words) if at not in own and at + 1 not in own]


def _is_only_a_tool(best: list[rules.Rule]) -> bool:
    """Whether no more is known of a program than that it changes the project."""
    return bool(best) and all(not rule.operands and rule.effects == (Effect("change"),) for rule in best)


def _before_dashes(name: str, words: list[str], operands: list[str]) -> list[str]:
    """What a task runner is told itself: behind `--` stands what its task is told."""
    if name not in task_names.TASK_RUNNERS or "--" not in words:
        return operands
    return rules.taken_apart(name, words[: words.index("--")])[0]


def _looks(name: str, words: list[str], flags: list[str], best: list[rules.Rule]) -> bool:
    """Whether a program that is known for grave deeds, and not for secrets, is told to look."""
    told = {effect.category for rule in best for effect in rule.effects if effect.level in {"sure", "wary"}}
    return bool(told) and "API keys" not in told and not verbs.act_verb(flags) and verbs.looks(name, words)


def _only_checks(name: str, words: list[str], path: str = "") -> bool:
    """Whether an interpreter looks at a file's syntax only, or a tool tells what it would do."""
    flags = [word for word in words if word.startswith("-")]
    if name in SHELLS:
        return any(re.fullmatch(r"-[a-z]*n[a-z]*", flag) and "c" not in flag for flag in flags)
    if name in {"perl", "ruby"}:
        return any(re.fullmatch(r"-[wW]*c[wW]*", flag) for flag in flags) and not any(
            "e" in flag for flag in flags
        )
    if name in {"node", "nodejs"}:
        return bool({"--check", "-c"} & set(flags)) and not {"-e", "-p", "--eval", "-r", "--require"} & set(
            flags
        )
    if name == "php":
        return "-l" in flags and "-r" not in flags
    if name == "rsync":
        return any(
            flag == "--dry-run" or re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*", flag) for flag in flags
        ) and not any(":" in word for word in words)
    if (name, *words[:1]) == ("git", "clean"):
        return any(flag == "--dry-run" or re.fullmatch(r"-[a-z]*n[a-z]*", flag) for flag in flags)
    if name == "dd":
        return not any(word.startswith("of=") for word in words)
    if name == "tcpdump":
        return any(re.fullmatch(r"-\w*r", flag) for flag in flags) and not any(
            re.match(r"-\w*[wz]", flag) for flag in flags
        )
    if name == "pg_restore":
        return bool({"-l", "--list"} & set(flags)) and "-d" not in flags
    if name == "sysctl":
        return not any(word in {"-w", "-p", "--system", "--load", "--write"} or "=" in word for word in words)
    if name == "pg_dump":
        return bool({"-s", "--schema-only"} & set(flags))
    if name in {"rake", "just", "task", "cap"}:
        return bool(
            {"-T", "-P", "-D", "--tasks", "--list", "-l", "--show", "--summary", "--list-all"} & set(flags)
        )
    if name in {"make", "gmake", "ninja", "snakemake"}:
        return bool({"-n", "--dry-run", "--just-print", "--recon"} & set(flags))
    if name in {*_HANDS_ON, "npm", "pnpm", "yarn"} and "publish" not in words[:2]:
        return False
    if "/" in path and name not in rules.known_programs():
        return False
    own = words[: words.index("--")] if "--" in words else words
    if (name, *words[:1]) in {
        ("git", "rm"),
        ("git", "mv"),
        ("brew", "cleanup"),
        ("p4", "sync"),
    } and "-n" in own:
        return True
    if (name == "goreleaser" and "--snapshot" in own) or (
        name in {"apt", "apt-get"} and {"-s", "--just-print"} & set(own)
    ):
        return True
    if name == "aws" and own[-1:] == ["help"]:
        return True
    if name in {"http", "https"} and "--offline" in own:
        return True
    # A program that does not know such an option refuses it; a script may not look at its options at all. Behind an
    # option that may take a value, it would be that value: `git commit -m --dry-run`.
    return any(
        _DRY_RUN.fullmatch(word) or word in {"--help", "-help"}
        for before, word in zip(["", *own], own, strict=False)
        if not before.startswith("-") or _SWITCH.fullmatch(before)
    )


def _is_built(path: str) -> bool:
    return bool(_BUILT.match(path))


def _given_code(command: Command) -> bool:
    """Whether a console is told what to run: on its input, by an option, or as an operand behind its name."""
    words = command.arguments
    at = next((at for at, word in enumerate(words) if word in _CONSOLE_WORDS), len(words))
    return bool(command.stdin or command.fed_by or words[at + 1 :])


def _unknown(command: Command, operands: list[str]) -> list[Effect]:
    name = command.name
    if (
        _TELLS_SECRETS.match(name)
        or name.endswith(("keygen", "genkey"))
        or verbs.shows_secret(list(command.arguments))
    ):
        return [Effect("sure", "API keys", "it shows a secret")]
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
    told = [word for word in operands[:3] if _SPOKEN.fullmatch(word)]
    if name == "manage.py":
        return statements.django_effects(list(command.arguments))
    if command.through and command.through[-1] in {"python -m", *_PROJECT_RUNNERS}:
        return [*risky, *task_names.risky_names(told[:1])] or [Effect("change")]
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
    if command.path.startswith(("/", "~", "..", "$")):
        return [*risky, Effect("sure", UNKNOWN, f"the program {name[:40]} is not the project's")]
    if verbs.looks(name, list(command.arguments)):
        return [Effect("change")]
    said = (
        risky
        + task_names.risky_names(told)
        + task_names.option_effects(name, list(command.arguments), of_any=True)
    )
    if not said and (
        verb := verbs.act_verb([*re.split(r"[-_.]", name)[1:], *operands])
        or verbs.act_verb([w for w in command.arguments if w.startswith("-")])
    ):
        return [
            Effect(
                "sure",
                UNKNOWN,
                f"the program {name[:40]} is not known, and is told to {verb.lstrip('-')[:40]}",
            )
        ]
    if not said and verbs.is_about_access(operands):
        return [
            Effect(
                "sure",
                "security decisions",
                f"the program {name[:40]} is not known, and changes who may do what",
            )
        ]
    if not said and any(
        _COMMAND_OPTION.fullmatch(one) and " " in other
        for one, other in itertools.pairwise(command.arguments)
    ):
        return [Effect("sure", UNKNOWN, f"the program {name[:40]} is not known, and is told a command")]
    if not said and (other := verbs.remote(command.arguments)):
        return [Effect("sure", UNKNOWN, f"the program {name[:40]} is not known, and reaches {other[:40]}")]
    if not said and (live := verbs.production(list(command.arguments))):
        return [
            Effect("sure", "deployments", f"the program {name[:40]} is not known, and is told {live[:40]}")
        ]
    return said or [Effect("change")]
