"""Words that ask for something: sentences made plain, and whether what they name is to be done or only spoken of. Pure.

A match counts unless the sentence itself says that it is not to be done (`avoid deleting`), that something is only to be
looked at (`explain how we deploy`), or that it is about the program being written (`a button that deletes`). A claim
that something is safe, allowed or approved never counts for anything.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MARKS: Final = re.compile(
    r"[`\"()\[\]{}<>=+^\\]|~~|(?<!\S)'|'(?!\S)|\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|(?<!\w)_+|_+(?!\w)"
)
_ENDS: Final = re.compile(r"[.?!;:]+(?=\s|$)|\n|…| [|&]+ ")
_COMMA: Final = re.compile(r",(?=\s|$)")
# No word is that long; patterns take the time of its square.
_LONG_WORD: Final = re.compile(r"\S{100}")
_SPACES: Final = re.compile(r"\s+")

_ADVERBS: Final = r"(?:(?:actually|really|ever|accidentally|simply|just|yet|even|automatically|permanently|also|directly|blindly|silently|immediately|fully|to) )*"
_NEGATED: Final = re.compile(
    r"(?P<asked>\b(?:why|should i|shall i|can i|could i|may i|should we|would it be ok to|ok to) )?"
    r"\b(?P<word>do not|don't|dont|never|not|avoid|avoids|avoiding|without|instead of|rather than|won't|will not|must not|mustn't|cannot|can't|doesn't|does not|didn't|refuse to"
    r"|no need to|refrain from|prevent|prevents|preventing|keep from|skip|skips|warn before|ask before|nothing is|shouldn't|should not|no|isn't|is not|aren't) "
    rf"{_ADVERBS}(?:\S+ (?:(?:it|them|the \S+) )?(?:or|nor) )?(?:be |get |being )?$"
)
_INTENT: Final = re.compile(
    r"\b(?:explain|describe|document|list|show|print|count|summari[sz]e|discuss|tell (?:me|you)|understand|learn|investigate|look (?:at|into)|research|clarify|mention|outline|note|know|see|write up|read about|compare|sketch) "
    r"(?:(?!and\b|then\b|,|or\b|but\b|so\b)\S+ ){0,4}?(?:how|which|what|whether|why|when|where|who|that)(?: (?!and\b|then\b|,|or\b|but\b|so\b|before\b|after\b)\S+)*? $"
)
_HOW: Final = re.compile(
    r"(?:^|\| ?|, )(?!what is not )(?:how|what|why|where|when) (?:do|does|did|would|is|are|to|we|exactly|the|happens|this|that)(?: (?!and\b|then\b|,|or\b|but\b|so\b)\S+){0,5}? $"
)
_MADE: Final = (
    "function|method|endpoint|button|tests?|test case|helper|handler|route|option|flag|feature|page|screen|modal|dialog|class|docs?|comment|example|section|guide|case|scenario|message|warning"
    "|confirmation|ui|menu|icon|mutation|resolver|event|listener|callback|toggle|support|logic|tutorial|readme|docstring|error message|checkbox|tooltip|link|form|unit test|integration test|mock|stub|decorator|wrapper|subcommand|paragraph|note|validation|check|spec|parameter|argument|reducer|fixture|assertion|action creator|action"
)
_FEATURE: Final = re.compile(
    rf"\b(?:{_MADE})s? (?:is |are |was |named |called |(?!(?:says?|said|tells?|told|wants?|recommends?|suggests?|needs?|asks?|advises?)\b)\S+ ){{0,2}}?(?:that|to|which|for|when|before|after|about|on how to|describing|explaining|where|if|asking|showing|of)(?: (?:someone|users?|an? \S+|the \S+|you|we|they|it|how|can|could|should|to|tries|trying|clicks?|safely|correctly|actually|properly)){{0,4}} $"
)
_USERS: Final = re.compile(
    r"\b(?:users?|admins?|clients?|callers?|customers?|visitors?|consumers?|people|members?) (?:(?:can|may|should|could|will|must|cannot|tries to|try to|wants? to|attempts? to|be able to|to|clicks?|accidentally|then) ?)*$"
)
# “Which icon fits the deploy column”: how something is called or looks.
_LOOKS: Final = re.compile(
    r"^(?:which|what|whose) (?:\S+ )?(?:names?|icons?|labels?|colou?rs?|fonts?|charts?|words?|titles?|wordings?|terms?|tooltips?|symbols?|emojis?|layouts?|headings?|captions?)\b(?!.*\b(?:i|we|you|me)\b)"
)
_LIVE: Final = re.compile(
    r"\b(?:prod|production|(?:go|goes|going|put|is|the|our|on) live|live(?! (?:in|inside|next|under|beside|alongside|with|near|together)\b)|real|staging|customer data|made public|the internet)\b"
)
# “Should the section on merging come before rebasing”: where something stands in a text.
_ORDERED: Final = re.compile(
    r"\b(?:explanations?|sections?|chapters?|lessons?|slides?|paragraphs?|examples?|exercises?|topics?) (?:[^\s|]+ ){0,6}?(?:come|stand|appear|go|be placed|precede|follow)s? (?:(?:right |directly )?(?:before|after|ahead of) )?(?:the |that of |the one (?:on|about) )?$"
)
_HARMLESS: Final = re.compile(
    r"^(?:yes |no |ok )?(?:(?:should|shall|can|may|could|would you like me to|do you want me to|want me to) ?(?:i|we)? ?)?(?:first |just |only )?(?:please )?"
    r"(?:list|show|explain|describe|read|look at|look into|search|view|print|summari[sz]e|count|inspect|check|review|find|grep|display|compare|examine|investigate|analy[sz]e|trace|browse)\b"
)
_PART: Final = re.compile(
    rf"[ -](?:{_MADE}|column|view|label|title|notes|formatter|parser|banner|badge|tab|table|list|component|type|model|field|name|enum|status|state|checklist|date|process|script|tooltip|widget|diagram|heading|chart)s?\b"
)
_DETERMINED: Final = re.compile(r"\b(?:the|an?|this|that|our|each|every|its) $")
_OF_TEST: Final = re.compile(r"[\w/-]*(?:\.test\.|\.spec\.|_test\.)\w+")
_SCREEN_PART: Final = re.compile(
    r" (?:buttons?|dialogs?|icons?|labels?|tooltips?|columns?|badges?|tabs?|modals?|menus?|banners?|checkbox(?:es)?|toggles?|headings?|screens?|views?|widgets?|spinners?)\b"
)
_POINTS: Final = re.compile(
    r"\b(?:proceed|go ahead|continue|carry on|go on|do (?:this|that|it|so|these)|ok(?:ay)?|alright|all right|sounds? (?:good|right|fine)|looks? (?:good|right|fine|ok)|lgtm|approve[ds]?|confirm(?:ed)?|ready|start|begin"
    r"|apply (?:this|these|them|it|the (?:change|plan|above))|run (?:this|it|these|them|that)|execute (?:this|it|these|them|that)|which (?:one|option|of (?:these|them|the))|is (?:that|this|it)|are (?:these|those|they|you sure)|shall (?:i|we)|should (?:i|we)"
    r"|may i|can i|do you (?:want|agree|approve|mind)|would you like|want me to|y/n|yes/no|yes or no|agree|thoughts|what do you think|make (?:this|these|the) changes?|perform|permission|allowed|accept|the (?:above|following|plan|steps?)|fine|good|correct|right|now)\b"
)
_DEICTIC: Final = re.compile(
    r"\b(?:this|that|it|these|those|them|so|above|following|plan|steps?|proposal|approach|everything|all|both|one|same|ahead|proceed|continue|option|command|changes?)\b"
)
# The sentence is about how something is called, shown, tested or described.
_TOLD: Final = re.compile(
    r"\b(?:docs?|docstrings?|documentation|readme|changelog|icons?|labels?|colou?rs?|wording|headings?|captions?|enums?|variables?|rename|renamed|unit tests?|test cases?|in (?:the )?tests?|tests? (?:for|of)|mocks?|mocked|fixtures?"
    r"|tooltips?|sections?|diagrams?|toasts?|banners?|modals?|spinners?|snackbars?|meters?|indicators?|placeholders?|error messages?|messages? (?:say|read|be)|parser|tokenizer|lexer|be called|be named|paragraphs?|screenshots?|storybook|animations?)\b"
)
_COMES_OF_IT: Final = re.compile(
    r"\b(?:would|otherwise|rest|remainder|others?|whatever|everything else|either way|not kept)\b"
)
_FRAME: Final = re.compile(
    r"\b(?:data ?frames?|pandas|polars|numpy|nans?|missing (?:values?|labels?)|training (?:frame|set|data|split)|(?:test|validation) (?:set|split)|outliers?|in-memory|array)\b"
)
_STEP: Final = re.compile(r"^\s*(?:[-*\u2022\u2013]|\d+[.)])\s+\S", re.MULTILINE)
_MOST_BEFORE: Final = 300
_SHORT: Final = 14
_ASKS_WHICH: Final = re.compile(r"(?:which|what|how|where|who|whose|why|when)\b")
_SHORTEST: Final = 3  # so few words say nothing themselves: “Go?”
CLAIMS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:\S+ ){0,3}?(?:previous|prior|above|earlier|your|all|any|the) (?:\S+ ){0,2}?(?:instructions?|rules?|polic(?:y|ies)|prompts?|guidelines|constraints|gate)\b"
    r"|\b(?:already|pre-?|been|was|is|fully)[- ]?(?:been )?(?:approved|authori[sz]ed|confirmed|cleared|ok'?d|whitelisted|signed off|allowed) by (?:the |my |your |our |a )?(?:human|user|owner|admin|administrator|operator|boss|manager|security|maintainer|cto|coordinator|policy|lead)\b"
    r"|\b(?:verdict|decision|policy|gate|action|escalate|escalation)\"? ?[:=]+ ?\"?(?:allow|allowed|approve|approved|answer|false|none|no|pass|never)\b"
    r"|\b(?:do not|don't|never|no need to|without|skip|not) (?:escalat\w+|asking (?:the |a )?human|bother(?:ing)? (?:the |a )?human|ask (?:the |a )?human|tell (?:the |a )?human|involv\w+ (?:the |a )?human)\b"
    r"|\b(?:you are (?:now )?(?:in |an? )?(?:developer|admin|root|god|unrestricted|maintenance|dan)|system (?:prompt|message|override|notice)|as (?:the|a) coordinator,? you (?:must|should|have to)|coordinator (?:must|should|has to) (?:allow|approve|answer|choose))\b"
    r"|</?(?:system|coordinator_context|policy|instructions?|assistant|human|worker_text|untrusted|question|gate)\b[^>]{0,60}>|\balwaysescalate\b|\bconfidence ?(?:score|level)? ?(?:is|[:=]|of)+ ?\"?(?:0?\.9\d*|1\.0+|100 ?%|9\d ?%)"
)


class Said(NamedTuple):
    """A match that counts."""

    start: int
    text: str


def clauses(folded: str) -> str:
    """Folded text as patterns match it: single spaces, no marks, `|` between sentences."""
    text = _ENDS.sub(" | ", _MARKS.sub(" ", folded))
    text = _LONG_WORD.sub(r"\g<0> ", _COMMA.sub(" ,", text))
    return _SPACES.sub(" ", text).strip()


def said(pattern: re.Pattern[str], prose: str, *, is_topic: bool = False) -> Said | None:
    """The first place where this is asked for. A topic needs a sentence that decides on it, and not on words about it."""
    for match in pattern.finditer(prose):
        if is_topic and _TOLD.search(_sentence(prose, match.start())):
            continue
        start = max(prose.rfind("|", 0, match.start()) + 1, match.start() - _MOST_BEFORE)
        before = prose[start : match.start()].lstrip()
        if counts(before, prose) and not _LOOKS.match(before + match[0]) and not _names_part(match, prose):
            return Said(match.start(), match[0])
    return None


def _sentence(document: str, at: int) -> str:
    """The sentence that this place is in, as far as it matters."""
    start = max(document.rfind("|", 0, at) + 1, at - _MOST_BEFORE)
    end = document.find("|", at)
    return document[start : min(end if end >= 0 else len(document), at + _MOST_BEFORE)]


def counts(before: str, prose: str) -> bool:
    """Whether what follows these words of a sentence is to be done, and not only spoken of."""
    negated = _NEGATED.search(before)
    if negated and not (negated["asked"] and negated["word"] in {"not", "no"}):
        return False
    if _INTENT.search(before) or _HOW.search(before) or _LOOKS.search(before) or _ORDERED.search(before):
        return False
    if _FEATURE.search(before) or _USERS.search(before):
        return bool(_LIVE.search(prose))
    return True


def _names_part(match: re.Match[str], prose: str) -> bool:
    """“The Publish dialog”, `deploy.test.ts`: one word that is the name of something on a screen or of a test."""
    if _OF_TEST.match(prose, match.start()) and " " not in match[0]:
        return True
    return " " not in match[0] and bool(
        _DETERMINED.search(prose[: match.start()]) and _SCREEN_PART.match(prose[match.end() :])
    )


def describes(document: str, found: Said) -> bool:
    """Whether what was found only describes a part of a program or a page: “the deploy button”."""
    return bool(_PART.match(document[found.start + len(found.text) :])) and not _LIVE.search(document)


def points_back(text: str) -> bool:
    """Whether a question means what was said before it: “proceed?”, “is that ok?”"""
    words = text.split()
    if not words or (len(words) <= _SHORTEST and not _ASKS_WHICH.match(text)):
        return True
    return (
        len(words) <= _SHORT
        and bool(_POINTS.search(text))
        and (len(words) <= 4 or bool(_DEICTIC.search(text)))
    )


def lists_steps(text: str) -> bool:
    """Whether a plan stands in the text itself, as a list."""
    return len(_STEP.findall(text)) > 1


def consequences(folded: str) -> str:
    """The sentences that say what comes of the answer: “The others would be erased.”"""
    return " . ".join(sentence for sentence in clauses(folded).split("|") if _COMES_OF_IT.search(sentence))


def is_of_a_frame(document: str, found: Said) -> bool:
    """Whether it is about rows in memory, such as a data frame's, and not a database's."""
    sentence = _sentence(document, found.start)
    return bool(_FRAME.search(sentence)) and not _LIVE.search(sentence)


def only_looks(text: str) -> bool:
    """Whether a sentence asks for nothing but a look."""
    return bool(_HARMLESS.match(text))
