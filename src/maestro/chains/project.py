"""project.json: how far the work is. Pure: read, checked, moved on.

Agents write its goal and its phases (`init`, `roadmap`, `spec-generate`). How a phase stands is Maestro's alone to
change, by what the steps' result blocks say.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import msgspec

from maestro.chains import Phase, PhaseStatus, Project, ResultBlock
from maestro.errors import IllegalTransition, InvalidInput, NotFound

TRANSITIONS: Final[dict[PhaseStatus, tuple[PhaseStatus, ...]]] = {
    "pending": ("planned", "executed", "blocked"),
    "planned": ("planned", "executed", "blocked"),
    "executed": ("planned", "executed", "verified", "blocked"),
    "verified": ("planned", "executed", "verified", "done", "blocked"),
    "blocked": ("planned", "executed", "verified", "blocked"),
    "done": ("planned",),
}
_OF_COMMAND: Final[dict[str, PhaseStatus]] = {"plan": "planned", "execute": "executed", "debug": "executed"}


def parse_project(data: bytes) -> Project:
    """Raises InvalidInput that names what is wrong."""
    try:
        project = msgspec.json.decode(data, type=Project)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        where = f"{place.strip('`.')}: " if place else ""
        raise InvalidInput(f"{where}{what}.") from error
    for fault in faults(project):
        raise InvalidInput(fault)
    return project


def as_json(project: Project) -> bytes:
    return msgspec.json.format(msgspec.json.encode(project), indent=2) + b"\n"


def faults(project: Project) -> list[str]:
    found = []
    if not project.name.strip():
        found.append("name: it is empty.")
    numbers = [phase.number for phase in project.phases]
    found += [
        f"phases: there are two with the number {number}." for number, n in Counter(numbers).items() if n > 1
    ]
    for index, phase in enumerate(project.phases):
        if not 1 <= phase.number <= 999:
            found.append(f"phases[{index}].number: {phase.number} is not one of 1 to 999.")
        if not phase.title.strip():
            found.append(f"phases[{index}].title: it is empty.")
    if project.current_phase is not None and project.current_phase not in numbers:
        found.append(f"current_phase: there is no phase {project.current_phase}.")
    if project.current_phase is None and any(phase.status != "done" for phase in project.phases):
        found.append("current_phase: it names none, though not every phase is done.")
    return found


def phase_of(project: Project, number: int | None) -> Phase | None:
    return next((phase for phase in project.phases if phase.number == number), None)


def moved(project: Project, number: int, status: PhaseStatus, now: str, blocked_by: str = "") -> Project:
    """The phase in another status. One that was checked and is changed again has to be checked again."""
    phase = phase_of(project, number)
    if phase is None:
        raise NotFound(
            f"The project has no phase {number}.",
            hint=f"There are: {', '.join(str(one.number) for one in project.phases) or 'none'}.",
        )
    if status not in TRANSITIONS[phase.status]:
        raise IllegalTransition(
            f"Phase {number} is {phase.status} and cannot become {status}.",
            hint=f"It can become {', '.join(TRANSITIONS[phase.status])}.",
        )
    checked = {} if status in ("verified", "done", "blocked") else {"reviewed": False, "tested": False}
    return _with(
        project, msgspec.structs.replace(phase, status=status, blocked_by=blocked_by, **checked), now
    )


def after_step(project: Project, command: str, block: ResultBlock, phase: int | None, now: str) -> Project:
    """What a finished step makes of the project. A step that failed, or that has no phase, leaves it as it is."""
    if command == "milestone-complete" and block.status == "SUCCESS":
        return _milestone_complete(project, now)
    subject = phase_of(project, phase)
    if subject is None or block.status == "FAILURE":
        return project
    status = _status_after(subject, command, block)
    if status == "blocked":
        return (
            moved(project, subject.number, "blocked", now, block.summary)
            if subject.status != "done"
            else project
        )
    if status is not None and status in TRANSITIONS[subject.status]:
        project = moved(project, subject.number, status, now)
        subject = phase_of(project, phase) or subject
    return _closed(_with(project, _marked(subject, command), now), subject.number, now)


def _status_after(phase: Phase, command: str, block: ResultBlock) -> PhaseStatus | None:
    if block.status == "BLOCKED" or (
        command in ("verify", "review", "test") and block.verdict in ("GAPS", "FAIL")
    ):
        return "blocked"
    if command == "debug" and phase.status != "blocked":
        return None
    return "verified" if command == "verify" else _OF_COMMAND.get(command)


def _marked(phase: Phase, command: str) -> Phase:
    match command:
        case "analyze":
            return msgspec.structs.replace(phase, analyzed=True)
        case "review":
            return msgspec.structs.replace(phase, reviewed=True)
        case "test":
            return msgspec.structs.replace(phase, tested=True)
        case _:
            return phase


def _closed(project: Project, number: int, now: str) -> Project:
    """A phase that is verified, reviewed and tested is done, and the next one that is not becomes current."""
    phase = phase_of(project, number)
    if phase is None or not (phase.status == "verified" and phase.reviewed and phase.tested):
        return project
    project = moved(project, number, "done", now)
    left = [one.number for one in project.phases if one.status != "done"]
    return msgspec.structs.replace(project, current_phase=min(left, default=None))


def _milestone_complete(project: Project, now: str) -> Project:
    done = (*project.milestones_done, project.milestone) if project.milestone else project.milestones_done
    return msgspec.structs.replace(
        project,
        status="complete",
        milestone="",
        milestones_done=done,
        phases=(),
        current_phase=None,
        updated=now,
    )


def _with(project: Project, phase: Phase, now: str) -> Project:
    phases = tuple(phase if one.number == phase.number else one for one in project.phases)
    return msgspec.structs.replace(project, phases=phases, updated=now)
