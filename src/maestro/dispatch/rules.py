"""Rules: what is put before a prompt, as Markdown files. The package's, the user's, the project's: the last one wins."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import Final, NamedTuple

from maestro import confined
from maestro.dispatch.runs import checked_id
from maestro.errors import InvalidInput, NotFound
from maestro.trust.project import ProjectTrust

BUILT_IN: Final = "built in"


class Rule(NamedTuple):
    name: str
    purpose: str  # its first line
    text: str
    place: str  # BUILT_IN, or the file


def rules(home: str, state: str) -> dict[str, Rule]:
    """Every rule that can be used here, by name."""
    found = {}
    for entry in (files("maestro.dispatch") / "rules").iterdir():
        if entry.name.endswith(".md"):
            name = entry.name.removesuffix(".md")
            found[name] = _rule(name, entry.read_text(encoding="utf-8"), BUILT_IN)
    for folder, may_link in ((os.path.join(home, "rules"), True), (os.path.join(state, "rules"), False)):
        for name, path in _files_in(os.path.realpath(folder) if may_link else folder):
            try:
                text = confined.read(os.path.realpath(path) if may_link else path).decode()
                found[name] = _rule(name, text, path)
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput(f"The rule {path} cannot be read: {error}.") from error
    return dict(sorted(found.items()))


def rule_named(name: str, home: str, state: str) -> Rule:
    known = rules(home, state)
    if name not in known:
        raise NotFound(f"There is no rule “{name}”.", hint=f"There are: {', '.join(known)}.")
    return known[name]


def trusted_rule(name: str, trust: ProjectTrust, state: str) -> Rule:
    """Returns a rule that may be put before a prompt: one of the project's only when the person trusts it."""
    rule = rule_named(name, trust.home, state)
    if rule.place == BUILT_IN:
        return rule
    content = trust.read(rule.place)
    return rule if content is None else _rule(name, content.decode(), rule.place)


def under_rule(rule: Rule, prompt: bytes) -> bytes:
    return rule.text.strip().encode() + b"\n\n---\n\n" + prompt


def _files_in(folder: str) -> list[tuple[str, str]]:
    try:
        names = sorted(name for name in confined.names(folder) if name.endswith(".md"))
    except OSError:
        return []
    return [(checked_id(name.removesuffix(".md")), os.path.join(folder, name)) for name in names]


def _rule(name: str, text: str, place: str) -> Rule:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return Rule(name, first.lstrip("# ").strip(), text, place)
