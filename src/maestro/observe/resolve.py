"""From a session to its transcript: by name where the id is known, else by the tag in its first prompt."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from maestro.agents import Agent, Environment, Transcript

KEPT_FOR: Final = 60_000
HEAD: Final = 256 * 1024  # a first prompt was seen at 43 KB, behind instructions and hook output
_MOST_KEPT: Final = 10_000
_TAG = re.compile(rb"<session_id>(sess_[0-9A-Za-z_-]{1,64})</session_id>")


class Sought(msgspec.Struct, frozen=True):
    """What is known of a session when its transcript is wanted."""

    session_id: str  # ours: sess_…
    agent_session_id: str = ""  # the CLI's own id, when Maestro chose it or a hook told
    cwd: str = ""
    path: str = ""  # when a person or a hook named the file


class _Identity(NamedTuple):
    device: int
    inode: int


class _Found(NamedTuple):
    path: Path
    identity: _Identity
    size: int
    at: int


class _Head(NamedTuple):
    identity: _Identity
    scanned: int
    tag: str


class Resolver:
    """Remembers paths for a minute and which tags the heads hold; never what a transcript says."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Sought], _Found] = {}
        self._heads: dict[Path, _Head] = {}

    def resolve(self, agent: Agent, sought: Sought, env: Environment, now: int) -> Path | None:
        """The session's transcript as it is now, or nothing if there is none yet."""
        key = (agent.name, sought)
        known = self._found.get(key)
        if known is not None and 0 <= now - known.at < KEPT_FOR and _still(known):
            return known.path
        path = self._search(agent, sought, env)
        about = _stat(path) if path is not None else None
        if path is None or about is None:
            self._found.pop(key, None)
            return None
        if len(self._found) >= _MOST_KEPT:
            self._found.clear()
        self._found[key] = _Found(path, _Identity(about.st_dev, about.st_ino), about.st_size, now)
        return path

    def _search(self, agent: Agent, sought: Sought, env: Environment) -> Path | None:
        if sought.path:
            return Path(sought.path)
        if sought.agent_session_id:
            return agent.locate(sought.agent_session_id, sought.cwd, env)
        tagged = self.by_tag(agent.transcripts(env, sought.cwd), sought.session_id)
        if tagged is None and sought.cwd:
            tagged = self.by_tag(agent.transcripts(env), sought.session_id)
        return tagged.path if tagged is not None else None

    def by_tag(self, transcripts: Iterable[Transcript], session_id: str) -> Transcript | None:
        """The newest transcript whose head carries the tag. A head is read once, and again only if it grew."""
        matches = [one for one in transcripts if self._tag_of(one) == session_id]
        return max(matches, key=lambda one: one.modified, default=None)

    def _tag_of(self, transcript: Transcript) -> str:
        about = _stat(transcript.path)
        if about is None:
            self._heads.pop(transcript.path, None)
            return ""
        identity = _Identity(about.st_dev, about.st_ino)
        head = self._heads.get(transcript.path)
        known = head is not None and head.identity == identity and about.st_size >= head.scanned
        if head is not None and known and (head.tag or head.scanned >= min(HEAD, about.st_size)):
            return head.tag
        head = _read_head(transcript.path, identity)
        self._heads[transcript.path] = head
        return head.tag


def read_head(path: Path, length: int = HEAD) -> bytes:
    """A file's first bytes; nothing if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(fd, length, 0)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _read_head(path: Path, identity: _Identity) -> _Head:
    head = read_head(path)
    found = _TAG.search(head)
    return _Head(identity, len(head), found[1].decode() if found else "")


def _still(found: _Found) -> bool:
    """Whether the file is the one that was found: not gone, not replaced, not begun anew."""
    about = _stat(found.path)
    return (
        about is not None and (about.st_dev, about.st_ino) == found.identity and about.st_size >= found.size
    )


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
