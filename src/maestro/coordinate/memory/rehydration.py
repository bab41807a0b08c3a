"""`<coordinator_state>`: what a coordinator goes on with when its context was emptied. Pure.

Whoever reads it may know nothing: so it says who it is, what its work is, and how it goes on. Everything that comes from
agents, tasks and files is escaped. By a hook it is bounded, for a CLI keeps no more of what its hooks print.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from maestro.coordinate.memory.dehydration import Criterion, Note, State
from maestro.fleet.prompt import PromptTask, first_prompt
from maestro.observe.context import estimated_tokens
from maestro.redact import clean, redact

# Claude Code puts what is longer than 10,000 characters into a file, and shows its beginning.
MOST_TOKENS: Final = 2_300

_WORKFLOW: Final = """\
You are a coordinator: workers in other sessions do the work, you see to it that it gets done. Your context was emptied;
this is what was kept. Go on from it; do not begin anew, and do not ask again what was decided.
- Spawn: one worker for each part: `maestro session spawn --task ID --message "…"`.
- Monitor: each turn brings <coordinator_context>. Read it; type only where somebody needs it.
- Recover: `maestro session logs ID --last 10`, then `maestro session prompt ID --message "…"`.
- Verify: `maestro task children ID`; look at what was done before you `maestro session report complete "…"`.
What waits for the human is theirs to answer. A refusal is final: report it and go on with the rest."""
_ALL_OF_IT: Final = "Some was left out for want of room: `maestro session rehydrate` shows all of it."


class Whose(NamedTuple):
    """The session that goes on."""

    session_id: str
    name: str
    role: str
    tasks: tuple[PromptTask, ...] = ()


class _Room(NamedTuple):
    """How much of it is shown: characters of a long text, of a short one, entries of a list."""

    long: int
    short: int
    entries: int


_ALL: Final = _Room(100_000, 100_000, 1_000)
_ROOMS: Final = (
    _Room(4_000, 500, 20),
    _Room(2_000, 300, 12),
    _Room(1_000, 200, 10),
    _Room(600, 120, 6),
    _Room(300, 80, 4),
)


def state_block(
    whose: Whose,
    state: State,
    saved_at: int | None,
    zone: tzinfo | None = None,
    most_tokens: int | None = MOST_TOKENS,
) -> str:
    """All of it, or as much as there is room for; empty where not even the least has room."""
    whole = _block(whose, state, saved_at, zone, _ALL)
    if most_tokens is None or estimated_tokens(len(whole)) <= most_tokens:
        return whole
    shorter = (_block(whose, state, saved_at, zone, room) for room in _ROOMS)
    return next((block for block in shorter if estimated_tokens(len(block)) <= most_tokens), "")


def _block(whose: Whose, state: State, saved_at: int | None, zone: tzinfo | None, room: _Room) -> str:
    tag = "coordinator_state" if whose.role == "coordinator" else "session_state"
    saved = [("saved", _time(saved_at, zone))] if saved_at is not None else []
    parts = [
        f"<{tag} {_attributes([('session', whose.session_id), ('name', whose.name), *saved])}>",
        *_role(whose, room),
        *_element("summary", state.summary, room.long),
        *_element("last_action", state.last_action, room.long),
        *_list("next_steps", [f"  <step>{_text(step, room.short)}</step>" for step in state.next_steps], room),
        *_files(state.required_files),
        *_paths(state, room),
        *_list("panes", [_note("pane", one, room, zone) for one in state.panes], room),
        # The newest last, and those are the ones that stay.
        *_list("recent_decisions", [_note("decision", one, room, zone) for one in state.recent_decisions], room,
               last=True),
        *_list("pending_escalations", [_note("escalation", one, room, zone) for one in state.pending_escalations],
               room),
        *([_ALL_OF_IT] if room is not _ALL else []),
        f"</{tag}>",
    ]  # fmt: skip
    return "\n".join(parts)


def _role(whose: Whose, room: _Room) -> list[str]:
    if whose.role != "coordinator":
        tasks = tuple(
            PromptTask(task.id, _plain(task.title, room.short), _plain(task.description, room.long))
            for task in whose.tasks[: room.entries]
        )
        return [first_prompt(whose.session_id, tasks=tasks)]
    lines = [f"<role>\n{escape(_WORKFLOW)}\n</role>"]
    for task in whose.tasks[: room.entries]:
        title = f"<title>{_text(task.title, room.short)}</title>"
        lines.append("\n".join([f"<task {_attributes([('id', task.id)])}>", title]))
        lines += _element("description", task.description, room.long)
        lines.append("</task>")
    return lines


def _files(files: Sequence[str]) -> list[str]:
    if not files:
        return []
    lines = [f"  <file {_attributes([('path', path)], 300)} />" for path in files]
    return ['<required_files read_them_first="true">', *lines, "</required_files>"]  # fmt: skip


def _paths(state: State, room: _Room) -> list[str]:
    """Where the policy and the vision are, and how far the chapter is."""
    lines = [
        f"<{name} {_attributes([('path', path)], 300)} />"
        for name, path in (("config", state.config), ("vision", state.vision))
        if path
    ]
    if not state.chapter and not state.criteria:
        return lines
    boxes = [_criterion(one, room) for one in state.criteria]
    done = sum(one.done for one in state.criteria)
    counted = [("done", f"{done} of {len(state.criteria)}")] if state.criteria else []
    head = f"<chapter {_attributes([('name', state.chapter), *counted], room.short)}"
    return [*lines, f"{head}>", *_trimmed(boxes, room), "</chapter>"] if boxes else [*lines, f"{head} />"]


def _criterion(one: Criterion, room: _Room) -> str:
    return f"  - [{'x' if one.done else ' '}] {_text(one.text, room.short)}"


def _note(tag: str, note: Note, room: _Room, zone: tzinfo | None) -> str:
    attributes = [("id", note.id), ("worker", note.worker)]
    if note.at is not None:
        attributes.append(("at", _time(note.at, zone)))
    head = " ".join([tag, _attributes([(name, value) for name, value in attributes if value])]).strip()
    return f"  <{head}>{_text(note.text, room.short)}</{tag}>"


def _list(tag: str, lines: Sequence[str], room: _Room, *, last: bool = False) -> list[str]:
    return [f"<{tag}>", *_trimmed(lines, room, last=last), f"</{tag}>"] if lines else []


def _trimmed(lines: Sequence[str], room: _Room, *, last: bool = False) -> Iterable[str]:
    if len(lines) <= room.entries:
        return lines
    kept = lines[-room.entries :] if last else lines[: room.entries]
    return [*kept, f'  <left_out count="{len(lines) - room.entries}" />']


def _element(tag: str, text: str, longest: int) -> list[str]:
    return [f"<{tag}>{_text(text, longest)}</{tag}>"] if text.strip() else []


def _attributes(pairs: Sequence[tuple[str, str]], longest: int = 80) -> str:
    quote = {'"': "&quot;", "\n": " "}
    return " ".join(f'{name}="{_text(" ".join(value.split()), longest, quote)}"' for name, value in pairs)


def _plain(text: str, longest: int) -> str:
    """The text, so short that it has room when it is escaped."""
    safe = redact(clean(text)).strip()
    if len(escape(safe)) <= longest:
        return safe
    size = 0
    for place, letter in enumerate(safe):
        size += len(escape(letter, {'"': "&quot;"}))
        if size > longest - 1:
            return safe[:place].rstrip() + "…"
    return safe


def _text(text: str, longest: int, quote: dict[str, str] | None = None) -> str:
    return escape(_plain(text, longest), quote or {})


def _time(at: int, zone: tzinfo | None) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
