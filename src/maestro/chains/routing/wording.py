"""An intent's text as the patterns read it: one case, no politeness, no slips of the key. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Words that decide where an intent leads: a slip in one of these is mended, in others it stays.
_ACTIONS: Final = frozenset(
    [
        "analyze",
        "analyse",
        "brainstorm",
        "continue",
        "convention",
        "coverage",
        "create",
        "debug",
        "design",
        "discover",
        "documentation",
        "execute",
        "implement",
        "improve",
        "initialize",
        "integrate",
        "integration",
        "investigate",
        "milestone",
        "optimize",
        "phase",
        "refactor",
        "refresh",
        "rebuild",
        "remember",
        "remove",
        "rename",
        "replace",
        "retrospective",
        "review",
        "roadmap",
        "simplify",
        "specification",
        "status",
        "support",
        "verify",
        "wireframe",
    ]
)
_LONGEST: Final = 2_000  # letters; what somebody wants stands at the beginning

_POLITE: Final = re.compile(
    r"""^(?:
        (?:hey|hi|hello|hallo|ok|okay|so|well|now|also|just|please|pls|plz|kindly|bitte|por\ favor|请|maestro|dear\ maestro)
            (?:[\s,!.:]+|$)
      | s'il\ (?:te|vous)\ pla[iî]t[\s,]+
      | (?:can|could|would|will)\ (?:you|u|we|someone)\b(?:\ (?:please|pls|kindly|maybe|quickly))?\s*(?:help\ (?:me|us)(?:\ to|\ with)?\s*)?
      | (?:kannst|könntest|könnten|können)\ (?:du|sie|wir)(?:\ bitte)?(?:\ mal)?\s+
      | (?:i|we)(?:'d|\ would)?\ (?:really\ )?(?:want|like|need|wish|have|plan|intend)(?:\ you)?\ to\s+(?!be\ able)
      | (?:i|we)\ (?:should|must|gotta|wanna)\s+
      | (?:i'm|i\ am|we're|we\ are)\ (?:going|trying|about)\ to\s+
      | let(?:'s|\ us|s)\s+
      | help\ (?:me|us)\b(?:\ (?:to|with))?\s*
      | (?:it(?:'s|\ is)\ )?time\ to\s+
      | (?:go\ ahead\ and|try\ to|your\ task\ is\ to|the\ task\ is\ to|make\ sure\ to|feel\ free\ to)\s+
      | (?:first|first\ of\ all)(?:,\s*|\s+(?=[a-z]+\ ))
    )""",
    re.VERBOSE,
)
_TRAILING: Final = re.compile(r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|thx|bitte|danke))?[\s.!?…。]*$")


# “Adding tests”, “fixed a typo”: titles and notes say in this form what is to be done.
_FORMS: Final = {
    form: verb
    for verb, forms in {
        "add": "adding added", "fix": "fixing fixed", "implement": "implementing implemented",
        "update": "updating updated", "create": "creating created", "remove": "removing removed",
        "improve": "improving improved", "write": "writing", "refactor": "refactoring refactored",
        "build": "building", "change": "changing changed", "replace": "replacing replaced",
        "rename": "renaming renamed", "review": "reviewing", "test": "testing", "plan": "planning",
        "debug": "debugging", "simplify": "simplifying", "support": "supporting", "design": "designing", "run": "running",
    }.items()
    for form in forms.split()
}  # fmt: skip
_PLAIN_MARKS: Final = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014", "''\"\"--")
_TICKET: Final = re.compile(r"^\[?(?!issue-)[a-z]{2,10}-\d+\]?[:\s-]+(?=\S)")


def plain(text: str) -> str:
    """The words in one case, with plain quotes and single spaces."""
    folded = unicodedata.normalize("NFKC", text[:_LONGEST]).casefold()
    folded = folded.translate(_PLAIN_MARKS)
    return " ".join(folded.split())


def asked(text: str) -> str:
    """What is asked for: `plain`, without politeness around it, slips mended."""
    words = _TRAILING.sub("", plain(text))
    while True:
        shorter = _POLITE.sub("", words, count=1).lstrip(" ,:")
        if shorter == words:
            break
        words = shorter
    words = _TICKET.sub("", words)
    first, space, rest = words.partition(" ")
    words = f"{_FORMS.get(first, first) if rest else first}{space}{rest}"
    return re.sub(r"[a-z]{5,}", lambda found: _mended(found[0]), words)


def _mended(word: str) -> str:
    if word in _ACTIONS:
        return word
    allowed = 2 if len(word) >= 9 else 1
    near = [
        action
        for action in _ACTIONS
        if action[0] == word[0]
        and abs(len(action) - len(word)) <= allowed
        # A word with another ending is another word, not a slip.
        and not (word.startswith(action[:-1]) or action.startswith(word))
        and _distance(word, action) <= allowed
    ]
    return near[0] if len(near) == 1 else word


def _distance(one: str, other: str) -> int:
    """Letters to change, add, drop or swap with their neighbour."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
