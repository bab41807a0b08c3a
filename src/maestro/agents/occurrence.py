"""Tells one dialog from the next by what a screen shows of them. Pure.

Agents ask the same words twice in a row, and the second dialog may stand there before anybody looks. So a dialog counts
as the same only where all of it is equal, and where it stands at a step to which the answer can have brought it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from maestro.agents.questions import Option, Question, is_review, is_same, is_unchanged, squashed
from maestro.agents.terminal import Step

Likeness = Literal[
    "same",  # everything that is asked is equal
    "unclear",  # one of them shows less than the other: cut off, scrolled, half drawn
    "other",
]


def is_next_of(before: Question, step: Step, now: Question) -> bool:
    """Whether a screen shows the dialog that the step was taken in, at a place where that step can have brought it."""
    return (
        not step.is_final and likeness(before, now) == "same" and (step.undoes or not _has_lost(before, now))
    )


def is_as_answered(asked: Question, seen: Question | None, shown: Question) -> bool:
    """Whether a screen asks what was answered. Where only a hook had told of it, a screen may cut its words off, and
    never shows more of them."""
    if seen is not None:
        return is_unchanged(seen, shown) and _previews_alike(seen, shown)
    if asked.parts or asked.kind == "plan":
        return True
    is_permission = asked.kind == "permission"
    told, read = (asked.detail, shown.detail) if is_permission else (asked.text, shown.text)
    return not told or len(squashed(read)) <= len(squashed(told))


def _previews_alike(seen: Question, shown: Question) -> bool:
    pairs = [(seen, shown), *zip(seen.parts, shown.parts, strict=True)]
    return all(_options_alike(one.options, other.options) == "same" for one, other in pairs)


def likeness(before: Question, now: Question) -> Likeness:
    """Compares what two screens ask, wherever the cursor is and whatever is ticked or typed."""
    if before.is_cut or now.is_cut:
        # What is beyond the edge of the screen may be equal, and may not.
        return "unclear" if is_same(before, now) else "other"
    if before.kind != now.kind:
        return "other"
    said = _texts_alike(before.preamble, now.preamble)
    if is_review(before) or is_review(now):
        return _worst([said, _review_alike(before, now)])
    if before.parts or now.parts:
        return _worst([said, _parts_alike(before, now)])
    return _worst([said, _one_alike(before, now)])


def _one_alike(before: Question, now: Question) -> Likeness:
    return _worst(
        [
            _texts_alike(before.text, now.text),
            _names_alike(before.header, now.header),
            _names_alike(before.tool, now.tool),
            _texts_alike(before.detail, now.detail),
            _texts_alike(before.inputs, now.inputs),
            _options_alike(before.options, now.options),
        ]
    )


def _parts_alike(before: Question, now: Question) -> Likeness:
    """Of several questions a screen shows one, and the names of the others at most."""
    if len(before.parts) != len(now.parts):
        return "other"
    pairs = list(zip(before.parts, now.parts, strict=True))
    found = [_names_alike(one.header, other.header) for one, other in pairs]
    found += [_one_alike(one, other) for one, other in pairs if one.text and other.text]
    return _worst(found)


def _review_alike(before: Question, now: Question) -> Likeness:
    """A review lists what was asked and answered, in place of the questions themselves."""
    if is_review(before) and is_review(now):
        return _worst([_listed_alike(before, now), _names_alike(before.header, now.header)])
    review, open_one = (now, before) if is_review(now) else (before, now)
    if review.parts:
        return _listed_alike(before, now)
    if review.kind == "several":
        # Codex asks whether parts shall stay unanswered, and names none of them.
        return "same" if open_one.parts else "other"
    is_listed = squashed(review.detail).startswith(squashed(open_one.text)) or not review.detail
    return _worst([_names_alike(before.header, now.header), "same" if is_listed else "other"])


def _listed_alike(before: Question, now: Question) -> Likeness:
    """Compares the names and the words of parts: a review shows no options."""
    if len(before.parts) != len(now.parts):
        return "other"
    pairs = list(zip(before.parts, now.parts, strict=True))
    found = [_names_alike(one.header, other.header) for one, other in pairs]
    return _worst(
        found + [_texts_alike(one.text, other.text) for one, other in pairs if one.text and other.text]
    )


def _options_alike(before: tuple[Option, ...], now: tuple[Option, ...]) -> Likeness:
    """A long list shows some rows at a time: those that both show must be equal."""
    ones, others = _by_place(before), _by_place(now)
    shared = ones.keys() & others.keys()
    found = [_option_alike(ones[place], others[place]) for place in shared]
    if ones.keys() != others.keys():
        is_scrolled = bool(ones) and bool(others) and (min(ones) > 1 or min(others) > 1)
        found.append(("same" if shared else "unclear") if is_scrolled else "other")
    return _worst(found)


def _option_alike(one: Option, other: Option) -> Likeness:
    if one.is_free_text and other.is_free_text:
        return "same"
    labels = _texts_alike(one.label, other.label)
    # Only the row that the cursor is on shows its preview.
    shown = _texts_alike(one.preview, other.preview) if one.preview and other.preview else "same"
    return _worst([labels, _texts_alike(one.description, other.description), shown])


def _by_place(options: Iterable[Option]) -> dict[int, Option]:
    return {option.number or place: option for place, option in enumerate(options, 1)}


def _texts_alike(one: str, other: str) -> Likeness:
    """A text of which a screen shows only the beginning or the end is cut off, and not another one."""
    one, other = squashed(one), squashed(other)
    if one == other:
        return "same"
    is_cut = any(longer.startswith(part) or longer.endswith(part) for longer, part in _both(one, other))
    return "unclear" if is_cut else "other"


def _both(one: str, other: str) -> tuple[tuple[str, str], ...]:
    return (one, other), (other, one)


def _names_alike(one: str, other: str) -> Likeness:
    if squashed(one) == squashed(other):
        return "same"
    return "other" if one and other else "unclear"


def _worst(found: Iterable[Likeness]) -> Likeness:
    seen = set(found)
    if "other" in seen:
        return "other"
    return "unclear" if "unclear" in seen else "same"


def _has_lost(before: Question, now: Question) -> bool:
    """Whether something is no longer there that was ticked, typed or answered: a new dialog has none of it."""
    answered, still = _answered(before), _answered(now)
    if not answered <= still:
        return True
    if is_review(now):
        return False
    if is_review(before):
        return True
    if before.parts and now.parts:
        if before.position != now.position:
            return False
        before, now = before.parts[before.position], now.parts[now.position]
    ticked, shown = _by_place(before.options), _by_place(now.options)
    if any(ticked[place].is_chosen and not shown[place].is_chosen for place in ticked.keys() & shown.keys()):
        return True
    if before.typed and not now.typed:
        return True
    return before.stage == "typing" and now.stage == "open"


def _answered(question: Question) -> set[int]:
    return {
        place
        for place, part in enumerate(question.parts)
        if part.stage == "review" and place != question.position
    }
