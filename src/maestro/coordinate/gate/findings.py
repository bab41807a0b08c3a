"""The reasons that the gate collects: each once, in the policy's words. A builder that lives for one verdict. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.coordinate import Finding, Strictness
from maestro.coordinate.gate.categories import Matcher
from maestro.coordinate.gate.deeds import UNKNOWN, UNREADABLE, Effect
from maestro.redact import MARK, clean, fold, redact

MOST_EVIDENCE: Final = 100
_LONG_SECRET: Final = re.compile(r"(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-zA-Z])[\w+=-]{16,}")


class Findings:
    def __init__(self, categories: tuple[Matcher, ...], strictness: Strictness) -> None:
        self.categories = categories
        self.strictness = strictness
        self.all: list[Finding] = []
        self._seen: set[tuple[str, str]] = set()

    def add(self, category: str, where: str, evidence: str, why: str) -> None:
        """Take a reason, once for a place; and once only where a question repeats its detail."""
        shown = _shown(evidence)
        if not {(category, where), (category, shown)} & self._seen:
            self.all.append(Finding(category, where, shown, why))
        self._seen |= {(category, where), (category, shown)}

    def of(self, built_in: str) -> list[str]:
        """The policy's words for a built-in category."""
        return [matcher.name for matcher in self.categories if built_in in matcher.built_in]

    def effect(self, effect: Effect, where: str) -> None:
        if effect.level in {"read", "change"} or (effect.level == "wary" and self.strictness == "sure"):
            return
        why = f"{effect.why[:1].upper()}{effect.why[1:]}."
        if effect.category in {UNREADABLE, UNKNOWN}:
            self.add(UNREADABLE, where, effect.evidence, why)
        for name in self.of(effect.category):
            self.add(name, where, effect.evidence, why)


def _shown(evidence: str) -> str:
    """Short, on one line, and without secrets: folded ones lost the case that they are known by, so any long one goes."""
    return _LONG_SECRET.sub(MARK, fold(redact(clean(evidence))))[:MOST_EVIDENCE]
