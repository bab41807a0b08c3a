"""What a session does, in one word, and how much it needs the human. Pure.

needs you   5  an open escalation
            4  a question that nobody handles
            3  an error, or a limit
            2  stuck
            1  done, and nobody has looked
            0  nothing: it works, is idle, or somebody is at it
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from maestro.ages import has_passed
from maestro.fleet.panes import PaneState
from maestro.ledger.facts import Question, Session
from maestro.observe.digest import Digest

Word = Literal["working", "waiting", "stuck", "error", "idle", "done", "ended", "unknown"]

ESCALATION, QUESTION, ERROR, STUCK, DONE, NOTHING = 5, 4, 3, 2, 1, 0

_OVER: Final = frozenset({"finished", "interrupted", "unknown"})
_AT_REST: Final = frozenset({"asking", "failed", "finished", "interrupted"})
_AT_WORK: Final = frozenset({"working", "thinking", "background", "retrying"})
_FAILING: Final = frozenset({"limit", "api_errors"})
# So long an agent may take to write down that it was prompted; then its transcript knows better.
_UNWRITTEN_MS: Final = 20_000


class Seat(NamedTuple):
    """The pane that a session lives in, and its state."""

    fleet: str
    socket: str
    pane_id: str
    tmux_session: str
    location: str
    state: PaneState
    dead: bool = False


class Doing(NamedTuple):
    word: Word
    evidence: str  # what the word rests on
    since: int
    needs: int = NOTHING


def doing(
    session: Session,
    digest: Digest | None,
    question: Question | None,
    seat: Seat | None,
    now: int,
    *,
    engaged: bool,
) -> Doing:
    if session.ended_at is not None:
        return _ended(session, session.ended_at, seat)
    if question is not None:
        return Doing("waiting", _asks(question), question.opened_at, NOTHING if engaged else QUESTION)
    told = _by_pane(seat, digest, now)
    does = told if told is not None else _by_digest(session, digest, seat)
    # Whoever is engaged deals with it; what only a human can settle becomes an escalation.
    return does._replace(needs=NOTHING) if engaged else does


def _ended(session: Session, ended_at: int, seat: Seat | None) -> Doing:
    evidence = session.last_report or f"it has ended: {session.status}"
    if session.status == "completed":
        is_seen = seat is not None and seat.state.acknowledged
        return Doing("done", evidence, ended_at, NOTHING if is_seen else DONE)
    if session.status == "error":
        return Doing("error", evidence, ended_at, ERROR)
    return Doing("ended", evidence, ended_at)


def _by_pane(seat: Seat | None, digest: Digest | None, now: int) -> Doing | None:
    """What its pane says, where that is newer than its transcript, or the transcript does not say otherwise."""
    if seat is None:
        return None
    state, at = seat.state, _seen_at(digest)
    status = digest.status if digest is not None else "unknown"
    is_newer = at is None or state.since > at
    # A worker says that it is done, or failed, and then ends its turn.
    stands = is_newer or status in _OVER
    if state.notify == "error" and stands:
        return Doing("error", _evidence(digest) or "it met an error", state.since, ERROR)
    if state.notify == "done" and stands:
        return Doing("done", "it says that it is done", state.since, NOTHING if state.acknowledged else DONE)
    is_unwritten = is_newer and (at is None or not has_passed(_UNWRITTEN_MS, state.since, now))
    if state.notify == "working" and is_unwritten and status not in _AT_WORK:
        return Doing("working", "its pane says that it works", state.since)
    if state.notify == "unchecked" and is_newer and status not in _AT_REST:
        return Doing("idle", "its turn is over", state.since, NOTHING if state.acknowledged else DONE)
    return None


def _by_digest(session: Session, digest: Digest | None, seat: Seat | None) -> Doing:
    if digest is None or digest.status == "unknown":
        return _by_ledger(session, seat)
    at = _seen_at(digest) or session.updated_at
    stuck = digest.stuck
    if stuck is not None and stuck.kind in _FAILING:
        return Doing("error", stuck.warning, at, ERROR)
    if digest.status == "failed":
        return Doing("error", _evidence(digest), at, ERROR)
    if digest.status == "asking":
        return Doing("waiting", _evidence(digest), at, QUESTION)
    if stuck is not None:
        return Doing("stuck", stuck.warning, at, STUCK)
    if digest.status in _AT_WORK:
        return Doing("working", _evidence(digest), _began(seat, at))
    is_unseen = seat is not None and seat.state.notify == "unchecked" and not seat.state.acknowledged
    return Doing("idle", _evidence(digest), at, DONE if is_unseen else NOTHING)


def _by_ledger(session: Session, seat: Seat | None) -> Doing:
    since = session.updated_at
    if session.status == "spawning":
        return Doing("working", "it starts", since)
    if session.status == "needs_input":
        return Doing("waiting", session.last_report or "it says that it needs input", since, QUESTION)
    if seat is not None and seat.state.notify == "checked":
        return Doing("idle", "you have looked at it", since)
    return Doing("unknown", "nothing tells what it does", since)


def _began(seat: Seat | None, at: int) -> int:
    """When its turn began, where its pane knows; else when it last did something."""
    if seat is not None and seat.state.notify == "working" and seat.state.since:
        return min(seat.state.since, at)
    return at


def _seen_at(digest: Digest | None) -> int | None:
    return digest.evidence[0].at if digest is not None and digest.evidence else None


def _evidence(digest: Digest | None) -> str:
    return digest.evidence[0].says if digest is not None and digest.evidence else ""


def _asks(question: Question) -> str:
    words = {"permission": "asks for permission", "plan": "has a plan", "dialog": "its CLI asks"}
    return f"{words.get(question.kind, 'asks')}: {question.text}"
