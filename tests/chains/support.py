"""Projects at each rung of the ladder, and the package's catalogue alone."""

from __future__ import annotations

from functools import cache
from typing import Any

from maestro.chains import Catalogue, Phase, Project
from maestro.chains.catalogue.catalogue_file import shown_catalogue
from maestro.chains.routing.weights import Weights
from maestro.chains.routing.weights_file import load_weights

_PHASES: dict[str, dict[str, Any]] = {
    "pending": {"status": "pending"},
    "analyzed": {"status": "pending", "analyzed": True},
    "planned": {"status": "planned"},
    "executed": {"status": "executed"},
    "verified": {"status": "verified"},
    "reviewed": {"status": "verified", "reviewed": True},
    "blocked": {"status": "blocked"},
    "done": {"status": "done", "reviewed": True, "tested": True},
}


@cache
def package() -> Catalogue:
    return shown_catalogue("/nonexistent/home", "/nonexistent/state")


@cache
def weights() -> Weights:
    return load_weights()


def project_at(rung: str) -> Project | None:
    if rung == "none":
        return None
    if rung == "empty":
        return Project(name="shop")
    if rung == "complete":
        return Project(name="shop", status="complete")
    phases = (
        Phase(number=1, title="Catalogue", **_PHASES[rung]),
        Phase(number=2, title="Checkout", **_PHASES[rung]),
    )
    return Project(name="shop", phases=phases, current_phase=None if rung == "done" else 1)
