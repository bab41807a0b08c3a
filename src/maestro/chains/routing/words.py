"""Takes an intent apart into what it is weighed by: words, their neighbours, their beginnings and endings. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

ASK: Final = "ask"  # stands among the chains for what no tool can know
CONTINUE: Final = "continue"  # likewise for whatever comes next in the project

_LONGEST: Final = 2_000  # letters; what somebody wants stands at the beginning
_OPENING: Final = 3  # words
_PIECES: Final = (4, 5)  # letters
# Chinese and Japanese have no spaces: there each letter is a word, and pairs of them are the words.
_SPACELESS: Final = r"[\u3040-\u30ff\u3400-\u9fff]"
_WORD: Final = re.compile(rf"{_SPACELESS}|(?:(?!{_SPACELESS})[^\W\d_])+(?:'[a-z]+)?|\d+|[#?:;/>-]")
_ISSUE: Final = re.compile(
    r"\bissue-[\w-]{0,40}\d[\w-]{0,40}|#\d+|\b(?:issue|bug|ticket) (?:#?\d+|[a-z]{2,10}-\d{1,6}\b)"
)
_FILE: Final = re.compile(r"[a-z0-9_/-]{1,80}\.[a-z]{1,4}\b")


def features(intent: str) -> list[str]:
    """Returns its words, pairs of words side by side and with one between, the first words, and pieces of words."""
    words = _words(intent)
    return [
        *words,
        *(f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True)),
        *(f"{one} * {other}" for one, other in zip(words, words[2:], strict=False)),
        *(f"^ * {word}" for word in words[:_OPENING]),
        *(piece for word in words for piece in _pieces(word)),
    ]


def spoken(intent: str) -> list[str]:
    """Returns its words alone, without numbers and signs."""
    return [word for word in _words(intent) if word[0].isalpha()]


def _words(intent: str) -> list[str]:
    """Returns words in one case without accents, the names of issues and files made alike."""
    plain = unicodedata.normalize("NFKD", intent[:_LONGEST].lower())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = _FILE.sub(" afile ", _ISSUE.sub(" isid ", plain))
    return ["0" if word.isdigit() else word for word in _WORD.findall(plain)]


def _pieces(word: str) -> list[str]:
    """Returns what it shares with its other forms, and with itself mistyped."""
    marked = f"<{word}>"
    return [
        marked[place : place + length]
        for length in _PIECES
        if length < len(marked)
        for place in range(len(marked) - length + 1)
    ]
