"""Ranks the chains that a text may mean by a table of words: a linear model that a person can read. Pure.

A table is fitted by `scripts/fit/` to examples of many people. It has a line for each word, pair or piece of a word, with
how rare it is and how much it speaks for what, and lines are in the order of their bytes:

    untangle    7.6    refactor:52 debug:-6
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from maestro.errors import InvalidInput

SCALE: Final = 10  # a weight of 1.0 is written as 10
EACH: Final = 100  # of so many examples one goes into the fingerprint
_SPOKEN_MOST: Final = 3  # features that are named as the reason


class Weights(msgspec.Struct, frozen=True):
    """A table as it lies on the disk: a line is taken apart when its word is asked for."""

    names: tuple[str, ...]
    bias: tuple[float, ...]
    enough: float  # the share with which a chain is run without asking, found by cross-validation
    lines: list[bytes]

    def find(self, feature: str) -> tuple[float, list[tuple[int, int]]] | None:
        """Returns how rare a feature is, and how much it speaks for which name; None for one that is unknown."""
        start = feature.encode(errors="replace") + b"\t"
        place = bisect_left(self.lines, start)
        if place == len(self.lines) or not self.lines[place].startswith(start):
            return None
        try:
            _, rare, told = self.lines[place].decode().split("\t")
            pairs = (pair.split(":") for pair in told.split())
            return float(rare), [(int(number), int(weight)) for number, weight in pairs]
        except ValueError as error:
            raise _damaged(error) from error


class Ranked(NamedTuple):
    """A name that a text may mean."""

    name: str
    share: float  # of all that speaks for anything, 0 to 1


class Ranking(NamedTuple):
    """Every name, the likeliest first."""

    names: tuple[Ranked, ...]
    by: tuple[str, ...]  # the features that spoke for the first one most


def rank(features: Iterable[str], weights: Weights) -> Ranking | None:
    """Returns what a text may mean; None where none of its features is known."""
    found = {
        feature: (count, line)
        for feature, count in Counter(features).items()
        if (line := weights.find(feature))
    }
    if not found:
        return None
    heard = {feature: (1 + math.log(count)) * rare for feature, (count, (rare, _)) in found.items()}
    length = math.sqrt(sum(value * value for value in heard.values()))
    scores = list(weights.bias)
    for feature, (_, (_, told)) in found.items():
        for number, weight in told:
            scores[number] += heard[feature] / length * weight / SCALE
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    best = order[0]
    powers = [math.exp(score - scores[best]) for score in scores]
    for_it = {
        feature: heard[feature] * weight
        for feature, (_, (_, told)) in found.items()
        for number, weight in told
        if number == best and weight > 0
    }
    return Ranking(
        tuple(Ranked(weights.names[number], powers[number] / sum(powers)) for number in order),
        tuple(sorted(for_it, key=for_it.__getitem__, reverse=True)[:_SPOKEN_MOST]),
    )


def fingerprint(texts: Iterable[Iterable[str]]) -> str:
    """Returns a sign of how texts are read: by other features than these, a table has to be fitted anew."""
    said = "\n".join("\t".join(features) for features in texts)
    return hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]


def parse_weights(table: bytes) -> Weights:
    """Reads what `weights_table` wrote."""
    lines = table.splitlines()
    try:
        cells = [cell.rpartition("=") for cell in lines[1].decode().split("\t")]
        enough, *bias = (float(number) for _, _, number in cells)
        names = tuple(name for name, _, _ in cells[1:])
    except (ValueError, IndexError) as error:
        raise _damaged(error) from error
    return Weights(names, tuple(bias), enough, lines[2:])


def weights_table(
    says: str,
    enough: float,
    bias: Mapping[str, float],
    rarity: Mapping[str, float],
    speaks: Mapping[str, Iterable[tuple[int, int]]],
) -> bytes:
    """Returns a table whose first line says where it comes from."""
    head = "\t".join([f"enough={enough:.2f}", *(f"{name}={value:.2f}" for name, value in bias.items())])
    lines = [
        f"{feature}\t{rarity[feature]:.2f}\t" + " ".join(f"{number}:{weight}" for number, weight in told)
        for feature, told in speaks.items()
    ]
    return "\n".join([f"# {says}", head, ""]).encode() + b"".join(
        line + b"\n" for line in sorted(line.encode() for line in lines)
    )


def _damaged(error: Exception) -> InvalidInput:
    return InvalidInput(f"The table of words is damaged: {error}.", hint="Install Maestro anew.")
