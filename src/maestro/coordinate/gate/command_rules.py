"""The table of commands, and which of its patterns say most about one command. Pure."""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import Final, NamedTuple

from maestro.coordinate.gate.command_table import COMMANDS
from maestro.coordinate.gate.deeds import Effect

_VALUED: Final = {
    "git": {"-C", "-c", "--git-dir", "--work-tree", "--namespace"},
    "docker": {"-H", "--host", "--context", "-l", "--log-level", "-f", "--file", "-p", "--project-name"},
    "docker-compose": {"-f", "--file", "-p", "--project-name"},
    "kubectl": {"-n", "--namespace", "--context", "--kubeconfig", "--cluster"},
    "helm": {"-n", "--namespace", "--kube-context"},
    "npm": {"--prefix", "-w", "--workspace"}, "pnpm": {"-C", "--dir", "--filter", "-F"}, "yarn": {"--cwd"},
    "make": {"-C", "-f", "-j", "-I"}, "gmake": {"-C", "-f", "-j"}, "cargo": {"--manifest-path", "--color", "-Z"},
    "go": {"-C"}, "aws": {"--profile", "--region", "--output", "--endpoint-url"}, "gcloud": {"--project", "--format"},
    "gh": {"-R", "--repo"}, "poetry": {"-C", "-P"}, "uv": {"--directory", "--project", "-p"}, "alembic": {"-c", "-n", "-x"},
    "systemctl": {"-H", "-M"}, "just": {"-f", "-d", "--justfile"}, "task": {"-t", "-d"}, "rsync": {"-e", "--exclude", "--include"},
    "redis-cli": {"-h", "-p", "-a", "-n", "-u"}, "ssh": {"-p", "-i", "-l", "-o"}, "vercel": {"--cwd", "--scope"},
    "terraform": {"-chdir"}, "ninja": {"-C", "-f", "-j"}, "samu": {"-C"}, "fastboot": {"-s"}, "adb": {"-s", "-P", "-H"}, "supabase": {"--workdir"}, "flask": {"--app", "-A", "--env-file"}, "heroku": {"-a", "--app", "-r"},
    "fly": {"-a", "--app"}, "flyctl": {"-a", "--app"}, "wrangler": {"-c", "--config", "-e", "--env"},
}  # fmt: skip


_NEAR: Final = 24


class Rule(NamedTuple):
    operands: tuple[frozenset[str], ...]
    flags: tuple[frozenset[str], ...]
    end: str  # "." no further operand, "*" at least one more, "" either
    effects: tuple[Effect, ...]

    @property
    def weight(self) -> int:
        return len(self.operands) + len(self.flags) + (self.end == ".")


@cache
def _table() -> dict[str, tuple[Rule, ...]]:
    rules: dict[str, list[Rule]] = {}
    for line in filter(None, COMMANDS.splitlines()):
        effect, _, patterns = line.partition(":")
        if not re.fullmatch(r"[a-zA-Z][\w \-+?]*", effect):
            raise AssertionError(line)
        for pattern in patterns.strip().split(";"):
            _add_rule(rules, effect, pattern.strip())
    return {name: tuple(found) for name, found in rules.items()}


def _add_rule(rules: dict[str, list[Rule]], effect: str, pattern: str) -> None:
    is_doubtful = effect.endswith("?") or pattern.endswith("?")
    names, *words = pattern.rstrip("? ").split()
    effects = tuple(_effect(category, is_doubtful=is_doubtful) for category in effect.rstrip("?").split("+"))
    end = words.pop() if words and words[-1] in {".", "*", "*|."} else ""
    groups = [frozenset(word.split("|")) for word in words]
    flags = tuple(group for group in groups if all(word.startswith("-") for word in group))
    operands = tuple(group for group in groups if group not in flags)
    for name in names.split("|"):
        rules.setdefault(name, []).append(Rule(operands, flags, "" if end == "*|." else end, effects))


def _effect(category: str, *, is_doubtful: bool) -> Effect:
    if category == "read":
        return Effect("read")
    if category == "change":
        return Effect("change")
    return Effect("wary" if is_doubtful else "sure", category)


@cache
def known_programs() -> frozenset[str]:
    """Every program that the table has something to say of."""
    return frozenset(_table())


def best_rules(name: str, words: list[str]) -> list[Rule]:
    """The rules that say most about a command; grave ones also where its first words may be values of options."""
    operands, flags = taken_apart(name, words)
    best = _best(name, operands, flags)
    shorter = operands
    # Only the first few can be values of the program's own options: a subcommand stands near the front.
    for before, word in itertools.pairwise(words[:_NEAR]):
        if before.startswith("-") and "=" not in before and shorter[:1] == [word]:
            shorter = shorter[1:]
            best += [
                rule
                for rule in _best(name, shorter, flags)
                if rule.operands and rule.effects[0].level == "sure"
            ]
    return best


def _best(name: str, operands: list[str], flags: list[str]) -> list[Rule]:
    fitting = [rule for rule in _table().get(name, ()) if _fits(rule, operands, flags)]
    weight = max((rule.weight for rule in fitting), default=0)
    best = [rule for rule in fitting if rule.weight == weight]
    grave = [rule for rule in fitting if rule.effects[0].level == "sure"]
    if any(rule in grave for rule in best):
        return grave
    # An option that makes a command grave counts whatever operands a milder pattern names, unless that has an option too.
    is_asked_for = any(rule.flags for rule in best)
    return best if is_asked_for else best + [rule for rule in grave if rule.flags]


def _fits(rule: Rule, operands: list[str], flags: list[str]) -> bool:
    if len(rule.operands) > len(operands):
        return False
    if not all(word in wanted for wanted, word in zip(rule.operands, operands, strict=False)):
        return False
    further = len(operands) - len(rule.operands)
    if (rule.end == "." and further) or (rule.end == "*" and not further):
        return False
    return all(any(has_flag(flags, option) for option in wanted) for wanted in rule.flags)


def has_flag(flags: list[str], option: str) -> bool:
    if option.startswith("--"):
        return any(flag == option or flag.startswith(option + "=") for flag in flags)
    if len(option) == 2:
        return any(
            # `-XPOST`: a letter with its value is no cluster of letters.
            flag == option or (re.fullmatch(r"-(?!X)[A-Za-z0-9]+", flag) and option[1] in flag[1:])
            for flag in flags
        )
    return option in flags


def taken_apart(name: str, words: list[str]) -> tuple[list[str], list[str]]:
    """Operands and options; values of options that take one are neither."""
    valued = _VALUED.get(name, set())
    operands: list[str] = []
    flags: list[str] = []
    skip = is_over = False
    for word in words:
        if skip:
            skip = False
        elif is_over:
            operands.append(word)
        elif word == "--":
            flags.append(word)
            is_over = True
        elif word.startswith("-") and len(word) > 1:
            flags.append(word)
            skip = word in valued and operands in ([], ["compose"])
        elif word.startswith("+") and name in {"cargo", "rustc", "chmod"} and name != "chmod":
            flags.append(word)
        else:
            operands.append(word)
    return operands, flags
