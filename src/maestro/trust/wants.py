"""Says in a few words what a file of a project would do, for the person who is asked to trust it. Pure.

It is a help for reading, not a judgement: whatever it leaves out, the file's digest covers.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from maestro.redact import clean, redact

_MOST: Final = 200  # lines of one file; what is longer cannot be judged at a glance, and says so
_LONGEST: Final = 160
_TOPICS: Final = (
    ("fleet.yml", "starts agents"),
    ("coordinate.config.json", "decides which questions are answered without you"),
    ("tools.toml", "chooses tools, models and programs"),
    ("chains.toml", "changes chains"),
    ("/chains/", "a chain that somebody else began: what it does next is not your word"),
    ("/commands/", "changes a command's prompt"),
    ("/rules/", "is put before prompts"),
    ("/agents/", "chooses an agent's CLI and model"),
)


def wants_of(name: str, content: bytes) -> tuple[str, ...]:
    """Returns what the file is for, then what it says, in short."""
    text = content.decode("utf-8", "replace")
    topic = next((words for part, words in _TOPICS if part in f"/{name}"), "settings that a CLI acts on")
    value = _parsed(name, text)
    # A text that is no table of settings is shown as it is written.
    named = [line for line in text.splitlines() if line.strip()] if value is None else list(_settings(value))
    shown = [short(words) for words in dict.fromkeys(named)]
    left = len(shown) - _MOST
    more = [f"and {left} lines more: read the file before you trust it"] if left > 0 else []
    return (topic, *shown[:_MOST], *more)


def short(words: str) -> str:
    line = " ".join(redact(clean(words)).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _parsed(name: str, text: str) -> Any:
    try:
        if name.endswith(".toml"):
            return tomllib.loads(text)
        return json.loads(text) if name.endswith(".json") else None
    except (ValueError, RecursionError):
        return None


def _settings(value: Any, place: str = "") -> Iterator[str]:
    """Yields each setting with its place, as `place: value`; one that is empty says that it is."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _settings(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for inner in value:
            yield from _settings(inner, place)
    elif isinstance(value, list):
        yield f"{place}: {' '.join(map(str, value)) or 'nothing'}"
    else:
        yield f"{place}: {value if value not in ({}, '') else 'nothing'}"
