"""The first prompt of a session, pure: who it is, what it shall do, how it reports.

Everything that comes from tasks and callers is escaped: a title cannot close a tag, a message cannot pose as
another session.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

import msgspec

from maestro.redact import clean, redact


class PromptTask(msgspec.Struct, frozen=True):
    id: str
    title: str
    description: str = ""


def first_prompt(
    session_id: str, *, subject: str = "", message: str = "", tasks: tuple[PromptTask, ...] = ()
) -> str:
    """What a worker is told first; empty parts are left out."""
    parts = [f"<session_id>{_safe(session_id)}</session_id>"]
    if subject.strip():
        parts.append(f"<subject>{_safe(subject)}</subject>")
    if message.strip():
        parts.append(f"<message>\n{_safe(message)}\n</message>")
    parts += [_task(task) for task in tasks]
    parts.append(_how_to_report(tasks))
    return "\n\n".join(parts)


def _task(task: PromptTask) -> str:
    lines = [f"<task id={quoteattr(clean(task.id))}>", f"<title>{_safe(task.title)}</title>"]
    if task.description.strip():
        lines.append(f"<description>\n{_safe(task.description)}\n</description>")
    return "\n".join([*lines, "</task>"])


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


def _safe(text: str) -> str:
    return escape(redact(clean(text)).strip())
