"""What a script would do that is being written: one that others run by themselves later, without anybody asking. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from maestro.coordinate.gate.deeds import Effect
from maestro.coordinate.gate.effects import effects_of

_SHELL_SCRIPT: Final = re.compile(r"\.(?:sh|bash|zsh|ksh|command)$|(?:^|/)(?:bin|hooks?|scripts)/[\w-]+$")
_SHEBANG: Final = re.compile(r"#!\s*\S*/(?:env\s+)?(?:ba|z|da|k)?sh\b")
_MAKEFILE: Final = re.compile(r"(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$")
# Tools run these when they install, test or build.
_RUN_BY_TOOLS: Final = re.compile(
    r"(?:^|/)(?:setup|conftest|noxfile|sitecustomize|usercustomize|tasks|fabfile|SConstruct|wscript)\.py$|(?:^|/)\w+\.(?:config|setup)\.[cm]?[jt]s$"
)
_MADE_UP: Final = re.compile(
    r"(?:\bexec|\beval|new Function|Function)\s*\(.{0,300}(?:b64|base64|decode|urlopen|requests|fetch|atob|Buffer\.from)",
    re.DOTALL,
)
# npm runs these by itself.
_LIFECYCLE: Final = re.compile(r"(?:pre|post)[\w:-]+|install|prepare|pack|publish|dependencies")
# What is grave in a script that is only written: the rest is asked for when it is run.
_GRAVE: Final = frozenset({"network fetch-and-run", "security decisions", "API keys"})


def written_effects(path: str, content: str) -> list[Effect]:
    """What the file would do when it is run, as far as that must be asked before it is written."""
    if _RUN_BY_TOOLS.search(path) and _MADE_UP.search(content):
        return [
            Effect(
                "sure",
                "network fetch-and-run",
                "the file that it writes runs code that is fetched or decoded",
                path,
            )
        ]
    return [
        effect._replace(why=f"the file that it writes would do this: {effect.why}")
        for line in _lines(path, content)
        for effect in effects_of(line)
        if effect.level == "sure" and effect.category in _GRAVE
    ]


def _lines(path: str, content: str) -> Iterator[str]:
    name = path.rsplit("/", 1)[-1]
    if name == "package.json":
        yield from _lifecycle(content)
    elif _SHELL_SCRIPT.search(path) or _SHEBANG.match(content):
        yield content
    elif _MAKEFILE.search(path):
        recipes = re.findall(r"^\t[-@+]*(.+)$", content, re.MULTILINE)
        yield "\n".join(line.replace("$$", "$") for line in recipes)
        # These run when the file is read.
        yield from (one.replace("$$", "$") for one in re.findall(r"\$\(shell\s+([^\n]*)\)", content))
        yield from re.findall(r"^\w+\s*!=\s*([^\n]+)$", content, re.MULTILINE)


def _lifecycle(content: str) -> Iterator[str]:
    try:
        scripts = json.loads(content).get("scripts", {})
        found = [(name, line) for name, line in scripts.items() if isinstance(line, str)]
    except (ValueError, AttributeError, RecursionError):
        # A part of one, as an edit has it.
        found = re.findall(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"', content)
    yield from (line for name, line in found if _LIFECYCLE.fullmatch(name))
