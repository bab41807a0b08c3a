"""Commands that stand in prose: in fences and backticks, behind a prompt sign, and after “run”. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate.gate.command_lines import is_command, looks_like_shell

_FENCE: Final = re.compile(r"```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INLINE: Final = re.compile(r"`+([^`\n]{2,400})`+")
_DOLLAR: Final = re.compile(r"^\s*[$#>\u276f]\s+(\S.*)$", re.MULTILINE)
_TOLD_TO_RUN: Final = re.compile(
    r"\b(?:run|running|runs|execute|executing|invoke|type|do|via|with|use|using|call|and|then|:|—|-|to|a|the|command)\s+[\"'“]?((?:sudo|git|rm|npm|pnpm|yarn|docker|kubectl|terraform|helm|curl|wget|psql|mysql|chmod|chown|kill|pkill|killall|make|aws|gcloud|az|gh|pip|cargo|alembic|prisma|rails|rake|twine"
    r"|brew|apt|apt-get|systemctl|ssh|scp|rsync|dd|mkfs\S*|redis-cli|mongosh?|heroku|vercel|netlify|fly|flyctl|wrangler|firebase|serverless|ansible-playbook|pulumi|npx|bash|crontab|iptables|vault|openssl|ssh-keygen|dropdb|truncate|shred|find|eval|sh|python3?|node|poetry|uv|flyway|knex|gem|goreleaser|mvn|gradle)\s[^\n?;\"”]{2,300})",
    re.IGNORECASE,
)
# “Shall I run `…`?”: whatever stands there is a command, however it is written.
_RUN_QUOTED: Final = re.compile(
    r"\b(?:run|running|execute|executing|type|typing|try)\s+(?:the command\s+|this:?\s+)?`+([^`\n]*[\s{}\\$;|<>][^`\n]*)`",
    re.IGNORECASE,
)
# “the git hooks”, “a git provider”: words, and no command.
_GIT_THING: Final = re.compile(
    r"git (?:hooks?|providers?|history|repos?|repository|integration|config files?|workflow|commands?|output|clients?|users?|ignore|attributes|submodules?|url|urls|hash|hashes|sha|logs?) ",
    re.IGNORECASE,
)
# “Shall I call `rmtree(path)`?”: code that is to run, and not to be written.
_TOLD_TO_CALL: Final = re.compile(
    r"(?:^|[.?!:]\s+|\b(?:i|we|please|then|(?:me|ok|okay|fine|safe|like|want) to)\s+)(?:just |now |also )?(?:call|run|execute|evaluate|invoke)\s+(?:the )?`+([^`\n]{1,200}\([^`\n]{0,200}\)[^`\n]{0,20})`",
    re.IGNORECASE | re.MULTILINE,
)


_CALL: Final = re.compile(r"[\w.:]+\(.*\)\S{0,20}")


def code_in(text: str) -> list[str]:
    """Pieces of a program that somebody asks to run."""
    return _TOLD_TO_CALL.findall(text)[:20]


def _is_quoted_command(inline: str) -> bool:
    """A word alone in backticks is a name; a program that nobody knows, with options or paths, is a command."""
    return looks_like_shell(inline) or (len(inline.split()) > 1 and is_command(inline))


def commands_in(text: str) -> list[tuple[str, bool]]:
    """Commands that stand in prose: in fences and backticks, behind a prompt sign, and after “run”."""
    found = []
    for language, body in _FENCE.findall(text):
        if language.casefold() in {"bash", "sh", "shell", "console", "zsh", "terminal"}:
            found.append((re.sub(r"^\s*\$ ", "", body, flags=re.MULTILINE), True))
        elif looks_like_shell(body):
            found.append((re.sub(r"^\s*\$ ", "", body, flags=re.MULTILINE), False))
    without = _FENCE.sub(" ", text)
    told = _RUN_QUOTED.findall(without)
    found += [(inline, True) for inline in told if not _CALL.fullmatch(inline.strip())]
    found += [
        (inline, False)
        for inline in _INLINE.findall(without)
        if inline not in told and _is_quoted_command(inline)
    ]
    found += [(line, False) for line in _DOLLAR.findall(without) if looks_like_shell(line)]
    found += [
        (said[1].strip(" .'`"), False)
        for said in _TOLD_TO_RUN.finditer(_INLINE.sub(" ", without))
        if looks_like_shell(said[1]) and not _GIT_THING.match(said[1])
    ]
    if looks_like_shell(text) and len(text) < 400:
        found.append((text.strip(), False))
    return found[:20]
