"""Pure: what happened in a pane, who is engaged with it, who looks at it; and what follows.

notify        what happened                 working, unchecked, error, done, checked
coordinator   is a coordinator engaged      a lease: who, until when
focus         does the human look at it     yes or no

working   → unchecked            the worker asks                        notified
unchecked → checked              the human looks at it                  looked_at
checked   → unchecked            the human leaves, it is still open     left
checked   → working              the worker goes on                     notified
any       → error, done          the worker says so                     notified
free      → engaged              a coordinator takes it                 taken_up
engaged   → free                 its coordinator asks for the next      handed_back
engaged   → free, unchecked      the human looks at it                  looked_at
engaged   → free                 the worker says anything but unchecked notified
engaged   → free                 the lease ends                         settled
any       → acknowledged         its coordinator has dealt with it      handed_back
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Literal, NamedTuple

from maestro.errors import InvalidInput
from maestro.fleet.facts import Glance, Pane
from maestro.fleet.leases import FREE, Lease

Notify = Literal["", "working", "unchecked", "error", "done", "checked"]
NOTIFY_STATES: tuple[Notify, ...] = ("working", "unchecked", "error", "done", "checked")
# Highest first.
_URGENCY: tuple[Notify, ...] = ("error", "unchecked", "done")
# The mark of each that was dealt with: one that somebody set by hand since is another.
_ACKNOWLEDGED: Mapping[Notify, str] = {"error": "e", "unchecked": "u", "done": "a"}
# Which of a window's panes speaks for the window.
_LOUDEST: tuple[Notify, ...] = ("error", "unchecked", "done", "working", "checked")


class PaneState(NamedTuple):
    notify: Notify = ""
    focused: bool = False
    lease: Lease = FREE
    # When it became what it is.
    since: int = 0
    # When a coordinator was last given it.
    offered: int = 0
    # Whoever has the lease knows of it.
    told: bool = False
    # A coordinator has dealt with it, as far as it can.
    acknowledged: bool = False
    # It was unchecked before the human looked, and nothing happened since.
    question_open: bool = False

    @property
    def actionable(self) -> bool:
        return self.notify in _URGENCY and not self.acknowledged


class Action(Enum):
    SKIP = "skip"
    PICK_UP = "pick up"
    ABORT = "abort"


class Response(NamedTuple):
    action: Action
    reason: str


def state_of(pane: Pane | Glance) -> PaneState:
    """The state that the pane's options tell; options that somebody set by hand count as far as they go."""
    since, offered, until, flags, coordinator = _book(pane.book)
    notify = notify_from(pane.notify)
    return PaneState(
        notify=notify,
        focused=pane.user_focused,
        lease=Lease(coordinator, until) if pane.coordinator_active and coordinator else FREE,
        since=since,
        offered=offered,
        told=pane.coordinator_active and bool(coordinator) and "t" in flags,
        acknowledged=_ACKNOWLEDGED.get(notify, "-") in flags,
        question_open=notify == "checked" and "o" in flags,
    )


def options_of(state: PaneState) -> dict[str, str]:
    """The pane options that tell this state."""
    dealt_with = _ACKNOWLEDGED.get(state.notify, "")
    marks = ((dealt_with, state.acknowledged), ("o", state.question_open), ("t", state.told))
    flags = "".join(mark for mark, holds in marks if holds)
    book = f"{state.since},{state.offered},{state.lease.until},{flags},{state.lease.coordinator}"
    return {
        "@pane_notify": state.notify,
        "@pane_coordinator_active": "1" if state.lease.coordinator else "0",
        "@pane_user_focused": "1" if state.focused else "0",
        "@pane_book": book,
    }


def notify_from(word: str) -> Notify:
    """An unknown word is no state."""
    return next((known for known in NOTIFY_STATES if known == word), "")


def asked_notify(word: str) -> Notify:
    known = notify_from(word)
    if not known:
        raise InvalidInput(f"“{word}” is no state of a pane.", hint=f"One of {', '.join(NOTIFY_STATES)}.")
    return known


def notified(state: PaneState, notify: Notify, now: int) -> PaneState:
    """The worker says what happened. Said again before anybody came, it keeps its place in the queue."""
    waiting = state.notify == notify and state.actionable and state.offered < state.since
    return state._replace(
        notify=notify,
        since=state.since if waiting else max(now, state.offered + 1),
        lease=state.lease if notify == "unchecked" else FREE,
        told=state.told and notify == "unchecked",
        acknowledged=False,
        question_open=False,
    )


def looked_at(state: PaneState) -> PaneState:
    """The human comes. From a coordinator they take the pane over as it is: whoever was engaged must stop."""
    if state.lease.coordinator:
        return state._replace(focused=True, lease=FREE, told=False)
    if state.notify == "unchecked":
        return state._replace(focused=True, notify="checked", question_open=True)
    return state._replace(focused=True)


def left(state: PaneState) -> PaneState:
    """The human goes. What they left open needs somebody again, at its old place in the queue."""
    if state.question_open:
        return state._replace(focused=False, notify="unchecked", question_open=False)
    return state._replace(focused=False)


def taken_up(state: PaneState, lease: Lease, now: int, *, told: bool) -> PaneState:
    return state._replace(lease=lease, offered=max(now, state.since), told=told)


def handed_back(state: PaneState, *, handled: bool = False) -> PaneState:
    """Its coordinator is through with it; if it ever learned of it. Otherwise it is as if it had not been taken.

    `handled`: all was done about it that this coordinator can do; it is not offered again until something changes.
    What happened after it was taken is not dealt with.
    """
    if not state.told:
        return state._replace(lease=FREE, offered=0)
    is_same = state.since <= state.offered
    return state._replace(
        lease=FREE, told=False, acknowledged=is_same and (handled or state.notify == "done")
    )


def let_go(state: PaneState, before: PaneState) -> PaneState:
    """Taken up for a coordinator that never learned of it."""
    return state._replace(lease=FREE, told=False, offered=before.offered)


def settled(state: PaneState, *, focused: bool, now: int) -> PaneState:
    """The state after what changed without anybody saying so: where the human looks, and the clock."""
    if state.lease.coordinator and not state.lease.holds(now):
        state = state._replace(lease=FREE, told=False)
    if focused and not state.focused:
        return looked_at(state)
    if state.focused and not focused:
        return left(state)
    return state


def response(state: PaneState, now: int) -> Response:
    """What a coordinator does about a pane: the whole interaction matrix."""
    engaged = state.lease.holds(now)
    if engaged and state.focused:
        return Response(Action.ABORT, "the human looks at a pane that a coordinator is engaged with")
    if state.focused:
        return Response(Action.SKIP, "the human is there")
    if engaged:
        return Response(Action.SKIP, "a coordinator is engaged")
    if state.acknowledged:
        return Response(Action.SKIP, "dealt with, and nothing has changed since")
    return _UNATTENDED[state.notify]


_UNATTENDED: Mapping[Notify, Response] = {
    "": Response(Action.SKIP, "nothing is known of it"),
    "working": Response(Action.SKIP, "the worker is busy"),
    "checked": Response(Action.SKIP, "the human saw it"),
    "error": Response(Action.PICK_UP, "the worker met an error"),
    "unchecked": Response(Action.PICK_UP, "the worker needs an answer"),
    "done": Response(Action.PICK_UP, "the worker has finished"),
}


def place_in_queue(state: PaneState) -> tuple[bool, int, int]:
    """Smallest first: what was not offered yet, by urgency, oldest first; then what came back as it was,
    so that a pane nobody could help does not keep the others waiting."""
    again = state.offered >= state.since > 0
    urgency = _URGENCY.index(state.notify) if state.notify in _URGENCY else len(_URGENCY)
    return again, urgency, state.offered if again else state.since


def queue(states: Mapping[str, PaneState], now: int) -> list[str]:
    """The panes that a coordinator may take, in the order in which it should."""
    free = [pane for pane, state in states.items() if response(state, now).action is Action.PICK_UP]
    return sorted(free, key=lambda pane: place_in_queue(states[pane]))


def all_focused(states: Iterable[PaneState]) -> bool:
    """Whether there is something to do, and the human looks at all of it."""
    needing = [state for state in states if state.actionable or state.question_open]
    return bool(needing) and all(state.focused for state in needing)


class Counts(NamedTuple):
    total: int = 0
    working: int = 0
    unchecked: int = 0
    error: int = 0
    done: int = 0
    checked: int = 0
    focused: int = 0

    def __str__(self) -> str:
        return "STATUS " + " ".join(f"{name}={number}" for name, number in self._asdict().items())


def count(states: Iterable[PaneState]) -> Counts:
    """Panes of which nothing was ever said, such as a person's shell, do not count."""
    counted = dict.fromkeys(Counts._fields, 0)
    for state in states:
        if state.notify:
            counted["total"] += 1
            counted["focused"] += state.focused
            counted[state.notify] += 1
    return Counts(**counted)


def loudest(states: Iterable[PaneState]) -> Notify:
    """What a window shows for all of its panes."""
    said = {state.notify for state in states}
    return next((notify for notify in _LOUDEST if notify in said), "")


def needing_human(states: Mapping[str, PaneState], now: int) -> list[str]:
    """Where somebody should look: nobody is there yet, and the worker cannot go on."""
    waiting = {
        pane: state
        for pane, state in states.items()
        if state.notify in {"error", "unchecked"} and not state.focused and not state.lease.holds(now)
    }
    return sorted(waiting, key=lambda pane: (_URGENCY.index(waiting[pane].notify), waiting[pane].since))


def segment(states: Mapping[str, PaneState], now: int) -> str:
    """The line in tmux's status bar."""
    counted, need = count(states.values()), len(needing_human(states, now))
    parts = [f"{counted.working} working"]
    if need:
        parts.append(f"{need} {'needs' if need == 1 else 'need'} you")
    return " · ".join(parts)


def managed(panes: Sequence[Pane], wanted: Sequence[str] | None, own_pane: str) -> tuple[set[str], list[str]]:
    """The panes that a coordinator looks after, and the words that mean none.

    Words are labels, pane ids or session ids. Without any: all that its pane's `@pane_manages` names, else every
    pane that is no coordinator's. Never its own pane.
    """
    own = next((pane for pane in panes if pane.pane_id == own_pane), None)
    if wanted is None and own is not None and own.manages:
        wanted = manages_words(own.manages)
    if wanted is None:
        chosen = {pane.pane_id for pane in panes if not pane.manages}
        return chosen - {own_pane}, []
    names: dict[str, set[str]] = {}
    for pane in panes:
        for name in {pane.pane_id, pane.label, pane.session_id} - {""}:
            names.setdefault(name, set()).add(pane.pane_id)
    chosen = {pane_id for word in wanted for pane_id in names.get(word, ())}
    return chosen - {own_pane}, [word for word in wanted if word not in names]


def manages_option(names: Sequence[str]) -> str:
    """`@pane_manages` for these panes."""
    return (
        ",".join(names) if not any("," in name for name in names) else "".join(f"{name}\n" for name in names)
    )


def manages_words(option: str) -> list[str]:
    return [word.strip() for word in option.split("\n" if "\n" in option else ",") if word.strip()]


@lru_cache(maxsize=1024)
def _book(text: str) -> tuple[int, int, int, str, str]:
    parts = text.split(",", 4)
    if len(parts) != 5 or not all(part.isascii() and part.isdigit() for part in parts[:3]):
        return 0, 0, 0, "", ""
    return int(parts[0]), int(parts[1]), int(parts[2]), parts[3], parts[4]
