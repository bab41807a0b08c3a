"""Fits the table of words that comes with the package: `make fit`.

    intents.jsonl     {"intent", "chain"}     → chains/routing/likeness.tsv

It holds what people wrote who did not know the program. Words that hardly any of them used say nothing about
the next text, and weights too small to matter are left out: so a table stays small enough to be read.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from maestro.chains.routing.route import clues as of_intent
from maestro.likeness import EACH, SCALE, Weights, fingerprint, weights_text

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "maestro"
LEAST = 4  # of SCALE: smaller weights are left out


def fit(texts: list[list[str]], names: list[str], leniency: float, rarest: int) -> Weights:
    """`leniency`: how closely the examples are followed; `rarest`: how many of them must have a word for it to count.
    Both were found with texts that were not among them."""
    words = TfidfVectorizer(analyzer=list, min_df=rarest, sublinear_tf=True)
    model = LogisticRegression(C=leniency, max_iter=1000)
    model.fit(words.fit_transform(texts), names)
    known = tuple(str(name) for name in model.classes_)
    # Of two names, one is weighed, and the other is what it is not.
    alone = len(known) == 2
    rows, bias = model.coef_, [float(one) for one in model.intercept_]
    speaks = {
        str(feature): tuple(
            (number + alone, round(float(weight) * SCALE))
            for number, weight in enumerate(rows[:, column])
            if abs(round(float(weight) * SCALE)) >= LEAST
        )
        for column, feature in enumerate(words.get_feature_names_out())
    }
    rarity = dict(zip(speaks, map(float, words.idf_), strict=True))
    kept = {feature for feature, told in speaks.items() if told}
    return Weights(
        known,
        tuple([0.0, *bias] if alone else bias),
        {feature: rarity[feature] for feature in speaks if feature in kept or not alone},
        {feature: speaks[feature] for feature in speaks if feature in kept or not alone},
    )


def write(examples: str, table: str, weights: Weights, texts: list[list[str]]) -> None:
    told = hashlib.sha256((HERE / examples).read_bytes()).hexdigest()
    says = f"fitted to scripts/fit/{examples} with sha256 {told}, read as {fingerprint(texts[::EACH])}"
    (PACKAGE / table).write_text(weights_text(weights, says), encoding="utf-8")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def main() -> None:
    intents = rows("intents.jsonl")
    texts = [of_intent(row["intent"]) for row in intents]
    table = fit(texts, [row["chain"] for row in intents], 30.0, 4)
    write("intents.jsonl", "chains/routing/likeness.tsv", table, texts)


if __name__ == "__main__":
    main()
