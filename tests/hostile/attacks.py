"""Each attack by itself: the files that it needs, the command that makes it act, and the evidence that it leaves.

The same rows show both halves: untrusted, nothing is left; trusted, it works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.hostile.files_of_maestro import CHAIN


@dataclass(frozen=True)
class Attack:
    name: str
    files: tuple[str, ...]  # by their names in the table of files
    words: tuple[str, ...]  # the command
    evidence: str


def _attack(name: str, files: str, command: str, evidence: str) -> Attack:
    return Attack(name, tuple(files.split()), tuple(command.split()), evidence)


# What a trusted project may do as well.
WORKING: Final[tuple[Attack, ...]] = (
    _attack("a default tool", "tools-agent", "delegate hello", "tools-agent"),
    _attack("a role", "tools-agent", "delegate hello --to review", "tools-agent"),
    _attack("a tool in the place of the user's", "tools-agent", "delegate hello --to claude", "tools-agent"),
    _attack("a tool that is a program", "tools-command", "delegate hello --to handy", "tools-command"),
    _attack("a fallback", "tools-command", "delegate hello --to gone", "tools-command"),
    _attack("a run in the background", "tools-agent", "delegate hello --async", "tools-agent"),
    _attack("an agent of the roster", "roster-agent batch", "dispatch batch --stagger 0", "roster-agent"),
    _attack("a batch by its default tool", "tools-agent batch", "dispatch batch --to helpful --stagger 0", "tools-agent"),
    _attack("a command of a chain", "tools-agent chain-command", "chain run plan -y --no-review", "chain-command"),
    _attack("a chain of its own", "tools-agent chain-command chains", "chain run x --chain add-feature -y --no-review", "chain-command"),
    _attack("a forged chain", "tools-agent chain-command forged-chain", f"chain run -c {CHAIN} -y", "chain-command"),
    _attack("a fleet", "fleet fleet-scripted", "up", "fleet-scripted"),
    _attack("hooks of Claude Code", "claude-settings", "delegate hello --to claude", "claude-runs-project-hooks-headless"),
    _attack("an MCP server of Claude Code", "claude-mcp", "delegate hello --to claude", "claude-runs-project-hooks-headless"),
    _attack("settings of Codex", "codex-settings", "delegate hello --to codex", "codex-runs-project-hooks-headless"),
    _attack("hooks of Codex", "codex-hooks", "delegate hello --to codex", "codex-runs-project-hooks-headless"),
    _attack("settings of Gemini", "gemini-settings", "delegate hello --to gemini", "gemini-runs-project-hooks-headless"),
    _attack("variables of Gemini", "gemini-environment", "delegate hello --to gemini", "gemini-runs-project-hooks-headless"),
    _attack("an extension of Gemini", "gemini-extension", "delegate hello --to gemini", "gemini-runs-project-hooks-headless"),
)  # fmt: skip
# What no project may do, trusted or not.
NEVER: Final[tuple[Attack, ...]] = (
    _attack("an option as a model's name", "tools-model", "delegate hello --to modelled", "tools-model"),
    _attack("a forged approval", "tag-approved", "tag dispatch --to own", "own-tool"),
)  # fmt: skip
