"""Pure: what is asked of tmux for every pane and client, and the facts that its answer holds.

Values are asked for with tmux's shell quoting and stand apart by a bare space, records by a bare semicolon: within a
value both come with a backslash before them, so that a title or a label cannot pass for another field or pane.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from maestro.errors import DaemonError
from maestro.fleet.facts import HIDDEN_SESSION, Client, Glance, Pane, ServerId

# The names that people and other tools see.
NOTIFY = "@pane_notify"
COORDINATOR_ACTIVE = "@pane_coordinator_active"
USER_FOCUSED = "@pane_user_focused"
LABEL = "@pane_label"
MANAGES = "@pane_manages"
SESSION_ID = "@session_id"
# What only we read: see `panes.PaneState`.
BOOK = "@pane_book"

_BACKSLASHED = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_VALUE = re.compile(r"[^ \\]*(?:\\.[^ \\]*)*", re.DOTALL)
_RECORD_END = re.compile(r"(?<!\\)(?:\\\\)*;\Z")
# tmux 3.4 and newer write control characters so; older ones send them as they are.
_CONTROL = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _word(text: str) -> str:
    return text


def _flag(text: str) -> bool:
    return text not in {"", "0"}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _number_or_none(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


# In the order of Pane's fields after the server's own.
_PANE_FIELDS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("pane_id", _word),
    ("pane_pid", _number),
    ("q:session_name", _word),
    ("window_id", _word),
    ("window_index", _number),
    ("q:window_name", _word),
    ("pane_index", _number),
    ("q:pane_title", _word),
    ("pane_width", _number),
    ("pane_height", _number),
    ("pane_active", _flag),
    ("window_active", _flag),
    ("pane_dead", _flag),
    ("pane_dead_status", _number_or_none),
    ("pane_dead_signal", _word),
    ("pane_in_mode", _flag),
    ("pane_synchronized", _flag),
    ("alternate_on", _flag),
    ("cursor_x", _number),
    ("cursor_y", _number),
    ("q:pane_current_command", _word),
    (f"q:{NOTIFY}", _word),
    (f"q:{COORDINATOR_ACTIVE}", _flag),
    (f"q:{USER_FOCUSED}", _flag),
    (f"q:{BOOK}", _word),
    (f"q:{LABEL}", _word),
    (f"q:{MANAGES}", _word),
    (f"q:{SESSION_ID}", _word),
)
# In the order of Glance's fields after the server's own.
_GLANCE_FIELDS = (
    "pane_id",
    "pane_pid",
    "window_id",
    f"q:{NOTIFY}",
    f"q:{COORDINATOR_ACTIVE}",
    f"q:{USER_FOCUSED}",
    f"q:{BOOK}",
)
_CLIENT_FIELDS = (
    "q:client_name",
    "client_pid",
    "client_control_mode",
    "q:client_flags",
    "q:session_name",
    "window_id",
    "pane_id",
    "client_activity",
)


def _format(names: Iterable[str]) -> str:
    return " ".join(f"#{{{name}}}" for name in names) + ";"


PANE_FORMAT = _format(name for name, _ in _PANE_FIELDS)
GLANCE_FORMAT = _format(_GLANCE_FIELDS)
CLIENT_FORMAT = _format(_CLIENT_FIELDS)
_READERS = tuple(reader for _, reader in _PANE_FIELDS)


def panes(answer: Sequence[str], server: ServerId) -> tuple[Pane, ...]:
    found = []
    for values in _records(answer, len(_READERS)):
        if values[2] != HIDDEN_SESSION:
            read = [reader(value) for reader, value in zip(_READERS, values, strict=True)]
            found.append(Pane(server.pid, server.started, *read))
    return tuple(found)


def glances(answer: Sequence[str], server: ServerId, hidden: str) -> tuple[Glance, ...]:
    return tuple(
        Glance(
            server.pid, server.started, pane, _number(pid), window, notify, _flag(engaged), _flag(seen), book
        )
        for pane, pid, window, notify, engaged, seen, book in _records(answer, len(_GLANCE_FIELDS))
        if pane != hidden
    )


def clients(answer: Sequence[str], own_pid: int | None) -> tuple[Client, ...]:
    found = []
    for values in _records(answer, len(_CLIENT_FIELDS)):
        name, pid, control, flags, session, window_id, pane_id, activity = values
        if _number(pid) != own_pid:
            words = frozenset(flags.split(","))
            found.append(
                Client(
                    name, _number(pid), _flag(control), words, session, window_id, pane_id, _number(activity)
                )
            )
    return tuple(found)


def words_of(answer: Sequence[str], count: int) -> list[str]:
    """Returns the words of an answer of one line. A server that is ending still answers, and leaves words out."""
    words = answer[0].split() if answer else []
    if len(words) != count:
        raise ending()
    return words


def ending() -> DaemonError:
    """Returns the error for a server that is there, and knows no session or pane any longer."""
    return DaemonError(
        "The tmux server is ending.", hint="Try again in a moment; `maestro up` starts Maestro's own again."
    )


def _records(answer: Sequence[str], fields: int) -> Iterator[list[str]]:
    record = ""
    for line in answer:
        record += line
        if not record.endswith(";") or (record.endswith("\\;") and not _RECORD_END.search(record)):
            # A value goes on in the next line.
            record += "\n"
            continue
        values = _values(record[:-1]) if "\\" in record else record[:-1].split(" ")
        if len(values) != fields:
            raise DaemonError("tmux answered something that is not understood.", answer=values[:3])
        yield values
        record = ""


def _values(record: str) -> list[str]:
    start, values = 0, []
    while start <= len(record):
        value = _VALUE.match(record, start)
        assert value is not None
        values.append(_BACKSLASHED.sub(_unquoted, value[0]) if "\\" in value[0] else value[0])
        start = value.end() + 1
    return values


def _unquoted(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 8))
    return _CONTROL.get(escape[2], escape[2])
