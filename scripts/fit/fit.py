"""Fits the table of words by which an intent is routed: `make fit`.

    intents.jsonl     {"intent", "chain"}     → chains/routing/words.tsv

The examples are what people wrote who did not know the program. Each fifth of them is judged by a table that was fitted to
the rest, as the program judges it; so the share is found with which a chain is run without asking, and the numbers that
are printed. No table of the tests takes part.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from maestro.chains.routing.weights import EACH, SCALE, fingerprint, parse_weights, rank, weights_table
from maestro.chains.routing.words import ASK, features

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "src/maestro/chains/routing/words.tsv"
EXAMPLES = HERE / "intents.jsonl"
FOLDS = 5
MOST_WRONG = 0.02  # of all, run without asking (bar R16d)
RAREST = 4  # examples that must have a feature for it to count
LENIENCY = 0.6  # how closely the examples are followed
SHARPNESS = 4.0  # from the margins of the model to shares
LEAST = 3  # of SCALE: smaller weights are left out


class Judged(NamedTuple):
    """How one example was judged by a table that did not know it."""

    share: float
    is_right: bool
    is_asked: bool  # whatever its share
    is_vague: bool  # to be asked is right
    is_offered: bool


def fit(texts: list[list[str]], names: list[str], *, says: str = "", enough: float = 0.0) -> bytes:
    """Returns the table of these texts."""
    words = TfidfVectorizer(analyzer=list, min_df=RAREST, sublinear_tf=True)
    model = LinearSVC(C=LENIENCY, max_iter=10_000, random_state=0)
    model.fit(words.fit_transform(texts), names)
    weights = (model.coef_ * SHARPNESS * SCALE).round().astype(int)
    speaks = {
        str(feature): [
            (number, int(row[column])) for number, row in enumerate(weights) if abs(row[column]) >= LEAST
        ]
        for column, feature in enumerate(words.get_feature_names_out())
    }
    rarity = dict(zip(speaks, map(float, words.idf_), strict=True))
    bias = {
        str(name): float(one) * SHARPNESS for name, one in zip(model.classes_, model.intercept_, strict=True)
    }
    # A word is known, also where it speaks for nothing.
    kept = {feature: told for feature, told in speaks.items() if told or feature.isalpha()}
    return weights_table(says, enough, bias, rarity, kept)


def judged(texts: list[list[str]], names: list[str]) -> list[Judged]:
    """Returns how each example is judged by the table of the other folds."""
    found = []
    for fitted, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(texts, names):
        table = parse_weights(fit([texts[one] for one in fitted], [names[one] for one in fitted]))
        for one in held_out:
            ranking = rank(texts[one], table)
            ranked = ranking.names if ranking else ()
            offered = [other.name for other in ranked if other.name != ASK][:3]
            found.append(
                Judged(
                    share=ranked[0].share if ranked else 0.0,
                    is_right=bool(ranked) and ranked[0].name == names[one],
                    is_asked=not ranked or ranked[0].name == ASK,
                    is_vague=names[one] == ASK,
                    is_offered=names[one] in offered,
                )
            )
    return found


def rates(found: list[Judged], enough: float) -> tuple[float, float, float]:
    """Returns the shares that are right, wrong without asking, and right or among three."""
    right = wrong = three = 0
    for one in found:
        is_run = not one.is_asked and one.share >= enough
        is_right = one.is_right if is_run else one.is_vague
        right += is_right
        wrong += is_run and not one.is_right
        three += is_right or (not is_run and one.is_offered)
    return right / len(found), wrong / len(found), three / len(found)


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    warnings.simplefilter("error", ConvergenceWarning)
    examples = rows()
    names = [row["chain"] for row in examples]
    texts = [features(row["intent"]) for row in examples]
    found = judged(texts, names)
    enough = next(share / 100 for share in range(20, 101) if rates(found, share / 100)[1] <= MOST_WRONG)
    right, wrong, three = rates(found, enough)
    said = f"{right:.1%} right, {wrong:.1%} wrong without asking, {three:.1%} right or among three"
    sys.stdout.write(f"{len(found)} held out in turn, from a share of {enough:.2f}: {said}\n")
    digest = hashlib.sha256(EXAMPLES.read_bytes()).hexdigest()
    says = f"fitted to scripts/fit/{EXAMPLES.name} with sha256 {digest}, read as {fingerprint(texts[::EACH])}"
    TABLE.write_bytes(fit(texts, names, says=says, enough=enough))


if __name__ == "__main__":
    main()
