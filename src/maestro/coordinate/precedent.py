"""When two questions are the same, when two are alike, and what a human's answers add up to. Pure.

Only what is equal in every word, number, path and option is the same question. Where words are missing (cut off by a
screen, a secret that was taken out, “Shall I?” without what was said before), nothing is the same as anything.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from maestro.agents.questions import Answer, Question
from maestro.coordinate import AnswerRule, Earlier, PrecedentSettings
from maestro.coordinate.gate.folding import fold_text
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer
from maestro.ledger.facts import Precedent
from maestro.redact import MARK

_CUT: Final = re.compile(
    r"(?:…|(?<!/)\.\.\.)\s*\Z|(?:…|\.\.\.)\s*\+?\d+ (?:more )?(?:lines?|characters?)|\+\d+ more lines?"
)
# A question may begin with a capital or not; anywhere else a capital can be a part of a name.
_OPENERS: Final = frozenset((
    "am", "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "may", "might", "must", "shall",
    "should", "was", "were", "what", "when", "where", "which", "who", "why", "will", "would",
))  # fmt: skip
# A question of nothing but these says nothing of what it is about.
_EMPTY_WORDS: Final = frozenset((
    "a", "ahead", "all", "am", "and", "any", "anything", "are", "can", "carry", "changes", "confirm",
    "continue", "do", "does", "else", "for", "go", "going", "good", "how", "i", "is", "it", "like", "look",
    "looks", "me", "more", "my", "next", "no", "now", "of", "ok", "okay", "on", "one", "or", "plan",
    "please", "proceed", "ready", "right", "s", "shall", "should", "so", "start", "step", "steps", "sure",
    "that", "the", "then", "there", "these", "this", "those", "to", "want", "we", "what", "when", "where",
    "which", "with", "would", "yes", "yet", "you", "your",
))  # fmt: skip
_POINTS: Final = re.compile(r"\b(?:it|this|that|them|these|those|so|above|below)\W*\Z", re.IGNORECASE)
_SENTENCES: Final = re.compile(r"[.!?:;]\s+\S|\n\s*\S")
_WORD: Final = re.compile(r"\w+")
_CHOOSE: Final = re.compile(r"choose\s+(\d{1,4})", re.IGNORECASE)
_CHOOSE_BECAUSE: Final = re.compile(r"choose\s+(\d{1,4}):", re.IGNORECASE)
_LONGEST_RULE: Final = 1000
# Their question is always the same; what is asked is in the detail.
_DETAILED: Final = frozenset({"permission", "plan"})
_RULED: Final = frozenset({"choice", "multi_choice", "free_text", "permission"})


def fingerprint(asked: Question) -> str:
    """The same for equal questions only; empty where it cannot be told."""
    if not all(map(_is_whole, asked.parts or (asked,))):
        return ""
    said_before = _folded(asked.preamble) if _points_back(asked) else ""
    return _hash([_words(asked), said_before])


def question_hash(asked: Question) -> str:
    """The words of a question, whether they are all there or not, and whatever was said before them."""
    return _hash(_words(asked))


def similar(asked: Question, earlier: Sequence[Earlier], most: int = 5) -> tuple[Earlier, ...]:
    """Those that share most of their words with it; the best first, of equals the latest."""
    wanted = _vocabulary(_spoken(asked))
    scored = [(_likeness(wanted, _vocabulary(one.question)), one.at, one) for one in earlier]
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return tuple(one for score, _, one in scored[: max(0, most)] if score > 0)


def rule_words(asked: Question) -> str:
    """What a rule looks at: the command of a permission, whose question is always the same; else what is asked."""
    if asked.kind == "permission" and asked.detail.strip():
        return asked.detail.strip()
    return asked.text or asked.detail or "\n".join(part.text for part in asked.parts)


def offer(precedent: Precedent, settings: PrecedentSettings, tool: str = "") -> AnswerRule | None:
    """The rule that would say what a human has said often enough, or nothing. Its `question` is what `rule_words` says;
    `tool` is the one that a permission is asked for: to read a file is not to write it.

    A rule knows only the words of a question: none is offered where these say too little, and an option is named by
    its label, as options may come in another order.
    """
    words = precedent.question.strip()
    if precedent.forgotten_at is not None or not 0 < settings.offer_rule_after <= precedent.answers:
        return None
    if precedent.kind not in _RULED or not words or len(words) > _LONGEST_RULE or _is_cut(words):
        return None
    if precedent.kind != "permission" and _points_back(Question(kind="free_text", text=words)):
        return None
    answer = _by_label(precedent)
    if answer is None:
        return None
    pattern = re.escape(words if precedent.kind == "permission" else fold_text(words))
    return AnswerRule(
        pattern=pattern, answer=answer, kinds=(precedent.kind,), name=_folded(words)[:60], tool=tool
    )


def same_answer(asked: Question, one: str, other: str) -> bool:
    """Whether two texts answer a question alike: `Choose 2` and the label of the second option do."""
    return _meant(asked, one) == _meant(asked, other)


def _by_label(precedent: Precedent) -> str | None:
    if not _CHOOSE.match(precedent.answer.strip()):
        return precedent.answer
    chosen = _CHOOSE.fullmatch(precedent.answer.strip())
    if chosen is None or not 1 <= int(chosen[1]) <= len(precedent.options):
        return None
    label = precedent.options[int(chosen[1]) - 1]
    return label if precedent.options.count(label) == 1 and label.strip() else None


def _meant(asked: Question, text: str) -> object:
    try:
        return _told(asked, parse_answer(text, asked))
    except InvalidInput:
        # A reason where the option takes none: the reason is not what was chosen.
        chosen = _CHOOSE_BECAUSE.match(text.strip())
        is_one = chosen is not None and asked.kind == "choice" and int(chosen[1]) <= len(asked.options)
        return ((int(chosen[1]),), "") if chosen and is_one else _folded(text).casefold()


def _told(asked: Question, answer: Answer) -> object:
    if answer.parts:
        return tuple(_told(part, given) for part, given in zip(asked.parts, answer.parts, strict=True))
    # Words beside the one option that is chosen are its reason; in a multiple choice they are an answer more.
    is_reason = bool(answer.choices) and asked.kind != "multi_choice"
    return (tuple(sorted(answer.choices)), "" if is_reason else _folded(answer.text).casefold())


def _words(asked: Question) -> list[Any]:
    """All that makes it this question, in order."""
    return [
        asked.kind,
        asked.tool,
        _opened(_folded(asked.text)),
        _folded(asked.header),
        # A command's spaces can be a part of it.
        unicodedata.normalize("NFC", asked.detail.strip()),
        [
            [
                _folded(option.label),
                _folded(option.description),
                option.is_free_text,
                option.is_lasting,
                *([_folded(option.preview)] if option.preview else ()),
            ]
            for option in asked.options
        ],
        [_words(part) for part in asked.parts],
        *([_folded(asked.inputs)] if asked.inputs and asked.kind != "permission" else ()),
    ]


def _hash(words: list[Any]) -> str:
    return hashlib.sha256(json.dumps(words, separators=(",", ":")).encode()).hexdigest()


def _is_cut(text: str) -> bool:
    return MARK in text or _CUT.search(text) is not None


def _is_whole(asked: Question) -> bool:
    """Whether all of its words are there."""
    if not asked.detail.strip() and (asked.kind in _DETAILED or not asked.text.strip()):
        return False
    labels = (text for option in asked.options for text in (option.label, option.description, option.preview))
    if any(map(_is_cut, (asked.text, asked.detail, *labels))):
        return False
    return bool(asked.preamble.strip()) or not _points_back(asked)


def _points_back(asked: Question) -> bool:
    """Whether what it is about was said before it: “Proceed?”, “Shall I delete it?”."""
    if asked.detail.strip() or asked.parts:
        return False
    text = asked.text.strip()
    if _SENTENCES.search(text):
        return False
    words = _vocabulary(text)
    return words <= _EMPTY_WORDS or _POINTS.search(text) is not None


def _opened(text: str) -> str:
    first, space, rest = text.partition(" ")
    return first.lower() + space + rest if first.istitle() and first.lower() in _OPENERS else text


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _spoken(asked: Question) -> str:
    parts = " ".join(map(_spoken, asked.parts))
    return f"{asked.text} {asked.detail} {parts}"


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
