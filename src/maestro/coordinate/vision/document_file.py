"""Where a project's vision is, how it is read and begun: `VISION.md`, or `vision.md` in the project's own folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from maestro import confined
from maestro.coordinate.tags.markdown_files import VISION, MarkdownFiles
from maestro.coordinate.vision.document import Fault, Vision, parse_vision
from maestro.dispatch.places import project_root
from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.files import write_atomically
from maestro.redact import clean, fold, redact
from maestro.trust import Brought
from maestro.trust.brought import digest_of
from maestro.trust.project import ProjectTrust

FILE: Final = "VISION.md"
_PRINCIPLES: Final = "VISION.md (principles)"
_MOST_PRINCIPLES: Final = 50
_LONGEST_PRINCIPLE: Final = 500


def vision_name(files: MarkdownFiles, given: str = "") -> str:
    """The file that counts, as the project names it."""
    if given:
        if not os.path.isfile(given):
            raise NotFound(f"There is no {given}.", hint="Give a Markdown file of the project.")
        return files.name_of(given)
    for path in (os.path.join(files.root, FILE), os.path.join(files.state, VISION)):
        if os.path.isfile(path):
            return files.name_of(path)
    raise NotFound(
        f"There is no vision in {files.root}.", hint=f"`maestro vision init` writes {FILE} to start from."
    )


def read_vision(files: MarkdownFiles, name: str) -> tuple[Vision, tuple[Fault, ...]]:
    return parse_vision(files.text_of(name), name)


def require_sound(faults: tuple[Fault, ...]) -> None:
    """Raise where something is wrong with it."""
    if faults:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults, the first"
        raise InvalidInput(
            f"The vision has {count}: {faults[0]}",
            hint="Mend it; `maestro vision check` tells all.",
            faults=[str(fault) for fault in faults],
        )


def principles_of(project: str, env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """Returns how the human wants things decided, for assessments; none where there is no vision, or where nobody has
    trusted its principles. `home` is MAESTRO_HOME."""
    principles = _principles(project, env)
    trust = ProjectTrust(home, project_root(project), env)
    return principles if not principles or trust.confirms(_PRINCIPLES, _joined(principles)) else ()


def brought_principles(trust: ProjectTrust, env: Mapping[str, str]) -> list[Brought]:
    """Returns the principles as something that can act: they tell a model how to decide."""
    principles = _principles(trust.root, env)
    wants = ("tells a model how to decide", *principles)
    return [Brought(_PRINCIPLES, digest_of(_joined(principles)), wants)] if principles else []


def untrusted_principles(trust: ProjectTrust, env: Mapping[str, str]) -> str:
    """Returns the sentence for a person whose principles do not count yet; empty where all do."""
    principles = _principles(trust.root, env)
    if not principles or trust.confirms(_PRINCIPLES, _joined(principles)):
        return ""
    return f"The principles in VISION.md count when you trust them as they are: maestro trust {trust.root}"


def _joined(principles: tuple[str, ...]) -> bytes:
    return "\n".join(principles).encode()


def _principles(project: str, env: Mapping[str, str]) -> tuple[str, ...]:
    files = MarkdownFiles(project, env)
    try:
        name = vision_name(files)
    except NotFound:
        return ()
    vision, _ = read_vision(files, name)
    told = (fold(redact(clean(one)))[:_LONGEST_PRINCIPLE] for one in vision.principles[:_MOST_PRINCIPLES])
    return tuple(one for one in told if one)


def begin_vision(path: str, title: str) -> None:
    """A document to start from. Never over one that is there."""
    if confined.exists(path):
        raise Conflict(f"{path} is there already.", hint="Change it, or move it away first.")
    text = _TEMPLATE.format(title=" ".join(title.split()) or "Vision")
    write_atomically(path, text.encode(), 0o644, confined=True)


_TEMPLATE: Final = """\
# {title}

## Goal

<!-- In a few sentences: what will be true when all is done, and for whom? -->

## Decision Principles

<!-- How you want things decided when you are not asked. They go into every assessment. -->

- Prefer the simplest thing that works.
- Ask before anything that cannot be undone.

## Chapters

### Chapter 1: First steps #needs-coordinate

What this chapter is about.

Acceptance criteria:

- [ ] Something that can be checked
- [ ] Something else

### Chapter 2: What comes then #needs-coordinate

Depends on: 1

Acceptance criteria:

- [ ] Something that can be checked
"""
