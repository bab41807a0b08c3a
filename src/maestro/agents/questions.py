"""What an agent waits for, and what can be told to it: the facts. Pure.

A question says what is asked, never which occurrence it is: whoever keeps questions gives each an id.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from maestro.agents.shown import folded
from maestro.redact import MARK

# Of a dialog that is larger than the screen it stands on.
CUT: Final = "Its screen is too small to show all of it."
# Of a question that was kept: what was taken out of it may be more than a secret.
HIDDEN: Final = "It holds a secret or control characters that are not kept, and perhaps a command among them."

# Of a question that lay on the disk before anybody read it.
REDACTED: Final = "Its hook told it while no daemon ran, so it was kept without what looks like a secret, and no screen has shown all of it."

QuestionKind = Literal[
    "choice",  # one of several options
    "multi_choice",  # any of several options
    "several",  # more than one question in one dialog: `parts`
    "permission",  # may it do this?
    "plan",  # may it carry out this plan?
    "free_text",  # words, no options
    "dialog",  # the CLI itself wants to know: trust, key, update, hooks, warnings
]
Stage = Literal[
    "open",  # as it was asked
    "typing",  # its free-text field has the keyboard
    "review",  # everything is answered, and waits to be submitted
]


class Option(msgspec.Struct, frozen=True, rename="camel"):
    label: str
    description: str = ""
    number: int | None = None  # the digit that stands before it; none where only arrows reach it
    is_free_text: bool = False  # choosing it opens a field for words
    takes_notes: bool = False  # words can be added to it when it is chosen
    is_lasting: bool = False  # it changes what will be asked later: “always allow”, “don't ask again”
    is_chosen: bool = False  # ticked, in a multiple choice
    is_current: bool = False  # the cursor is on it
    preview: str = ""  # what is shown beside it, or told of it besides its words


class Question(msgspec.Struct, frozen=True, rename="camel"):
    kind: QuestionKind
    text: str
    options: tuple[Option, ...] = ()
    header: str = ""  # the short name that some dialogs give a question
    preamble: str = ""  # what the agent said right before
    tool: str = ""  # of a permission: which tool would run
    detail: str = ""  # of a permission: the command, the file; of a plan: the plan
    parts: tuple[Question, ...] = ()  # of several: each of them, as far as they have been seen
    position: int = 0  # of several: which part is on the screen
    stage: Stage = "open"
    typed: str = ""  # what its free-text field holds
    inputs: str = ""  # what the call holds besides: of a permission its other arguments, as far as the dialog shows them
    unread: str = ""  # what of it nobody has read, in a sentence; empty where all of it is here
    is_cut: bool = False  # its screen is too small for it: a larger one would show more

    @property
    def free_text(self) -> Option | None:
        """The option that takes words, if there is one."""
        return next((option for option in self.options if option.is_free_text), None)


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What shall be told. `choices` count from one, in the question's order."""

    choices: tuple[int, ...] = ()
    text: str = ""  # for the free-text field, or, in a plan or a refused permission, what to do differently
    parts: tuple[Answer, ...] = ()  # of several: one for each


def several(parts: tuple[Question, ...], beside: str) -> Question:
    """Returns one question for all that a call asks, with what its record holds beside them."""
    if len(parts) != 1:
        return Question("several", parts[0].text if parts else "", parts=parts, inputs=beside)
    inputs = "\n".join(filter(None, (parts[0].inputs, beside)))
    return msgspec.structs.replace(parts[0], inputs=inputs)


def cut(question: Question) -> Question:
    """Returns what is left of a dialog on a screen that is too small for it. Nothing is said of what a permission is
    for, rather than a part of a command that looks like all of it."""
    is_permission = question.kind == "permission"
    return msgspec.structs.replace(
        question,
        detail="" if is_permission else question.detail,
        inputs="" if is_permission else question.inputs,
        unread=question.unread or CUT,
        is_cut=True,
    )


def is_same(known: Question, seen: Question) -> bool:
    """Whether a hook and a screen can mean one dialog. It may have been moved on in between, a screen may cut off its
    words, and a hook does not know all of them. Two screens are told apart by `occurrence.likeness`."""
    if known.is_cut or seen.is_cut:
        return _may_be_rest(known, seen)
    if "permission" in (known.kind, seen.kind):
        return known.kind == seen.kind and _overlap(squashed(known.detail), squashed(seen.detail))
    if known.kind == "plan" or seen.kind == "plan":
        return known.kind == seen.kind
    if is_review(known) or is_review(seen):
        return _is_reviewed(known, seen)
    if known.parts or seen.parts:
        return bool(_texts(known) & _texts(seen)) or _headers(known) == _headers(seen)
    return _overlap(squashed(known.text), squashed(seen.text))


def is_review(question: Question) -> bool:
    """Whether a screen lists the answers, in place of what was asked."""
    if question.stage != "review":
        return False
    return question.position >= len(question.parts) if question.kind == "several" else question.position > 0


def _is_reviewed(known: Question, seen: Question) -> bool:
    """A review is of the questions whose names or words it lists; one that lists none is of any that has parts."""
    review, asked = (seen, known) if is_review(seen) else (known, seen)
    if is_review(asked):
        return _headers(known) == _headers(seen)
    if review.kind == "several":
        is_listed = not review.parts or bool(_texts(review) & _texts(asked))
        return bool(asked.parts) and (is_listed or _headers(review) == _headers(asked))
    return asked.kind == review.kind and _overlap(squashed(asked.text), squashed(review.detail))


def is_unchanged(before: Question, now: Question) -> bool:
    """Whether a screen still asks exactly the same, wherever its cursor is. Stricter than `is_same`: “git push” is not
    “git push --force”, however it goes on, and the same question after other words is another one."""
    return _asked_words(before) == _asked_words(now)


def as_shown(answer: Answer, asked: Question, shown: Question) -> Answer | None:
    """The answer to what was asked, counted as the screen counts its options. None where it shows no such option."""
    if answer.parts:
        if len(answer.parts) != len(asked.parts) or len(shown.parts) != len(asked.parts):
            return answer
        parts = [as_shown(*one) for one in zip(answer.parts, asked.parts, shown.parts, strict=True)]
        told = tuple(part for part in parts if part is not None)
        return msgspec.structs.replace(answer, parts=told) if len(told) == len(parts) else None
    if not shown.options or not asked.options or shown.stage == "review":
        return answer
    wanted = [asked.options[choice - 1] for choice in answer.choices if choice <= len(asked.options)]
    places = [_place(option, shown.options) for option in wanted]
    choices = tuple(place for place in places if place is not None)
    return msgspec.structs.replace(answer, choices=choices) if len(choices) == len(answer.choices) else None


def _place(wanted: Option, options: tuple[Option, ...]) -> int | None:
    """Where an option stands, by its words; its digit where the list is so long that it is scrolled out of sight."""
    for place, option in enumerate(options, 1):
        if squashed(option.label) == squashed(wanted.label):
            return option.number or place
    return wanted.number if all(option.number != wanted.number for option in options) else None


def _may_be_rest(known: Question, seen: Question) -> bool:
    """Whether one can be what a small screen shows of the other: of a very small one not even the kind is told."""
    kinds = {known.kind, seen.kind}
    if len(kinds) > 1 and "dialog" not in kinds and not kinds <= _ASKED:
        return False
    if kinds == {"plan"}:
        return True
    pairs = [(known.detail, seen.detail)]
    if kinds != {"permission"}:  # a hook words one as no screen does
        pairs.append((known.text, seen.text))
    return all(_is_part(squashed(one), squashed(other)) for one, other in pairs)


def _is_part(one: str, other: str) -> bool:
    return one in other or other in one


_ASKED: Final[frozenset[QuestionKind]] = frozenset({"choice", "multi_choice", "several", "free_text"})


def merged(known: Question, seen: Question, *, exact: bool) -> Question:
    """Both sightings in one. `exact`: the new one has the agent's own words, and not what fitted on a screen."""
    if known.is_cut != seen.is_cut:
        whole, rest = (seen, known) if known.is_cut else (known, seen)
        # A hook may tell nothing of what it is for: then nobody has read that.
        is_told = bool(whole.detail or whole.inputs) or whole.kind not in {"permission", "plan"}
        return settled(
            msgspec.structs.replace(
                whole,
                options=whole.options or rest.options,
                detail=whole.detail or rest.detail,
                unread=_unread(whole, rest) if is_told else rest.unread or whole.unread,
            )
        )
    words, place = (seen, known) if exact else (known, seen)
    return settled(
        msgspec.structs.replace(
            words,
            text=words.text if exact else _fuller(words.text, place.text),
            options=_merged_options(words, place),
            preamble=_fuller(words.preamble, place.preamble),
            detail=words.detail or place.detail if exact else _fuller(words.detail, place.detail),
            header=words.header or place.header,
            inputs=_fuller(words.inputs, place.inputs),
            unread=_unread(words, place),
            parts=words.parts if len(words.parts) >= len(place.parts) else place.parts,
        )
    )


def _fuller(words: str, place: str) -> str:
    """What is known, or what a screen shows, where that goes on before or behind it: nothing is shown that is not kept."""
    known, shown = squashed(words), squashed(place)
    return place if len(shown) > len(known) and (shown.startswith(known) or shown.endswith(known)) else words


def _unread(words: Question, place: Question) -> str:
    """What neither sighting has: a hook has all that it tells, and may tell nothing of a plan."""
    if HIDDEN in (words.unread, place.unread):
        return HIDDEN
    if words.unread == REDACTED:
        return place.unread if _shows_all(place, words) else REDACTED
    return place.unread if words.kind == "plan" and not words.detail else words.unread


def _shows_all(place: Question, words: Question) -> bool:
    """Whether a screen shows every word that lacks something. It was read whole, then looked through for what could be
    more than a secret, and only then redacted in the same way."""
    shown = [squashed(one) for one in words_of(place)]
    lacking = [squashed(one) for one in words_of(words) if MARK in one]
    return all(any(one in whole for whole in shown) for one in lacking)


def words_of(question: Question) -> tuple[str, ...]:
    """Everything that is asked, offered and said in it."""
    offered = (text for one in question.options for text in (one.label, one.description, one.preview))
    own = (question.text, question.header, question.tool, question.detail, question.inputs, question.preamble)
    return (*own, *offered, *(words for part in question.parts for words in words_of(part)))


def settled(question: Question) -> Question:
    """As it was asked: without where the cursor is, what is ticked and what was typed."""
    options = tuple(
        msgspec.structs.replace(option, is_chosen=False, is_current=False) for option in question.options
    )
    parts = tuple(map(settled, question.parts))
    return msgspec.structs.replace(question, options=options, parts=parts, position=0, stage="open", typed="")


def _merged_options(words: Question, place: Question) -> tuple[Option, ...]:
    """What can be chosen. Where the CLI makes up the options, only the screen knows all of them and their order."""
    if words.kind in {"permission", "plan", "dialog"}:
        return place.options or words.options
    return _numbered(words.options, place.options)


def _numbered(options: tuple[Option, ...], shown: tuple[Option, ...]) -> tuple[Option, ...]:
    """The options in the agent's words, with the digits that the screen gives them, and those that the CLI adds."""
    if not options:
        return shown
    digits = {squashed(option.label): option for option in shown}
    numbered = tuple(
        msgspec.structs.replace(
            option,
            number=option.number or seen.number,
            description=_fuller(option.description, seen.description),
            preview=_fuller(option.preview, seen.preview),
        )
        if (seen := digits.pop(squashed(option.label), None))
        else option
        for option in options
    )
    return (*numbered, *(option for option in digits.values() if option.is_free_text))


def _overlap(one: str, other: str) -> bool:
    """What a narrow screen cut off, or never showed, is no difference."""
    return not one or not other or one.startswith(other) or other.startswith(one)


def _texts(question: Question) -> set[str]:
    return {squashed(part.text) for part in question.parts or (question,) if part.text}


def _headers(question: Question) -> tuple[str, ...]:
    return tuple(part.header for part in question.parts) or (question.header,)


def _asked_words(question: Question) -> tuple[object, ...]:
    return (
        question.kind,
        *map(squashed, (question.text, question.header, question.tool, question.detail, question.preamble)),
        squashed(question.inputs),
        tuple((squashed(option.label), squashed(option.description)) for option in question.options),
        tuple(map(_asked_words, question.parts)),
    )


def squashed(text: str) -> str:
    """Returns a text as it is compared: a screen breaks lines anywhere, and loses what nobody sees."""
    return folded(text)
