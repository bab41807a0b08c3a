"""What steps tell each other: how a chain begins, and what each result adds. Pure."""

from __future__ import annotations

import posixpath
import re
import unicodedata

import msgspec

from maestro.chains import Chain, Context, Phase, Project, ResultBlock, Route
from maestro.errors import InvalidInput

_LONGEST_SLUG = 40


def slug(text: str) -> str:
    """A name for a folder, of the text's own words."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    return words[:_LONGEST_SLUG].strip("-") or "work"


def phase_folder(phase: Phase) -> str:
    """In the state folder."""
    return f"phases/{phase.number:02}-{slug(phase.title)}"


def begin(chain: Chain, route: Route, project: Project | None, *, state: str, stamp: str) -> Context:
    """What the first step knows. `state` is the state folder as agents name it, from the project's root; `stamp` tells
    one scratch folder from another of the same name."""
    phase, scratch = route.phase, ""
    current = project.current_phase if project else None
    if chain.work == "scratch":
        phase = None
    elif phase is None and chain.work in ("phase", "current"):
        phase = current
    if phase is not None and project is not None and phase not in {one.number for one in project.phases}:
        known = ", ".join(str(one.number) for one in project.phases) or "none"
        raise InvalidInput(f"The project has no phase {phase}.", hint=f"There are: {known}.")
    # A chain that begins without a roadmap may make one: then its first step that needs the phase is told of it.
    if chain.work == "scratch" or (chain.work in ("either", "current") and phase is None):
        scratch = posixpath.join(state, "scratch", f"{stamp}-{slug(route.description)}")
    return Context(
        description=route.description,
        phase=phase,
        issue_id=route.issue,
        scratch_dir=scratch,
        work=chain.work,
    )


def after(context: Context, block: ResultBlock) -> Context:
    """What the next step knows, too. Work beside the roadmap stays there, whatever phase a step speaks of."""
    beside = context.work in ("scratch", "issue", "either")
    return msgspec.structs.replace(
        context,
        phase=context.phase if block.phase is None or beside else block.phase,
        issue_id=block.issue or context.issue_id,
        spec_session_id=block.spec or context.spec_session_id,
        scratch_dir=block.scratch or context.scratch_dir,
    )


def misplaced_scratch(context: Context, block: ResultBlock, state: str) -> str:
    """Why the scratch folder that a result names cannot be used; empty: it can. Anywhere else than among the others,
    nobody knows what was in it before."""
    named = posixpath.normpath(block.scratch)
    home = posixpath.join(state, "scratch")
    if not block.scratch or block.scratch == context.scratch_dir or posixpath.dirname(named) == home:
        return ""
    return f"SCRATCH: {block.scratch} is no folder in {home}."


def work_folder(context: Context, project: Project | None, state: str) -> str:
    """Where this chain's artifacts are, from the project's root; empty: nowhere yet."""
    if context.work == "issue":
        return posixpath.join(state, "issues", context.issue_id) if context.issue_id else ""
    if context.work in ("phase", "current", "either") and context.phase is not None and project is not None:
        for phase in project.phases:
            if phase.number == context.phase:
                return posixpath.join(state, phase_folder(phase))
    return context.scratch_dir if context.work in ("scratch", "current", "either") else ""


def told(context: Context, project: Project | None, state: str) -> str:
    """The context as an agent reads it, for {{CONTEXT}}."""
    lines = [
        ("State folder", state),
        ("Folder of this work", work_folder(context, project, state)),
        ("Wanted", " ".join(context.description.split())),
        ("Project", _project_line(project)),
        ("Phase", _phase_line(context, project)),
        ("Issue", context.issue_id),
        ("Specification", context.spec_session_id),
        ("Scratch folder", context.scratch_dir),
    ]
    return "\n".join(f"- {name}: {value}" for name, value in lines if value)


def _project_line(project: Project | None) -> str:
    if project is None:
        return "not initialised: there is no project.json"
    goal = f": {project.goal}" if project.goal else ""
    return " ".join(f"{project.name}{goal}".split())


def _phase_line(context: Context, project: Project | None) -> str:
    if context.phase is None:
        return ""
    for phase in project.phases if project else ():
        if phase.number == context.phase:
            return " ".join(f"{phase.number}, {phase.title} ({phase.status})".split())
    return str(context.phase)
