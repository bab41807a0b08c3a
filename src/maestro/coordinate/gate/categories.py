"""Categories as the gate uses them: the words of a policy become matchers. Pure.

A category of `alwaysEscalate` is one of the built-in ones by any of its names, one of the user's own, or words that
nobody defined: those are matched as words, and add whatever built-in categories they speak of.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from maestro.coordinate import CategoryRule, Policy
from maestro.coordinate.gate.folding import fold_text
from maestro.coordinate.gate.vocabulary import BUILT_IN, Category
from maestro.errors import InvalidInput


class Matcher(NamedTuple):
    """One category of a policy, in the policy's own words."""

    name: str
    built_in: tuple[str, ...] = ()  # names of the built-in ones whose matchers it has
    patterns: tuple[re.Pattern[str], ...] = ()  # of its own, on folded text
    commands: tuple[tuple[str, ...], ...] = ()  # of its own: beginnings of commands


_KEYWORDS: Final[tuple[tuple[str, str], ...]] = (
    (r"git|commits?|branch\w*|rebas\w*|push\w*|pull requests?", "git operations"),
    (r"delet\w*|remov\w*|rm|irreversible|destructive|data loss", "file deletion"),
    (r"databases?|db|dbs|migrations?|schemas?|sql|tables?", "database changes"),
    (
        r"security|secure|auth\w*|permissions?|access|vulnerab\w*|encrypt\w*|privacy|trust|exfiltrat\w*",
        "security decisions",
    ),
    (r"keys?|secrets?|credentials?|tokens?|passwords?|certificates?", "API keys"),
    (r"deploy\w*|production|infrastructure|infra|cloud|ci|pipelines?", "deployments"),
    (r"spend\w*|costs?|billing|payments?|money|purchas\w*|subscriptions?|financ\w*", "spending"),
    (r"publish\w*|releas\w*|announc\w*|emails?|communicat\w*", "publishing"),
    (r"system|sudo|root|services|processes|machine", "system changes"),
    (r"download\w*|fetch\w*|remote code|curl|untrusted", "network fetch-and-run"),
)
_EMPTY_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "all",
        "the",
        "of",
        "or",
        "for",
        "to",
        "in",
        "on",
        "with",
        "about",
        "changes",
        "change",
        "changing",
        "decisions",
        "decision",
        "operations",
        "operation",
        "management",
        "managing",
        "actions",
        "action",
        "things",
        "anything",
        "everything",
        "stuff",
        "requests",
        "questions",
        "handling",
        "work",
        "tasks",
        "major",
        "new",
        "external",
        "important",
        "risky",
        "dangerous",
        "sensitive",
        "related",
    ]
)


def known_categories() -> tuple[Category, ...]:
    """The built-in categories, with their names and what each means."""
    return BUILT_IN


@cache
def _names() -> dict[str, str]:
    return {
        _name(word): category.name for category in BUILT_IN for word in (category.name, *category.aliases)
    }


def _name(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", fold_text(word)).strip()


def built_in_named(word: str) -> str:
    """The built-in category that goes by this name; empty where none does."""
    return _names().get(_name(word), "")


@lru_cache(maxsize=64)
def _matchers(
    always: tuple[str, ...], logged: tuple[str, ...], rules: tuple[CategoryRule, ...]
) -> tuple[Matcher, ...]:
    own = {_name(rule.name): rule for rule in rules}
    found = [_matcher(word, own.pop(_name(word), None)) for word in always]
    # A rule that only the log asks for is no reason to stop; any other was written to be kept.
    only_logged = {_name(word) for word in logged}
    return (*found, *(_matcher(rule.name, rule) for name, rule in own.items() if name not in only_logged))


def matchers(policy: Policy) -> tuple[Matcher, ...]:
    """The categories that a policy escalates. Raises InvalidInput where a rule's pattern is no regular expression."""
    return _matchers(policy.always_escalate, policy.always_log, policy.categories)


def _matcher(word: str, rule: CategoryRule | None) -> Matcher:
    named = built_in_named(word)
    if rule is not None:
        commands = tuple(tuple(command.split()) for command in rule.commands if command.strip())
        return Matcher(word, (named,) if named else (), compiled_patterns(rule), commands)
    if named:
        return Matcher(word, (named,))
    plain = _name(word)
    spoken_of = tuple(name for pattern, name in _KEYWORDS if re.search(rf"\b(?:{pattern})\b", plain))
    return Matcher(word, spoken_of, _own_words(plain))


def _own_words(plain: str) -> tuple[re.Pattern[str], ...]:
    """All of its words that mean something, in any order, in one sentence."""
    stems = [
        re.sub(r"(?:ies|es|s|ing|ed)$", "", word)
        for word in re.findall(r"[\w-]+", plain)
        if word not in _EMPTY_WORDS
    ]
    if not stems:
        return ()
    return (re.compile("".join(rf"(?=[^|]*\b{re.escape(stem)})" for stem in stems) + r"[^|]*"),)


def compiled_patterns(rule: CategoryRule) -> tuple[re.Pattern[str], ...]:
    """A rule's patterns. Raises InvalidInput that names the rule and the pattern."""
    found = []
    for pattern in rule.patterns:
        try:
            found.append(re.compile(pattern, re.IGNORECASE))
        except re.error as wrong:
            raise InvalidInput(
                f"The category “{rule.name}” has a pattern that is no regular expression: {pattern!r}: {wrong}.",
                hint="Correct it in coordinate.config.json, under `categories`.",
            ) from wrong
    return tuple(found)
