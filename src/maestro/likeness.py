"""What a text is most like, by a table of words: a linear model that a person can read. Pure.

A table is fitted by `scripts/fit/` to examples of many people, and has a line for each word or pair of words, with how
rare it is and how much it speaks for what:

    untangle    7.6    refactor:52 debug:-6
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from maestro.errors import InvalidInput

SCALE: Final = 10  # a weight of 1.0 is written as 10
EACH: Final = 100  # of so many examples one goes into the fingerprint


class Weights(msgspec.Struct, frozen=True):
    """How much each feature of a text speaks for each name."""

    names: tuple[str, ...] = ()
    bias: tuple[float, ...] = ()
    rarity: Mapping[str, float] = msgspec.field(default_factory=dict)
    speaks: Mapping[str, tuple[tuple[int, int], ...]] = msgspec.field(default_factory=dict)


class Likeness(NamedTuple):
    name: str
    share: float  # of all that speaks for anything, 0 to 1
    by: tuple[str, ...]  # the features that spoke for it most
    next: str = ""  # what it is like most after that


def neighbours(words: list[str]) -> list[str]:
    """Words and each pair of neighbours, the first and the last one marked."""
    return [*words, *(f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True))]


def liken(features: Iterable[str], weights: Weights) -> Likeness | None:
    """The name that a text is most like; None where none of its features is known."""
    counts = Counter(feature for feature in features if feature in weights.rarity)
    if not counts:
        return None
    heard = {feature: (1 + math.log(count)) * weights.rarity[feature] for feature, count in counts.items()}
    length = math.sqrt(sum(value * value for value in heard.values()))
    scores = list(weights.bias)
    for feature, value in heard.items():
        for number, weight in weights.speaks[feature]:
            scores[number] += value / length * weight / SCALE
    best, *others = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    share = 1 / sum(math.exp(score - scores[best]) for score in scores)
    for_it = {
        feature: value * weight
        for feature, value in heard.items()
        for number, weight in weights.speaks[feature]
        if number == best and weight > 0
    }
    by = sorted(for_it, key=for_it.__getitem__, reverse=True)[:3]
    return Likeness(weights.names[best], share, tuple(by), weights.names[others[0]] if others else "")


def fingerprint(texts: Iterable[Iterable[str]]) -> str:
    """A sign of how texts are read: by other features than these, a table has to be fitted anew."""
    said = "\n".join("\t".join(features) for features in texts)
    return hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]


def parse_weights(text: str) -> Weights:
    """The table as `weights_text` writes it."""
    lines = text.split("\n")
    try:
        named = [cell.rpartition("=") for cell in lines[1].split("\t")]
        numbers = {name: number for number, (name, _, _) in enumerate(named)}
        rarity: dict[str, float] = {}
        speaks: dict[str, tuple[tuple[int, int], ...]] = {}
        for line in filter(None, lines[2:]):
            feature, rare, told = line.split("\t")
            rarity[feature] = float(rare)
            pairs = (pair.rpartition(":") for pair in told.split())
            speaks[feature] = tuple((numbers[name], int(weight)) for name, _, weight in pairs)
        bias = tuple(float(bias) for _, _, bias in named)
    except (ValueError, KeyError, IndexError) as error:
        raise InvalidInput(
            f"The table of words is damaged: {error}.", hint="Install Maestro anew."
        ) from error
    return Weights(tuple(name for name, _, _ in named), bias, rarity, speaks)


def weights_text(weights: Weights, says: str) -> str:
    """A table with a first line that says where it comes from."""
    lines = [f"# {says}"]
    pairs = zip(weights.names, weights.bias, strict=True)
    lines.append("\t".join(f"{name}={bias:.2f}" for name, bias in pairs))
    for feature in sorted(weights.rarity):
        told = " ".join(f"{weights.names[number]}:{weight}" for number, weight in weights.speaks[feature])
        lines.append(f"{feature}\t{weights.rarity[feature]:.2f}\t{told}")
    return "\n".join(lines) + "\n"
