"""Verb and object as a regular expression: how a sentence says that something is to be done to something. Pure.

Patterns match prose as `prose.clauses` makes it: folded, one space between words, `|` where a sentence ends.
"""

from __future__ import annotations

from typing import Final

# What ends a direct object: behind these, a noun says where, and not what.
_STOPS: Final = (
    "in|from|of|on|onto|into|to|for|with|inside|within|at|by|because|so|if|when|that|which|before|after|where|using|via"
    "|between|about|as|than|is|are|was|were|should|would|could|can|will"
)
GAP: Final = rf"(?:(?:all|any|some|each|both|most|none) of )?(?:(?!(?:{_STOPS})\b)[^\s|]+ ){{0,5}}?"
NEAR: Final = r"(?:[^\s|]+ ){0,6}?"
# A noun is the object itself, and not what describes it, where one of these follows.
ENDS: Final = (
    r"(?=[ ,]*(?:$|\||,|-|\d|[^\s|]*[./:~][^\s|]*(?: |$)|(?:and|or|in|from|on|at|for|to|with|under|inside|first|now|too|as|before|after|then|so"
    r"|because|since|that|which|who|if|when|we|i|you|they|it|not|by|of|via|using|once|instead|altogether|forever|older|newer|unless|while|but"
    r"|is|are|was|were|will|would|should|can|could|has|have|here|there|manually|recursively|permanently|entirely|completely|again|anyway"
    r"|right|immediately|directly|today|yes|no|ok|please|without|within|per|more|only|into|onto|against|called|named|until|than|their|its|the|this|up|out|over|still"
    r"|[^\s|]+(?:ed|ing|ly))\b))"
)
_DOUBLED: Final = frozenset(
    {"drop", "commit", "reset", "scrap", "run", "kill", "wipe", "ship", "skip", "tag", "plan", "cut",
     "get", "set", "put", "grab", "stop", "rm", "zap", "log", "rip", "trim", "submit", "permit"}
)  # fmt: skip
_IRREGULAR: Final = {
    "run": "run", "cut": "cut", "set": "set", "put": "put", "get": "gotten", "throw": "thrown", "tear": "torn", "blow": "blown", "give": "given",
    "make": "made", "send": "sent", "buy": "bought", "pay": "paid", "spend": "spent", "reset": "reset", "overwrite": "overwritten", "write": "written",
    "take": "taken", "shut": "shut", "bring": "brought", "spin": "spun", "rebuild": "rebuilt", "build": "built", "read": "read", "upload": "uploaded",
}  # fmt: skip


def _ing(word: str) -> str:
    if (word in _DOUBLED and word[-1] not in "el") or word == "cancel":
        return f"{word}{word[-1]}ing" if word != "wipe" else "wiping"
    return f"{word[:-1]}ing" if word.endswith("e") and not word.endswith("ee") else f"{word}ing"


def _participle(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("e"):
        return f"{word}d"
    if word in _DOUBLED and word[-1] != "l":
        return f"{word}{word[-1]}ed"
    return f"{word[:-1]}ied" if word.endswith("y") and word[-2:-1] not in "aeou" else f"{word}ed"


def _third(word: str) -> str:
    if word.endswith(("sh", "ch", "s", "x", "z")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeou" else f"{word}s"


def _split(phrase: str) -> tuple[str, str]:
    first, _, rest = phrase.partition(" ")
    return first, f" {rest}" if rest else ""


def forms(verbs: str) -> str:
    """The forms in which a verb says that it is to be done: `delete`, `deletes`, `deleting`."""
    found = []
    for phrase in verbs.split("|"):
        first, rest = _split(phrase)
        found += [phrase, f"{_ing(first)}{rest}", f"{_third(first)}{rest}"]
    return "(?:" + "|".join(dict.fromkeys(found)) + ")"


def done(verbs: str) -> str:
    """The forms in which it is done to something: `be deleted`."""
    found = [f"{_participle(first)}{rest}" for first, rest in map(_split, verbs.split("|"))]
    return r"(?:be|get|gets|getting|being|have) (?:\w+ly )?(?:" + "|".join(dict.fromkeys(found)) + ")"


def _wanted(verbs: str) -> str:
    return (
        "(?:" + "|".join(f"{_participle(first)}{rest}" for first, rest in map(_split, verbs.split("|"))) + ")"
    )


# What may stand between a verb and its particle: `roll the new build out`.
_BETWEEN: Final = r"(?:[^\s|,]+ ){0,5}?"


def _parted(first: str, rest: str) -> str:
    return f"{first} {_BETWEEN}{rest.removeprefix(' … ')}" if rest.startswith(" … ") else f"{first}{rest}"


def inflected(verbs: str) -> str:
    """Active forms of verbs, some with a particle that may stand apart: `throw … away`."""
    found = []
    for first, rest in map(_split, verbs.split("|")):
        found += [_parted(form, rest) for form in (first, _ing(first), _third(first))]
    return "|".join(dict.fromkeys(found))


def participles(verbs: str) -> str:
    """Passive forms of the same: `thrown away`."""
    found = [
        f"{_participle(first)}{rest.replace(' … ', ' ')}" for first, rest in map(_split, verbs.split("|"))
    ]
    return "|".join(dict.fromkeys(found))


def acts(verbs: str, objects: str, *, gap: str = GAP, ends: str = ENDS) -> tuple[str, ...]:
    """`delete the old files`, `should the old files be deleted`, `do you want the old files deleted`."""
    return (
        rf"\b{forms(verbs)} {gap}(?:{objects})(?![\w-]){ends}",
        rf"\b(?:{objects})(?![\w-]) (?:[^\s|]+ ){{0,4}}?{done(verbs)}\b",
        rf"\b(?:want|like|need|have|get|prefer) {NEAR}(?:{objects})(?![\w-]) (?:[^\s|]+ )?{_wanted(verbs)}\b",
    )


def near(verbs: str, objects: str) -> tuple[str, ...]:
    """The same, with anything in between."""
    return acts(verbs, objects, gap=NEAR, ends=r"\b")
