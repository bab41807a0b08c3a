"""How an intent is worded, as its likeness to other people's intents is told by. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from maestro.likeness import neighbours

ASK: Final = "ask"  # stands among the chains for what no tool can know
PATTERN: Final = "pattern "  # before the chain that a pattern leads to: one clue among the words

_LONGEST: Final = 2_000  # letters; what somebody wants stands at the beginning
# Chinese and Japanese have no spaces: there each letter is a word, and pairs of them are the words.
_SPACELESS: Final = r"[\u3040-\u30ff\u3400-\u9fff]"
_WORD: Final = re.compile(rf"{_SPACELESS}|(?:(?!{_SPACELESS})[^\W\d_])+(?:'[a-z]+)?|\d+|[#?:;/>-]")
_ISSUE: Final = re.compile(r"\bissue-[\w-]{0,40}\d[\w-]{0,40}|#\d+|\b(?:issue|bug|ticket) #?\d+")
_FILE: Final = re.compile(r"[a-z0-9_/-]{1,80}\.[a-z]{1,4}\b")


def features(intent: str) -> list[str]:
    """Its words and every pair of neighbours, names of issues and files made alike."""
    return neighbours(_words(intent))


def spoken(intent: str) -> list[str]:
    """Its words alone, without numbers and signs."""
    return [word for word in _words(intent) if word[0].isalpha()]


def _words(intent: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", intent[:_LONGEST].lower())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = _FILE.sub(" afile ", _ISSUE.sub(" isid ", plain))
    return ["0" if word.isdigit() else word for word in _WORD.findall(plain)]
