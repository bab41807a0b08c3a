"""The agents that prompts may be for: those that everybody has, and those of `agents/NAME.md` files.

A file's front matter may name the CLI and the model of its agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from maestro import confined
from maestro.errors import InvalidInput
from maestro.trust.project import ProjectTrust

BUILT_IN: Final = (
    "api-designer", "architect", "code-reviewer", "coder", "data-engineer", "debugger", "devops-engineer",
    "performance-engineer", "refactor", "security-engineer", "technical-writer", "tester",
)  # fmt: skip
_LARGEST: Final = 1024 * 1024


class RosterAgent(msgspec.Struct, frozen=True):
    name: str
    cli: str = ""
    model: str = ""


def load_roster(trust: ProjectTrust, folders: Sequence[str]) -> dict[str, RosterAgent]:
    """Returns the agents by name; what a later folder has counts more. A project's own must be trusted."""
    found = {name: RosterAgent(name) for name in BUILT_IN}
    for folder in folders:
        try:
            names = sorted(name for name in confined.names(folder) if name.endswith(".md"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for file in names:
            name = file.removesuffix(".md")
            found[name] = _agent(trust, name, os.path.join(folder, file))
    return found


def _agent(trust: ProjectTrust, name: str, path: str) -> RosterAgent:
    try:
        text = (trust.read(path, _LARGEST) or b"").decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The roster's {path} cannot be read: {error}.") from error
    front = _front_matter(text, path)
    return RosterAgent(name, cli=_word(front, "cli"), model=_word(front, "model"))


def _front_matter(text: str, path: str) -> dict[str, Any]:
    if not text.startswith("---\n"):
        return {}
    head, closed, _ = text[4:].partition("\n---")
    if not closed:
        return {}
    import ryaml

    try:
        told = ryaml.loads(head)  # type: ignore[attr-defined]  # its stub does not re-export what the package does
    except ryaml.InvalidYamlError as error:  # type: ignore[attr-defined]  # likewise
        raise InvalidInput(f"The front matter of {path} is not YAML: {error}.") from error
    return told if isinstance(told, dict) else {}


def _word(front: dict[str, Any], key: str) -> str:
    value = front.get(key)
    return value.strip() if isinstance(value, str) else ""
