"""The prompts that Maestro itself writes for workers, pure: the first one (who it is, what it shall do, how it
reports), and the next task.

Everything that comes from tasks and callers is escaped: a title cannot close a tag, a message cannot pose as
another session.
"""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape, quoteattr

import msgspec

from maestro.redact import clean, redact

# What is longer is better read from the board than pasted.
_LONGEST: Final = 8_000


class PromptTask(msgspec.Struct, frozen=True):
    id: str
    title: str
    description: str = ""


def first_prompt(
    session_id: str, *, subject: str = "", message: str = "", tasks: tuple[PromptTask, ...] = ()
) -> str:
    """What a worker is told first; empty parts are left out."""
    parts = [f"<session_id>{safe(session_id)}</session_id>"]
    if subject.strip():
        parts.append(f"<subject>{safe(subject)}</subject>")
    if message.strip():
        parts.append(f"<message>\n{safe(message)}\n</message>")
    parts += [task_block(task) for task in tasks]
    parts.append(_how_to_report(tasks))
    return "\n\n".join(parts)


def task_block(task: PromptTask) -> str:
    lines = [f"<task id={quoteattr(clean(task.id))}>", f"<title>{safe(task.title)}</title>"]
    if task.description.strip():
        lines.append(f"<description>\n{safe(task.description)}\n</description>")
    return "\n".join([*lines, "</task>"])


def assignment(task: PromptTask, message: str = "") -> str:
    """What a worker is told when it gets its next task."""
    description = task.description.strip()
    if len(description) > _LONGEST:
        task = PromptTask(task.id, task.title, description[:_LONGEST] + "…")
    parts = ["Your next task:", task_block(task)]
    if len(description) > _LONGEST:
        parts.append(f"`maestro task show {clean(task.id)}` prints all of its description.")
    if message.strip():
        parts.append(f"<message>\n{safe(message)}\n</message>")
    words = f"maestro task report progress|blocked|error|complete {clean(task.id)}"
    parts.append(f'Report on it as before, by its id: `{words} "…"`. Stay within what is asked.')
    return "\n\n".join(parts)


def taken_away(task_id: str, title: str, name: str) -> str:
    """What a worker is told whose task another one has now."""
    return (
        f"Task {clean(task_id)} (“{safe(title)}”) is with “{safe(name)}” now. Stop working on it, leave its files as they "
        "are, report nothing more on it, and wait for your next task."
    )


def _how_to_report(tasks: tuple[PromptTask, ...]) -> str:
    noun = "task" if tasks else "session"
    which = " TASK_ID" if len(tasks) > 1 else ""
    lines = [
        "You are a worker; a coordinator reads what you report. Report in your shell, one short sentence each:",
        f'- `maestro {noun} report progress{which} "…"` when a part is done, with what changed',
        f'- `maestro {noun} report blocked{which} "…"` when you cannot go on, with what you need and from whom',
        f'- `maestro {noun} report error{which} "…"` when it failed for good, with the cause',
        f'- `maestro {noun} report complete{which} "…"` when all of it is done and checked, with the result and how you checked it',
    ]
    if len(tasks) > 1:
        lines.append("Name the task that you report on, each by its own id.")
    lines.append("Stay within what is asked. Report `complete` only for what you have seen to work.")
    return "\n".join(lines)


def safe(text: str) -> str:
    return escape(redact(clean(text)).strip())
