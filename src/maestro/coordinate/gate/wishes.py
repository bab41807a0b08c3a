"""What a sentence wants done: a grave verb that is asked for, and what it is to be done to. Pure.

A verb is asked for where a request or an announcement stands before it (`should I`, `I'll`, `ok to`), or nothing at
all. What it is about is taken from the words behind it; for `it` and `them`, from the sentences before.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from maestro.coordinate.gate import grave_verbs as grave
from maestro.coordinate.gate.nouns import BRANCHES
from maestro.coordinate.gate.phrasing import inflected, participles
from maestro.coordinate.gate.prose import counts

_ASKING_WORDS: Final = (
    r"i|we|you|to|and|or|then|can|should|shall|may|could|will|would|must|might|i'll|we'll|i'd|we'd|you'd|i'm|we're|let's|lets|let|please|plz|pls|just|by|before|after|me|us|go|better|rather|ok|okay|fine|yes|yep|yeah|no|sure|ready|first|next|now"
    r"|simply|also|start|mind|maybe|alternatively|otherwise|so|either|with|about|on|of|for|try|for you|cool|good|safe|alright|wanna|gonna|gotta|instead|finally|lastly|afterwards|afterward|recommend|suggest|propose|consider|plan|need|needs|want|wants|help|not|thing|step|option|idea|,|-|\d+|[a-d]|\w+ly|shud|shuld|can i|cld"
)
_ASKED: Final = re.compile(rf"(?:^|(?<= ))(?:{_ASKING_WORDS}) $")
_DOES: Final = re.compile(
    r"(?:^|(?<= ))(?:it|this|that|which|step|script|command|plan|change|option|i|pr|job|task|fix|next|then|and|also|\w+ly) $"
)
_LIVE: Final = re.compile(
    r"\b(?:prod|production|live|the primary|customers?' data|customer data|origin|upstream|(?:all|every|\d+% of|the rest of|remaining) (?:of )?(?:the |our )?(?:users?|customers?|traffic|tenants?)|everybody|everyone|serving (?:endpoint|traffic|fleet|cluster)|inference endpoint)\b(?! (?:code|builds?|bundles?|mode|configs?|imports?|dependenc\w+|header|validation|of the))"
)
_OF: Final = re.compile(
    r"^(?:all|some|rest|half|lot|piece|cop(?:y|ies)|contents?|each|both|most|everything|sets?|pile|couple|kinds?|pieces|bits?|batch|version|versions|list|any|none) of "
)
_SORT_OF: Final = re.compile(r"\b(?:class|type|kind|sort|group|set|batch|half|rest|lot|bunch) of ")
_STOP: Final = re.compile(rf"^(?:{grave.AFTER_OBJECT}|\|)$")
_PRONOUN: Final = re.compile(
    rf"^(?:(?:all|both|some|most|the|those|these|each|any|every|last|one|of|old|new|whole|other|same|entire) )*(?:{grave.PRONOUN})?$"
)
CODE_NOUN: Final = re.compile(rf"^(?:{grave.CODE})$")
_ANY_CODE: Final = re.compile(rf"\b(?:{grave.CODE})\b")
_ASSET: Final = re.compile(
    rf"\b(?:{grave.DATA}|{grave.GIT}|{grave.INFRA}|files?|folders?|director(?:y|ies)|dirs?|backups?|buckets?|volumes?|disks?|archives?|uploads?|exports?|dumps?|data|gb|tb|\d+ ?[gt]b|/\S+)\b"
)
_PLACE: Final = re.compile(
    rf"^(?:from|in|inside|within|of|on|at|to|onto|into|for|with) (?:(?:the|a|an|this|that|our|its|my|each|every|all|both) )?(?:[^\s|]+ ){{0,3}}?(?:{grave.CODE_PLACE})(?= (?:{grave.AFTER_OBJECT}|of)(?: |$)|$)"
)
_IDENTIFIER: Final = re.compile(
    r"^(?!.*_(?:old|bak|backup|archive|prod|tmp|data|db|dump|v?\d+)$)[a-z0-9]*_[a-z0-9_]*$|^\w+\.\w+\(?\)?$|^--?[a-z][\w-]*$|^\d+(?:px|rem|em|ms|%)$|^\w+\(\)$"
)
# “the helper parse”: a part of a program, and its name.
_NAMED_CODE: Final = re.compile(
    r"(?:^| )(?:functions?|methods?|class|variables?|constants?|flags?|helpers?|options?|param\w*|arguments?|props?|numbers?|types?|enums?|decorators?|rules?|macros?|components?|hooks?|interface|struct|fields?|propert(?:y|ies)|attributes?) [^\s|]+$"
)
_PACKAGE_VERB: Final = re.compile(r"(?:remov|dropp?|ditch|get(?:ting)? rid of)")
_OTHER: Final = re.compile(
    rf"\b(?:{grave.DATA}|{grave.GIT}|{grave.INFRA}|{grave.SECRET}|{grave.GUARD}|prod|production|staging|everything|data|main|master)\b|/"
)
_GIT_BRANCH: Final = re.compile(BRANCHES)
_FILE: Final = re.compile(
    r"^(?:[~.]{0,2}/\S*|\S+/\S*|\S+\.(?:log|bak|tmp|zip|tar|gz|csv|db|sqlite\d?|sql|pem|dump|parquet|env))$"
)
# Also nouns or adjectives: without a request before them, they are verbs only where an object of its own follows.
_ALSO_NOUNS: Final = re.compile(
    r"^(?:empty|e-?mail|drop|post|mail|order|book|file|bin|toss|release|commit|merge|push|scale|launch|share|message|ping|charge|reset|patch|restart|stop|start|change|submit|update|fix|run|log|dump|export|import|print|use|show|type|copy|make|set|install|lease|rent|stash|squash|upload|download|request|access|cycle|bounce|shift|switch|route|point|move|flush|purge|raise|leave|hand|write|ask)$"
)
_STARTS_OBJECT: Final = re.compile(
    r"^(?:the|a|an|it|this|that|them|these|those|all|every\w*|each|both|any\w*|our|my|your|their|its|his|her|some|both|one|two|three|four|five|ten|\d+|everything|anything|whatever|old|stale|more|now|to|out|up|off|us|me|him|straight|directly|with|and|prod|production)\b"
)
# These alone are a whole request: “Merge?”
_ALONE: Final = re.compile(
    r"^(?:release|commit|merge|push|launch|restart|reset|purge|flush|drop|squash|scale)$"
)
# Such a sentence is about code or invented data, whatever it does to it.
_CODE_WORLD: Final = re.compile(
    r"\b(?:dataframes?|pandas|numpy|in-memory|mock\w*|stubs?|stubbed|fake|dummy|css|jsx|regex|ast|docstrings?|unit tests?|type hints?)\b"
)
# What comes behind these says why or what else, and not what is done.
_WHY: Final = re.compile(r" (?:so|because|since|before|after|while|then|but|and|,)(?= |$)")
_NO_LETTER: Final = re.compile(r"[^a-z]")
_BEFORE_NOUNS: Final = (
    "and ",
    "or ",
    ", ",
    "no ",
    "by ",
    "should ",
    "can ",
    "could ",
    "may ",
    "must ",
    "shall ",
    "would ",
)
_MOST_WORDS: Final = 8
_MOST_AFTER: Final = 160
_MOST_LOOKED_AT: Final = 400


class Wish(NamedTuple):
    start: int
    text: str
    category: str


class _Kind(NamedTuple):
    pattern: re.Pattern[str]
    passive: re.Pattern[str]
    objects: re.Pattern[str] | None
    harmless: re.Pattern[str] | None
    category: str
    is_noun: bool


@cache
def _kinds() -> tuple[_Kind, ...]:
    return tuple(
        _Kind(
            re.compile(rf"\b(?:{inflected(kind.verbs)})(?![\w'-])"),
            re.compile(rf"\b(?:{participles(kind.verbs)})(?![\w'-])"),
            re.compile(rf"(?<![\w-])(?:{kind.objects})(?![\w-])") if kind.needs == "named" else None,
            re.compile(rf"(?<![\w-])(?:{kind.harmless})(?![\w-])") if kind.harmless else None,
            kind.category,
            kind.is_noun,
        )
        for kind in grave.VERBS
    )


def wishes(document: str) -> list[Wish]:
    """What is asked for in prose as `prose.clauses` makes it; one of each category."""
    found: dict[str, Wish] = {}
    for kind in _kinds():
        for pattern, look in ((kind.pattern, _active), (kind.passive, _passive)):
            for number, match in enumerate(pattern.finditer(document)):
                # Who says it so often hides one among many: nobody looks further, a human does.
                wish = (
                    look(kind, match, document)
                    if number < _MOST_LOOKED_AT
                    else Wish(match.start(), match[0], kind.category)
                )
                if wish is not None:
                    found.setdefault(wish.category, wish)
                if number >= _MOST_LOOKED_AT:
                    break
    return list(found.values())


def is_split_name(wish: Wish, document: str) -> bool:
    """Whether its words stand in the text as one: `client_credentials`, read as two words, asks for nothing."""
    letters = _NO_LETTER.sub("", document)
    return any(
        part not in document and _NO_LETTER.sub("", part) in letters for part in wish.text.split(" … ")
    )


def _clause(document: str, start: int) -> str:
    """What stands before, in the same sentence."""
    begin = max(document.rfind("|", 0, start) + 1, start - _MOST_AFTER)
    return document[begin:start].lstrip()


def _after(document: str, end: int) -> str:
    stop = document.find("|", end)
    return document[end : min(stop if stop >= 0 else len(document), end + _MOST_AFTER)].strip()


def _active(kind: _Kind, match: re.Match[str], document: str) -> Wish | None:
    before = _clause(document, match.start())
    is_third = match[0].split(" ")[0].endswith("s") and not match[0].split(" ")[0].endswith("ss")
    asked = _DOES if is_third else _ASKED
    is_asked = asked.search(before) if before else not is_third
    # “The removal of …” is a deed wherever it stands.
    if not kind.is_noun and (not is_asked or before == "how should "):
        return None
    after = _after(document, match.end())
    is_bare = not before or before.endswith(_BEFORE_NOUNS)
    if is_bare and _ALSO_NOUNS.match(match[0]) and not _has_object(match[0], after):
        return None
    inside = " ".join(match[0].split(" ")[1:-1]) if " " in match[0] else ""
    about = inside if inside and _parted(kind, match[0]) else _object(after)
    return _judged(kind, match, document, about, after, f"{match[0]} {after}")


def _has_object(verb: str, after: str) -> bool:
    if not after:
        return bool(_ALONE.match(verb))
    return bool(_STARTS_OBJECT.match(after) or ("_" in after and _IDENTIFIER.match(after)))


def _parted(kind: _Kind, said: str) -> bool:
    """Whether the object stands between a verb and its particle."""
    return len(said.split(" ")) > 2 and kind.pattern.fullmatch(said) is not None and "get rid of" not in said


def _passive(kind: _Kind, match: re.Match[str], document: str) -> Wish | None:
    """“Should the old files be removed”, “do you want them gone”."""
    before = _clause(document, match.start())
    made = re.search(
        r"(?:^|\b(?:should|shall|can|could|may|will|would|must|to|want|wants|like|need|have|get|and|if|ok to have|all|now|next|then) )((?:[^\s|]+ ){0,8}?)(?:(?:be|get|being|gets) )?(?:\w+ly )?$",
        before,
    )
    if made is None:
        return None
    is_wanted = re.search(r"\b(?:be|get|being|gets) (?:\w+ly )?$", before) or re.search(
        r"\b(?:want|like|need|have|get) (?:[^\s|]+ ){1,8}$", before
    )
    if not is_wanted:
        return None
    subject = re.sub(r" ?\b(?:be|get|being|gets|\w+ly|now|also|then|just|not) ?$", "", made[1].strip())
    subject = _SORT_OF.sub("", subject)
    subject = re.split(r" (?:in|from|on|of|at|under) ", f"{subject} ")[0].strip()
    after = _after(document, match.end())
    return _judged(kind, match, document, subject, after, f"{match[0]} {made[1]}{after}")


def _object(after: str) -> str:
    """The words that the verb is about: up to what says where, when or why."""
    words: list[str] = []
    for word in after.split(" ")[:_MOST_WORDS]:
        if word == "of" and _OF.match(" ".join(words[-1:]) + " of "):
            words = []
            continue
        if words and words[-1].endswith("ed") and word in {"out", "off", "up", "down"}:
            continue  # “the commented out lines”
        if _STOP.match(word) or word == "of":
            break
        if words and word.endswith(("ed", "ing")) and CODE_NOUN.match(words[-1]):
            break  # “the variables reported by the linter”
        words.append(word)
    return " ".join(words)


def _judged(
    kind: _Kind, match: re.Match[str], document: str, about: str, after: str, whole: str
) -> Wish | None:
    clause = _clause(document, match.start()) + whole
    if not counts(_clause(document, match.start()), document):
        return None
    done = what_is_done(whole)
    if _CODE_WORLD.search(done) and not _LIVE.search(clause):
        return None
    if kind.objects is not None:
        # What is named may stand elsewhere, where the verb is about “it”.
        earlier = _before_sentence(document, match.start()) if _PRONOUN.match(about) else ""
        named = kind.objects.search(whole) or kind.objects.search(earlier)
        if named is None or (kind.harmless and kind.harmless.search(done)):
            return None
        if _is_code(about) and not _LIVE.search(clause) and not kind.objects.search(about):
            return None
    elif _is_harmless(kind, about, after, clause, document, match.start()):
        return None
    return Wish(match.start(), f"{match[0]} {about}".strip(), _category(kind.category, about, document))


def what_is_done(said: str) -> str:
    """The words without their reason and what follows from them."""
    return _WHY.split(said, maxsplit=1)[0]


def _before_sentence(document: str, start: int) -> str:
    return document[max(0, start - 600) : start]


def _is_harmless(kind: _Kind, about: str, after: str, clause: str, document: str, start: int) -> bool:
    if _LIVE.search(clause):
        return False
    if _FILE.match(about.rpartition(" ")[2]):
        return False
    if kind.harmless and kind.harmless.search(about):
        return True
    if kind.category == "git operations" and _is_of_git(about, after):
        return False
    if _PRONOUN.match(about):
        earlier = _before_sentence(document, start)
        if _PLACE.match(after[len(about) :].strip() if after.startswith(about) else after):
            return not _ASSET.search(earlier)
        return bool(_ANY_CODE.search(earlier)) and not _ASSET.search(f"{earlier} {after}")
    if _is_code(about):
        return True
    if (
        _PACKAGE_VERB.match(document, start)
        and re.fullmatch(r"[a-z][\w.@/-]*[^s\W]", about)
        and not _OTHER.search(about)
    ):
        return True  # “remove lodash”: a dependency, by its name alone
    rest = after[len(about) :].strip() if after.startswith(about) else after
    rest = re.sub(r"^(?:down|up|out|over|back|straight) (?=in|from|to)", "", rest)
    return bool(_PLACE.match(rest)) and not _ASSET.search(about)


def _is_of_git(about: str, after: str) -> bool:
    """“… and merge?”, “push `feature_x`?”: nothing is named, or nothing but a branch."""
    head = about.rpartition(" ")[2]
    return not after or (after == about == head and "_" in head and _IDENTIFIER.match(head) is not None)


def _is_code(about: str) -> bool:
    about = re.sub(r"(?: (?:\d\S*|n|x|y))+$", "", about)
    head = about.rpartition(" ")[2]
    if _NAMED_CODE.search(about) and not _ASSET.search(head):
        return True
    if head.startswith("branch") and not _GIT_BRANCH.search(about):
        return True
    return bool(
        CODE_NOUN.match(head) or _IDENTIFIER.match(head) or CODE_NOUN.match(re.split(r"[-_/]", head)[-1])
    )


def _category(category: str, about: str, document: str) -> str:
    if category != "file deletion":
        return category
    named = document if _PRONOUN.match(about) else about
    for nouns, other in _WHAT:
        if nouns.search(named):
            return other
    return category


_WHAT: Final = (
    (re.compile(rf"\b(?:{grave.GIT})\b"), "git operations"),
    (re.compile(rf"\b(?:{grave.DATA})\b"), "database changes"),
    (re.compile(rf"\b(?:{grave.GUARD})\b"), "security decisions"),
    (re.compile(rf"\b(?:{grave.SECRET})\b"), "API keys"),
    (re.compile(rf"\b(?:{grave.INFRA})\b"), "deployments"),
)
