"""The Markdown files of a project: found, read, and changed so that nothing of anybody's is lost.

Folders with a dot in front, those of installed packages, and other repositories below this one are not looked into; nor are files
whose names cannot be printed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from maestro import confined
from maestro.coordinate.tags.markdown import decoded, encoded
from maestro.dispatch.places import has_git_part, project_root, state_folder
from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.files import replace_in

ENDINGS: Final = (".md", ".markdown")
VISION: Final = "vision.md"  # of the state folder: the one file there that people write
_PASSED_OVER: Final = frozenset({"node_modules", "site-packages", "__pycache__", "vendor"})
_LARGEST: Final = 2_000_000
_TRIES: Final = 20
_HALF: Final = re.compile(r"\..+\.\d+\.[0-9a-f]{12}\.tmp")


class _SavedMeanwhile(Exception):
    """Somebody else has just written the file."""


class MarkdownFiles:
    """Keeps nothing in memory but where things are. A file's name is its path from the project's root."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.root = project_root(cwd)
        self.state = state_folder(self.root, env)

    def names(self, paths: Sequence[str] = ()) -> list[str]:
        """All of them, or those of these files and folders."""
        if not paths:
            own = [self.name_of(vision)] if os.path.isfile(vision := os.path.join(self.state, VISION)) else []
            return sorted({*own, *self._walk(self.root)})
        found: set[str] = set()
        for path in paths:
            if os.path.isdir(path):
                found |= set(self._walk(os.path.realpath(path)))
            elif os.path.exists(path):
                found.add(self.name_of(path))
            else:
                raise NotFound(f"There is no {path}.", hint="Give files or folders of the project.")
        return sorted(found)

    def _walk(self, top: str) -> Iterator[str]:
        if top != self.root and not top.startswith(self.root.rstrip("/") + "/"):
            raise InvalidInput(
                f"{top} is not in the project {self.root}.", hint="Give a folder of the project."
            )
        for folder, folders, files in os.walk(top):
            folders[:] = [
                name
                for name in folders
                if not name.startswith(".")
                and name not in _PASSED_OVER
                and not os.path.lexists(os.path.join(folder, name, ".git"))
            ]
            for name in files:
                path = os.path.join(folder, name)
                inside = os.path.relpath(path, self.root)
                if name.lower().endswith(ENDINGS) and inside.isprintable() and not os.path.islink(path):
                    yield inside

    def rewrite(self, name: str, change: Callable[[str], str], *, create: bool = False) -> str:
        """The file changed, and as it is now. What an editor saves meanwhile is taken up, not overwritten.

        Only for whoever holds the project's lock: what a killed writer left half done is taken away first."""
        path = self.path_of(name)
        clear_halves(os.path.dirname(path), os.path.basename(path))
        for _ in range(_TRIES):
            before = _bytes_of(path) if not create or confined.exists(path) else b""
            text = change(decoded(before))
            after = encoded(text)
            if after == before:
                return text
            try:
                self._replace(path, before, after)
            except _SavedMeanwhile:
                continue
            return text
        raise Conflict(f"{name} is written all the time by somebody else.", hint="Try it again.")

    @staticmethod
    def _replace(path: str, before: bytes, after: bytes) -> None:
        folder, name = confined.parent(path)

        def unchanged() -> None:
            if (folder.read(name, _LARGEST + 1) if folder.has(name) else b"") != before:
                raise _SavedMeanwhile

        with folder:
            mode = stat.S_IMODE(folder.status(name).st_mode) if folder.has(name) else 0o644
            replace_in(folder, name, after, mode, check=unchanged)
            if stat.S_IMODE(folder.status(name).st_mode) != mode:
                folder.set_mode(name, mode)  # the process's mask took something away

    def text_of(self, name: str) -> str:
        return decoded(_bytes_of(self.path_of(name)))

    def name_of(self, path: str) -> str:
        """A Markdown file as the project knows it: its path from the root. Never one outside, nor one of git's or ours."""
        real = os.path.realpath(path)
        if not real.startswith(self.root.rstrip("/") + "/"):
            raise InvalidInput(
                f"{path} is not in the project {self.root}.", hint="Give a file of the project."
            )
        name = os.path.relpath(real, self.root)
        if has_git_part(name):
            raise InvalidInput(f"{path} is in git's own folder.", hint="Give a file that people write.")
        if real.startswith(f"{self.state}/") and real != os.path.join(self.state, VISION):
            raise InvalidInput(f"{path} is in Maestro's own folder.", hint="Give a file that people write.")
        if not real.lower().endswith(ENDINGS):
            raise InvalidInput(f"{path} is no Markdown file.", hint=f"Its name ends with {ENDINGS[0]}.")
        if os.path.isdir(real):
            raise InvalidInput(f"{path} is a folder.", hint="Give a file of the project.")
        return name

    def path_of(self, name: str) -> str:
        path = os.path.normpath(os.path.join(self.root, name))
        if not path.startswith(self.root.rstrip("/") + "/") or has_git_part(os.path.relpath(path, self.root)):
            raise InvalidInput(f"{name} is no Markdown file of the project {self.root}.")
        return path


def _bytes_of(path: str) -> bytes:
    try:
        data = confined.read(path, _LARGEST + 1)
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.", hint="`maestro tag list` shows what there is.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", hint="Check its mode.") from error
    if len(data) > _LARGEST:
        raise InvalidInput(f"{path} is too large.", hint=f"At most {_LARGEST:,} bytes are read.")
    return data


def clear_halves(folder: str, beginning: str = "") -> None:
    """Take away what a killed writer was about to write."""
    try:
        opened = confined.folder(folder)
    except OSError:
        return
    with opened:
        for name in opened.names():
            if name.startswith(f".{beginning}") and _HALF.fullmatch(name):
                opened.unlink(name)
