"""The tags of a project on the disk: found in its Markdown files, changed one at a time.

Every change holds the project's lock, reads the file as it is now, and replaces it whole. A claim is recorded before the
file says it, and an end after: whoever dies in between leaves a tag that the next command can take or end.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from maestro import confined, processes
from maestro.coordinate.tags import claims as tag_claims
from maestro.coordinate.tags.claims import Record, Standing, Way
from maestro.coordinate.tags.markdown_files import MarkdownFiles, clear_halves
from maestro.coordinate.tags.tag import COORDINATE, Tag, TagState, added, find_tags, require_step, retagged
from maestro.dispatch.places import prepare_ignored
from maestro.dispatch.runs import Process
from maestro.errors import Conflict, InvalidInput, LeadsOut, NotFound
from maestro.files import write_atomically
from maestro.home import locate
from maestro.trust.approvals import Approvals

_ALIKE: Final = 0.6
_MAYBE: Final = re.compile("#(?:needs|delegated|claimed|done)-")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class ProjectTags:
    """Keeps nothing in memory but where things are: any number of processes may use them."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.files = MarkdownFiles(cwd, env)
        self.folder = os.path.join(self.files.state, "tags")
        self._approvals = Approvals(locate(env).root, self.files.root)

    # Looking.

    def all(self, paths: Sequence[str] = ()) -> list[Standing]:
        """Every tag, by file and line; with `paths`, of these files and folders."""
        return [self.standing(tag) for file in self.files.names(paths) for tag in self._tags(file)]

    def standing(self, tag: Tag) -> Standing:
        record = self.record(tag.id)
        alive = record is not None and _lives(record)
        return tag_claims.standing(tag, record, now_ms(), claimant_lives=alive)

    def find(self, wanted: str) -> Standing:
        """By its id, or by a beginning of it that only one has."""
        begin = wanted if wanted.startswith("tag-") else f"tag-{wanted}"
        fitting = [seen for seen in self.all() if seen.tag.id.startswith(begin)]
        if len(fitting) > 1:
            raise InvalidInput(
                f"“{wanted}” fits {len(fitting)} tags.",
                hint=f"For example {fitting[0].tag.id}; give more of it.",
            )
        if not fitting:
            known = self.record(wanted)
            gone = f" Its line in {known.file} is gone or says something else." if known else ""
            raise NotFound(f"There is no tag “{wanted}”.{gone}", hint="`maestro tag list` shows all.")
        return fitting[0]

    def record(self, tag_id: str) -> Record | None:
        try:
            record = msgspec.json.decode(confined.read(self._record_path(tag_id)), type=Record)
            # The project may be a copy that says of itself what was approved elsewhere.
            return msgspec.structs.replace(record, approved_at=self._approvals.given_at(f"tag/{tag_id}"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"{self._record_path(tag_id)} cannot be read: {error}.",
                hint="Move it away to go on without it.",
            ) from error

    # Changing.

    def add(
        self,
        file: str,
        words: str,
        kind: str,
        *,
        line: int | None = None,
        heading: str = "",
        approve: bool = False,
    ) -> Standing:
        name = self.files.name_of(file)
        number = 0

        def change(text: str) -> str:
            nonlocal number
            state: TagState = "delegated" if approve else "needs"
            whole, number = added(text, words, kind, state=state, line=line, heading=heading)
            return whole

        with self.locked():
            made = self.files.rewrite(name, change, create=True)
            tag = next(one for one in find_tags(made, name) if one.line == number and one.kind == kind)
            # A record from before is of another line, which had the same words and is gone.
            fresh = tag_claims.record_of(tag, None)
            self._approvals.take_back(f"tag/{tag.id}")
            self.write_record(self._approved(fresh) if approve else fresh)
            return self.standing(tag)

    def approve(self, wanted: str) -> Standing:
        """A human's word: it may be done. Also again, where it failed or was done before."""
        with self.locked():
            seen = self.find(wanted)
            if seen.holder:
                tag_claims.require_claimable(seen, "", "")
            if seen.tag.state == "done":
                require_step(seen.tag, "delegated")
            # First the record: a file that says more than was approved would be taken for a stranger's.
            self.write_record(self._approved(tag_claims.record_of(seen.tag, seen.record)))
            return self._become(seen.tag, "delegated")

    def _approved(self, record: Record) -> Record:
        return tag_claims.approved(record, self._approvals.give(f"tag/{record.id}"))

    def claim(
        self,
        wanted: str,
        claimant: str,
        *,
        lease_seconds: float = tag_claims.LEASE_SECONDS,
        process: Process | None = None,
        way: Way = "",
        as_seen: Standing | None = None,
    ) -> Standing:
        """`as_seen`: how it stood when the claimant chose it; what was tried since then is a Conflict."""
        with self.locked():
            seen = self.find(wanted)
            if as_seen is not None:
                tag_claims.require_as_seen(as_seen, seen)
            return self._claim(seen, claimant, lease_seconds, process, way)

    def claim_next(
        self,
        claimant: str,
        *,
        kind: str = "",
        lease_seconds: float = tag_claims.LEASE_SECONDS,
        process: Process | None = None,
    ) -> Standing | None:
        """The first that is free; None where there is none. Chapters only where they are asked for."""
        with self.locked():
            self.settle()
            wanted = (
                one for one in self.all() if one.tag.kind == kind or (not kind and one.tag.kind != COORDINATE)
            )
            found = next((one for one in wanted if tag_claims.is_free(one)), None)
            return None if found is None else self._claim(found, claimant, lease_seconds, process, "")

    def _claim(
        self, seen: Standing, claimant: str, lease_seconds: float, process: Process | None, way: Way
    ) -> Standing:
        checked_name(claimant)
        tag_claims.require_claimable(seen, claimant, way)
        record = tag_claims.claimed(
            seen,
            claimant=claimant,
            now=now_ms(),
            lease_seconds=lease_seconds,
            host=os.uname().nodename,
            process=process,
            way=way,
            attempt=self._unused_attempt(seen.tag.id),
        )
        self.write_record(record)
        return self._become(seen.tag, "claimed")

    def _unused_attempt(self, tag_id: str) -> int:
        """A number that no run of this tag has: a tag that is not claimed has none that is under way."""
        try:
            names = confined.names(os.path.join(self.files.state, "runs"))
        except OSError:
            return 1
        used = [name.removeprefix(f"{tag_id}-") for name in names if name.startswith(f"{tag_id}-")]
        return max((int(number) for number in used if number.isascii() and number.isdecimal()), default=0) + 1

    def renew(self, wanted: str, claimant: str, lease_seconds: float) -> Standing:
        with self.locked():
            seen = self.find(wanted)
            tag_claims.require_holder(seen, claimant, "renew")
            assert seen.record is not None
            until = now_ms() + int(lease_seconds * 1000)
            self.write_record(msgspec.structs.replace(seen.record, until=until))
            return self.standing(seen.tag)

    def done(self, wanted: str, claimant: str) -> Standing:
        """Its end. Said twice by the same, it is said once."""
        with self.locked():
            seen = self.find(wanted)
            if seen.tag.state == "done" and seen.record and seen.record.claimant == claimant:
                self._settle_done(seen)
                return self.standing(seen.tag)
            tag_claims.require_holder(seen, claimant, "end")
            ended = self._become(seen.tag, "done")
            self._settle_done(ended)
            return self.standing(ended.tag)

    def settle(self) -> None:
        """Finish what a writer had begun to write when it died: an end, or that it failed. For whoever holds the lock."""
        for seen in self.all():
            if seen.tag.state != "done" and seen.record and seen.record.claimant and seen.record.failed:
                self._release(seen, failed=seen.record.failed, note=seen.record.note)
            # A chapter's end goes into the log as well.
            if seen.tag.state == "done" and seen.record and seen.tag.kind != COORDINATE:
                self._settle_done(seen)

    def _settle_done(self, seen: Standing) -> None:
        if seen.record is not None and not seen.record.done_at:
            self.write_record(tag_claims.finished(seen.record, by=seen.record.claimant, now=now_ms()))

    def release(self, wanted: str, claimant: str = "", *, failed: str = "", note: str = "") -> Standing:
        """Give it back. Without a claimant it is a human's word, and counts whoever has it."""
        with self.locked():
            seen = self.find(wanted)
            if claimant:
                tag_claims.require_holder(seen, claimant, "release")
            return self._release(seen, failed=failed, note=note)

    def _release(self, seen: Standing, *, failed: str, note: str) -> Standing:
        if seen.tag.state == "done":
            require_step(seen.tag, "delegated")
        tag = seen.tag
        if failed and seen.record is not None:
            # First why: a file alone that says that it is free would be taken for a tag that nothing was begun for.
            self.write_record(msgspec.structs.replace(seen.record, failed=failed, note=note))
        if tag.state == "claimed":
            tag = self._become(tag, tag_claims.released_state(seen.record)).tag
        if seen.record is not None:
            self.write_record(tag_claims.released(seen.record, failed=failed, note=note))
        return self.standing(tag)

    # The run that does it.

    def hold(self, record: Record, process: Process, seconds: float) -> bool:
        """The run's own process has it from now on. False: the tag is no longer this run's."""
        with self.locked():
            now = self.record(record.id)
            if now is None or now.run != record.run or now.done_at:
                return False
            until = now_ms() + int(seconds * 1000)
            self.write_record(
                msgspec.structs.replace(now, process=process, host=os.uname().nodename, until=until)
            )
            return True

    def give(self, record: Record, claimant: str, seconds: float) -> None:
        """What was begun for the tag has it from now on, until its lease is over."""
        with self.locked():
            now = self.record(record.id)
            if now is not None and now.run == record.run and not now.done_at:
                until = now_ms() + int(seconds * 1000)
                self.write_record(msgspec.structs.replace(now, claimant=claimant, process=None, until=until))

    def end_run(self, record: Record, *, failed: str) -> Standing | None:
        """What came of the run that this record tells of: done, or given back with the reason. None: the tag is no
        longer this run's, or its line is not found; then the record alone tells."""
        with self.locked():
            now = self.record(record.id)
            if now is None or now.run != record.run or now.done_at:
                return None
            tag = self._found_again(now)
            if tag is None:
                ended = tag_claims.finished(now, by=now.claimant, now=now_ms())
                note = f"Its line in {now.file} is gone or says something else; nothing was changed there."
                ended = ended if not failed else tag_claims.released(now, failed=failed)
                self.write_record(msgspec.structs.replace(ended, note=note))
                return None
            if failed:
                return self._release(Standing(tag=tag, record=now), failed=failed, note="")
            if tag.state != "done":
                self._become(tag, "done")
            self.write_record(tag_claims.finished(now, by=now.claimant, now=now_ms()))
            return self.standing(self._at(tag))

    def _found_again(self, record: Record) -> Tag | None:
        """The tag of a record, also where its line was changed meanwhile: then the only claimed one without a record
        that says about the same."""
        tags = self._tags(record.file)
        by_id = next((tag for tag in tags if tag.id == record.id), None)
        if by_id is not None:
            return by_id
        fitting = [
            (ratio, tag)
            for tag in tags
            if tag.kind == record.kind and tag.state == "claimed" and self.record(tag.id) is None
            if (ratio := difflib.SequenceMatcher(None, tag.text, record.text).ratio()) >= _ALIKE
        ]
        return fitting[0][1] if len(fitting) == 1 else None

    @contextmanager
    def run_lock(self, tag_id: str, *, wait: bool = False) -> Iterator[int | None]:
        """Held by whoever carries out what a tag asks for; None where another has it. A process that is started with
        the descriptor holds it from its first moment to its end."""
        self._prepare()
        try:
            lock = confined.lock(os.path.join(self.folder, f"{tag_id}.lock"), wait=wait)
        except BlockingIOError:
            yield None
            return
        with lock as descriptor:
            yield descriptor

    # Files.

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One change at a time in the project. The kernel lets go of the lock when its holder ends, however it ends."""
        self._prepare()
        with confined.lock(os.path.join(self.folder, "lock")):
            clear_halves(self.folder)
            yield

    def write_record(self, record: Record) -> None:
        """What is done is approved no longer: a file that says that it is open again needs a new word."""
        if record.done_at:
            self._approvals.take_back(f"tag/{record.id}")
        self._prepare()
        data = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
        write_atomically(self._record_path(record.id), data, confined=True)

    def _record_path(self, tag_id: str) -> str:
        return os.path.join(self.folder, f"{os.path.basename(tag_id)}.json")

    def _prepare(self) -> None:
        prepare_ignored(self.folder, "Claims are kept in the project's folder.")

    def _become(self, tag: Tag, state: TagState) -> Standing:
        """Write the state, where the file does not say so already."""

        def change(text: str) -> str:
            found = next((one for one in find_tags(text, tag.file) if one.id == tag.id), None)
            if found is None:
                raise Conflict(
                    f"The line of {tag.id} in {tag.file} was changed in this moment.",
                    hint="Nothing was changed; `maestro tag list` shows what it is now.",
                )
            return text if found.state == state else retagged(text, found, state)

        self.files.rewrite(tag.file, change)
        return self.standing(self._at(tag))

    def _at(self, tag: Tag) -> Tag:
        return next((one for one in self._tags(tag.file) if one.id == tag.id), tag)

    def _tags(self, name: str) -> tuple[Tag, ...]:
        try:
            text = self.files.text_of(name)
        except (NotFound, InvalidInput, LeadsOut):
            return ()
        return find_tags(text, name) if _MAYBE.search(text) else ()


def checked_name(claimant: str) -> str:
    if not claimant.strip() or not claimant.isprintable() or len(claimant) > 128:
        raise InvalidInput(f"“{claimant}” is no name.", hint="Say who claims it: --as NAME.")
    return claimant


def open_tags(project: str, env: Mapping[str, str]) -> tuple[Standing, ...]:
    """What is not done yet, for whoever sums up."""
    return tuple(seen for seen in ProjectTags(project, env).all() if seen.tag.state != "done")


def _lives(record: Record) -> bool:
    """Whether the claimant's process may live. Of another host only the lease tells."""
    if record.process is None or record.host != os.uname().nodename:
        return True
    process = record.process
    return processes.is_same(processes.ProcessId(process.pid, process.started, process.boot))
