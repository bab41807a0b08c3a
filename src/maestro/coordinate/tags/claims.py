"""Who holds a tag, since when and for how long; whether another may take it. Pure.

The file's tag is the truth of the state. The record tells what the file cannot: who approved and who claimed it, the run
that was begun for it, and what came of that.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from maestro.coordinate.tags.tag import COORDINATE, Tag, TagState, require_step
from maestro.dispatch.runs import Process
from maestro.errors import Conflict, IllegalTransition

Way = Literal[
    "",  # by hand: whoever claimed it does it and says so
    "run",  # by a run without a terminal
    "session",  # by a session in a pane
]
LEASE_SECONDS: Final = 900


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`<state>/tags/<id>.json`. Whether it is approved is kept in MAESTRO_HOME: a copied project brings no approval."""

    id: str
    file: str
    kind: str
    text: str
    approved_at: int = 0  # by a human, of exactly these words
    claimant: str = ""
    host: str = ""
    process: Process | None = None  # whose end frees it; none: the lease alone counts
    claimed_at: int = 0
    until: int = 0
    attempt: int = 0
    way: Way = ""
    run: str = ""  # the run, or the session's name, that does it
    failed: str = ""  # why the last run was none; it is not begun again by itself
    note: str = ""  # why it was released
    done_at: int = 0
    done_by: str = ""
    version: int = 1


class Standing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A tag with what is known of it."""

    tag: Tag
    record: Record | None = None
    holder: str = ""  # who has it now; nobody where the lease is over or the claimant gone


def record_of(tag: Tag, record: Record | None) -> Record:
    return record or Record(id=tag.id, file=tag.file, kind=tag.kind, text=tag.text)


def is_held(record: Record, now: int, *, claimant_lives: bool) -> bool:
    return bool(record.claimant) and not record.done_at and record.until > now and claimant_lives


def standing(tag: Tag, record: Record | None, now: int, *, claimant_lives: bool) -> Standing:
    held = record is not None and tag.state != "done" and is_held(record, now, claimant_lives=claimant_lives)
    return Standing(tag=tag, record=record, holder=record.claimant if record and held else "")


def was_done(seen: Standing) -> bool:
    """The file says that it is open, and it was done: an old copy was saved over it, or it is another of the same
    words. Only a human can tell."""
    return seen.tag.state in {"delegated", "claimed"} and bool(seen.record and seen.record.done_at)


def is_approved(seen: Standing) -> bool:
    """Whether a human approved it here; a chapter needs nobody's approval."""
    return seen.tag.kind == COORDINATE or bool(seen.record and seen.record.approved_at)


def require_claimable(seen: Standing, claimant: str, way: Way) -> None:
    """Raise unless this claimant may have it. One's own claim can be taken again, which renews it."""
    tag, record = seen.tag, seen.record
    if seen.holder and seen.holder != claimant:
        raise Conflict(
            f"{tag.id} is claimed by {seen.holder}.",
            hint=f"It is free when its lease is over or it is released: maestro tag release {tag.id}",
        )
    if was_done(seen):
        raise Conflict(
            f"{tag.id} was done before, and its file says {tag.state}.",
            hint=f"If it has to be done again: maestro tag approve {tag.id}",
        )
    if tag.state == "claimed":
        if record is None or not record.claimant:
            raise Conflict(
                f"{tag.id} was claimed, but not here.",
                hint=f"If nobody is at it: maestro tag release {tag.id}",
            )
        if record.way not in {"", way}:
            raise Conflict(
                f"A {record.way} was begun for {tag.id}: {record.run}.",
                hint=f"`maestro tag dispatch` sees to it; or give it up: maestro tag release {tag.id}",
            )
        if way and not is_approved(seen):
            raise IllegalTransition(
                f"{tag.id} is written as claimed, and nobody approved it here.",
                hint=f"A human does: maestro tag release {tag.id}, then maestro tag approve {tag.id}",
            )
        return
    if tag.state == "delegated" and not (record and record.approved_at):
        raise IllegalTransition(
            f"{tag.id} is written as approved, and nobody approved it here.",
            hint=f"A human does: maestro tag approve {tag.id}",
        )
    if tag.state == "needs" and tag.kind != COORDINATE:
        raise IllegalTransition(
            f"{tag.id} is not approved yet.", hint=f"A human does that: maestro tag approve {tag.id}"
        )
    require_step(tag, "claimed")


def require_as_seen(before: Standing, now: Standing) -> None:
    """Raise where it was tried since somebody looked at it: what failed is not begun again by whoever did not know."""
    known = (before.record.attempt, before.record.failed) if before.record else (0, "")
    if now.tag.state == "claimed" or now.record is None or (now.record.attempt, now.record.failed) == known:
        return
    raise Conflict(
        f"{now.tag.id} was tried meanwhile{f': {now.record.failed}' if now.record.failed else '.'}",
        hint=f"To try it again: maestro tag dispatch {now.tag.id}",
    )


def is_free(seen: Standing, way: Way = "", *, again: bool = False) -> bool:
    """Whether it may be taken by whoever asks for the next one. What failed is taken by name only, or `again`."""
    tag, record = seen.tag, seen.record
    needs_nobody = tag.state == "needs" and tag.kind == COORDINATE
    if record is None:
        return needs_nobody
    if seen.holder or was_done(seen) or (record.failed and not again):
        return False
    if tag.state == "claimed":
        return bool(record.claimant) and record.way in {"", way} and is_approved(seen)
    return bool(record.approved_at) if tag.state == "delegated" else needs_nobody


def claimed(
    seen: Standing,
    *,
    claimant: str,
    now: int,
    lease_seconds: float,
    host: str,
    process: Process | None = None,
    way: Way = "",
    attempt: int = 0,
) -> Record:
    """The record of a claim. What a run or session was begun for goes on under the same name; else a new one begins."""
    record = record_of(seen.tag, seen.record)
    goes_on = seen.tag.state == "claimed" and way == record.way and bool(record.run)
    number = record.attempt if goes_on else max(attempt, record.attempt + 1)
    begun = record.run if goes_on else f"{seen.tag.id}-{number}"
    return msgspec.structs.replace(
        record,
        claimant=claimant,
        host=host,
        process=process,
        claimed_at=record.claimed_at if goes_on else now,
        until=now + int(lease_seconds * 1000),
        attempt=number if way else record.attempt,
        way=way,
        run=begun if way else "",
        failed="",
        note="",
        done_at=0,
        done_by="",
    )


def released(record: Record, *, failed: str = "", note: str = "") -> Record:
    return msgspec.structs.replace(
        record,
        claimant="",
        host="",
        process=None,
        claimed_at=0,
        until=0,
        way="",
        run="",
        failed=failed,
        note=note,
    )


def finished(record: Record, *, by: str, now: int) -> Record:
    return msgspec.structs.replace(record, process=None, until=0, done_at=now, done_by=by, failed="", note="")


def approved(record: Record, now: int) -> Record:
    return msgspec.structs.replace(released(record), approved_at=now, done_at=0, done_by="")


def released_state(record: Record | None) -> TagState:
    """What a released tag is: approved still, or a need that nobody approved."""
    return "delegated" if record and record.approved_at else "needs"


def require_holder(seen: Standing, claimant: str, to_do: str) -> None:
    """Raise unless it is this claimant's. A lease that is over counts as long as nobody else took it."""
    if seen.tag.state != "claimed":
        require_step(seen.tag, "done")
    if seen.record is None or seen.record.claimant != claimant:
        whose = (
            f"is {seen.record.claimant}'s" if seen.record and seen.record.claimant else "was not claimed here"
        )
        raise Conflict(
            f"{seen.tag.id} {whose}: {claimant} cannot {to_do} it.",
            hint=f"`maestro tag list` shows who has it; a human can release it: maestro tag release {seen.tag.id}",
        )
