"""A person's own settings file of an agent: our hooks put in and taken out; the text is `settings_text.py`'s matter."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from maestro import confined
from maestro.agents.json_text import NotJson
from maestro.agents.settings_place import Scope, SettingsPlace
from maestro.agents.settings_text import Clash, with_hooks, without_hooks
from maestro.errors import Conflict, InvalidInput, NoPermission
from maestro.files import write_atomically


class Outcome(msgspec.Struct, frozen=True):
    path: str
    changed: bool


def put_in(place: SettingsPlace, settings: Mapping[str, Any], agent: str, scope: Scope = "user") -> Outcome:
    """Make the file say that these hooks run; a file that says so already is not touched."""
    return _change(place, scope, lambda text: with_hooks(text, settings, agent, comments=place.has_comments))


def take_out(place: SettingsPlace, agent: str, scope: Scope = "user") -> Outcome:
    """The file as it was without our hooks; one that we made goes."""
    return _change(
        place,
        scope,
        lambda text: None if text is None else without_hooks(text, agent, comments=place.has_comments),
    )


def _change(place: SettingsPlace, scope: Scope, change: Callable[[str | None], str | None]) -> Outcome:
    # The file that a link leads to: people keep their settings in repositories of their own. A project's leads nowhere.
    path = place.path if scope == "project" else os.path.realpath(place.path)
    before, mode = _read(path)
    try:
        text = None if before is None else before.decode("utf-8")
        after = change(text)
        data = None if after is None else after.encode("utf-8")
    except (NotJson, Clash) as error:
        raise InvalidInput(
            f"{place.path} was left as it is: {error}.", hint="Put it right, then do this again."
        ) from error
    except UnicodeError as error:
        raise InvalidInput(
            f"{place.path} was left as it is: it, or where Maestro is installed, is not UTF-8.",
            hint="Save it as UTF-8.",
        ) from error
    if data == before:
        return Outcome(place.path, changed=False)
    if _read(path)[0] != before:
        raise Conflict(f"{place.path} was changed by somebody else meanwhile.", hint="Do this again.")
    if data is None:
        confined.unlink(path)
    else:
        confined.make_folders(os.path.dirname(path))
        write_atomically(path, data, mode, confined=True)
        _set_mode(path, mode)
    return Outcome(place.path, changed=True)


def _set_mode(path: str, mode: int) -> None:
    """A new file has less than this where the umask takes some away."""
    folder, name = confined.parent(path)
    with folder:
        folder.set_mode(name, mode)


def _read(path: str) -> tuple[bytes | None, int]:
    try:
        descriptor = confined.open_file(path, os.O_RDONLY)
        with open(descriptor, "rb") as file:
            return file.read(), stat.S_IMODE(os.fstat(descriptor).st_mode)
    except FileNotFoundError:
        return None, 0o600
    except OSError as error:
        raise NoPermission(
            f"{path} cannot be read: {error.strerror}.", hint="Check what it is, and its owner and mode."
        ) from error
