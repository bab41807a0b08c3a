"""What a coordinator must not forget when its context is emptied: the facts, read from JSON that an agent wrote. Pure.

Every fault is told at once, each with its place. Long texts are cut, not refused: whoever writes this has little room
left to write it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

import msgspec

from maestro.agents.json_text import Child, Node, NotJson, parsed
from maestro.errors import InvalidInput
from maestro.redact import clean, redact

MOST_FILES: Final = 8
MOST_DECISIONS: Final = 10
_MOST_NOTES: Final = 20
_MOST_PANES: Final = 50
_LONGEST_SUMMARY: Final = 4_000
_LONGEST_TEXT: Final = 500
_LONGEST_PATH: Final = 300
_LARGEST: Final = 200_000
_KNOWN_IDS: Final = ("esca_", "deci_", "%")  # of what the ledger and tmux can tell anew
_HINT: Final = "`maestro session dehydrate --help` shows every field; all of them may be left out."


class Note(msgspec.Struct, frozen=True, rename="camel"):
    """One thing to remember: of whom, and under which id the ledger knows it, if it does."""

    text: str
    id: str = ""
    worker: str = ""
    at: int | None = None


class Criterion(msgspec.Struct, frozen=True, rename="camel"):
    """One checkbox of the chapter."""

    text: str
    done: bool


class State(msgspec.Struct, frozen=True, rename="camel"):
    """All of it: the agent's own words, and what the ledger knows."""

    summary: str = ""
    last_action: str = ""
    next_steps: tuple[str, ...] = ()
    required_files: tuple[str, ...] = ()
    pending_escalations: tuple[Note, ...] = ()
    recent_decisions: tuple[Note, ...] = ()
    config: str = ""
    vision: str = ""
    chapter: str = ""
    criteria: tuple[Criterion, ...] = ()
    panes: tuple[Note, ...] = ()

    @property
    def has_words(self) -> bool:
        """Whether the agent said something that nobody else knows."""
        return bool(self.summary or self.last_action or self.next_steps or self.required_files)


class Known(msgspec.Struct, frozen=True):
    """What is known without the agent, at this moment."""

    pending: tuple[Note, ...] = ()
    decisions: tuple[Note, ...] = ()  # newest last
    config: str = ""
    vision: str = ""
    chapter: str = ""
    criteria: tuple[Criterion, ...] = ()
    panes: tuple[Note, ...] = ()


def merged(given: State, before: State | None, known: Known) -> State:
    """What is kept now: the agent's words, else its words of last time; beside them, what is known.

    Of last time only what the agent alone knows counts: an escalation may have been answered since, a pane be gone.
    """
    earlier = before or State()
    words = given if given.has_words else earlier
    return State(
        summary=words.summary,
        last_action=words.last_action,
        next_steps=words.next_steps,
        required_files=words.required_files,
        pending_escalations=_notes(
            known.pending, given.pending_escalations, earlier.pending_escalations, _MOST_NOTES
        ),
        recent_decisions=_decisions(given, earlier, known),
        config=given.config or known.config or earlier.config,
        vision=given.vision or known.vision or earlier.vision,
        chapter=given.chapter or known.chapter or earlier.chapter,
        criteria=known.criteria or earlier.criteria,
        panes=_notes(known.panes, given.panes, earlier.panes, _MOST_PANES),
    )


def _notes(
    known: Sequence[Note], given: Sequence[Note], before: Sequence[Note], most: int
) -> tuple[Note, ...]:
    """What is known, then what only the agent tells."""
    return (*known, *_own(known, given, before))[:most]


def _decisions(given: State, before: State, known: Known) -> tuple[Note, ...]:
    own = _own(known.decisions, given.recent_decisions, before.recent_decisions)
    return (*own[-MOST_DECISIONS:], *known.decisions[-MOST_DECISIONS:])


def _own(known: Sequence[Note], given: Sequence[Note], before: Sequence[Note]) -> list[Note]:
    told = given or [note for note in before if not note.id.startswith(_KNOWN_IDS)]
    ids = {note.id for note in known}
    return [note for note in told if note.id not in ids - {""} and note.text not in ids]


# Reading.


class _Fault(NamedTuple):
    place: int
    words: str


class FileFound(NamedTuple):
    """A file that was named: as the project names it, or why it is none."""

    name: str = ""
    fault: str = ""


FindFile = Callable[[str], FileFound]


def parse_state(text: str, find_file: FindFile) -> State:
    """The state in this text. `find_file` says what a path means."""
    if len(text) > _LARGEST:
        raise InvalidInput(
            f"This has {len(text):,} characters; {_LARGEST:,} can be kept.",
            hint="Keep what cannot be found again: the rest is in files.",
        )
    try:
        tree = parsed(text, comments=False)
    except NotJson as error:
        raise InvalidInput(
            f"{_at(text, error.place)}: this is not JSON: {error.what}.", hint=_HINT
        ) from error
    if tree is None or tree.kind != "object":
        raise InvalidInput("This is no JSON object: at least {} is needed.", hint=_HINT)
    faults = sorted([*_faults(tree), *_file_faults(tree, find_file)])
    if faults:
        told = [f"{_at(text, fault.place)}: {fault.words}" for fault in faults]
        raise InvalidInput("\n".join(told), hint=_HINT, faults=told)
    return _state(tree, find_file)


def _state(tree: Node, find_file: FindFile) -> State:
    members = {child.key: child.node for child in tree.children}

    def text(name: str, longest: int = _LONGEST_TEXT) -> str:
        node = members.get(name)
        return "" if node is None else cut(_word(node), longest)

    def notes(name: str, most: int) -> tuple[Note, ...]:
        node = members.get(name)
        return tuple(_note(child.node) for child in node.children[-most:]) if node else ()

    def texts(name: str) -> tuple[str, ...]:
        node = members.get(name)
        found = [cut(_word(child.node)) for child in node.children] if node else []
        return tuple([one for one in found if one][:_MOST_NOTES])

    files = members.get("requiredFiles")
    return State(
        summary=text("summary", _LONGEST_SUMMARY),
        last_action=text("lastAction", 2 * _LONGEST_TEXT),
        next_steps=texts("nextSteps"),
        required_files=tuple(find_file(str(one.node.value)).name for one in files.children) if files else (),
        pending_escalations=notes("pendingEscalations", _MOST_NOTES),
        recent_decisions=notes("recentDecisions", MOST_DECISIONS),
        config=text("config"),
        vision=text("vision"),
        chapter=text("chapter"),
        panes=notes("panes", _MOST_PANES),
    )


def _note(node: Node) -> Note:
    """Words, or an object of words: what it says apart from id and worker is one text."""
    if node.kind != "object":
        return Note(cut(_word(node)))
    fields = {child.key: _word(child.node) for child in node.children}
    own, worker = fields.pop("id", ""), fields.pop("worker", "")
    text = fields.pop("text", "")
    rest = [f"{name}: {value}" for name, value in fields.items() if value]
    said = "; ".join([*([text] if text else []), *rest])
    return Note(cut(said), cut(own, 64), cut(worker, 80))


def _word(node: Node) -> str:
    """A scalar as words; `true` and numbers too, for a chapter may be `3`."""
    if node.value is None:
        return ""
    return node.value if isinstance(node.value, str) else msgspec.json.encode(node.value).decode()


def cut(text: str, longest: int = _LONGEST_TEXT) -> str:
    """As much of a text as is kept."""
    safe = redact(clean(text)).strip()
    return safe if len(safe) <= longest else safe[: longest - 1] + "…"


# Faults.

_TEXTS: Final = ("summary", "lastAction", "config", "vision", "chapter")
_LISTS: Final = ("nextSteps", "requiredFiles")
_NOTES: Final = ("pendingEscalations", "recentDecisions", "panes")
FIELDS: Final = (*_TEXTS[:2], *_LISTS, *_NOTES[:2], *_TEXTS[2:], "panes")


def _faults(tree: Node) -> Iterator[_Fault]:
    seen: set[str] = set()
    for child in tree.children:
        name = _shown(child.key)
        if child.key in seen:
            yield _Fault(child.start, f"{name} is there twice. Remove one.")
        elif child.key in _TEXTS:
            yield from _text_faults(child.node, name)
        elif child.key in _LISTS:
            yield from _list_faults(child, name, notes=False)
        elif child.key in _NOTES:
            yield from _list_faults(child, name, notes=True)
        else:
            near = get_close_matches(child.key, FIELDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(FIELDS)}."
            yield _Fault(child.start, f"{name} is no field of this. {hint}")
        seen.add(child.key)


def _text_faults(node: Node, name: str) -> Iterator[_Fault]:
    if node.kind != "scalar" or isinstance(node.value, bool):
        yield _Fault(node.start, f"{name} must be text.")


def _list_faults(child: Child, name: str, *, notes: bool) -> Iterator[_Fault]:
    if child.node.kind != "array":
        yield _Fault(child.node.start, f"{name} must be a list in [ ].")
        return
    for place, one in enumerate(child.node.children):
        where = f"{name}[{place}]"
        if notes and one.node.kind == "object":
            for field in one.node.children:
                yield from _text_faults(field.node, f"{where}.{_shown(field.key)}")
        elif not isinstance(one.node.value, str):
            also = " or an object of texts" if notes else ""
            yield _Fault(one.node.start, f"{where} must be text{also}.")


def _file_faults(tree: Node, find_file: FindFile) -> Iterator[_Fault]:
    files = next((child.node for child in tree.children if child.key == "requiredFiles"), None)
    if files is None or files.kind != "array":
        return
    if len(files.children) > MOST_FILES:
        yield _Fault(
            files.children[MOST_FILES].start,
            f"requiredFiles has {len(files.children)} files; {MOST_FILES} are read again. Name those that matter most.",
        )
    for place, one in enumerate(files.children):
        if not isinstance(one.node.value, str):
            continue
        path, where = one.node.value, f"requiredFiles[{place}]"
        if not path.strip():
            yield _Fault(one.node.start, f"{where} names no file.")
        elif len(path) > _LONGEST_PATH:
            yield _Fault(one.node.start, f"{where} is longer than {_LONGEST_PATH} characters.")
        elif fault := find_file(path).fault:
            yield _Fault(one.node.start, f"{where} {fault}: {_shown(path)}.")


def _shown(text: str) -> str:
    line = " ".join(redact(clean(text)).split())
    return line if len(line) <= 80 else line[:79] + "…"


def _at(text: str, place: int) -> str:
    return f"line {text.count(chr(10), 0, place) + 1}, column {place - text.rfind(chr(10), 0, place)}"
