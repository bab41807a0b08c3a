"""What comes next, told by project.json alone. Pure and total."""

from __future__ import annotations

from typing import NamedTuple

from maestro.chains import Phase, Project
from maestro.chains.project import phase_of


class Rung(NamedTuple):
    chain: str
    phase: int | None
    why: str
    description: str = ""


def next_rung(project: Project | None) -> Rung:
    if project is None:
        return Rung("init", None, "the project is not initialised", "Begin this project.")
    if project.status == "complete":
        return Rung("next-milestone", None, "the last milestone is complete", "The next milestone.")
    if not project.phases:
        return Rung("roadmap", None, "the project has no phases yet", project.goal or project.name)
    phase = phase_of(project, project.current_phase)
    if phase is None or phase.status == "done":
        left = [one for one in project.phases if one.status != "done"]
        if not left:
            return Rung(
                "milestone-close",
                None,
                "every phase is done",
                f"Close the milestone {project.milestone}".strip() + ".",
            )
        phase = min(left, key=lambda one: one.number)
    chain, why = _of_phase(phase)
    return Rung(chain, phase.number, f"phase {phase.number} is {why}", f"Phase {phase.number}: {phase.title}")


def _of_phase(phase: Phase) -> tuple[str, str]:
    match phase.status:
        case "pending":
            return ("plan", "pending and analyzed") if phase.analyzed else ("analyze", "pending")
        case "planned":
            return "execute", "planned"
        case "executed":
            return "verify", "executed"
        case "blocked":
            return "debug", f"blocked: {phase.blocked_by}" if phase.blocked_by else "blocked"
        case "verified" | "done":
            if not phase.reviewed:
                return "review", "verified and not reviewed"
            if not phase.tested:
                return "test", "verified and not tested"
            # Only a file that somebody wrote by hand is so: Maestro closes such a phase at once.
            return "verify", "verified, reviewed and tested, and not closed"
