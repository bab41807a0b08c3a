"""A person's own settings file of an agent: our hooks put in and taken out; the text is `settings_text.py`'s matter."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from maestro.agents.json_text import NotJson
from maestro.agents.settings_place import SettingsPlace
from maestro.agents.settings_text import Clash, with_hooks, without_hooks
from maestro.errors import Conflict, InvalidInput, NoPermission
from maestro.files import write_atomically


class Outcome(msgspec.Struct, frozen=True):
    path: str
    changed: bool


def put_in(place: SettingsPlace, settings: Mapping[str, Any], agent: str) -> Outcome:
    """Make the file say that these hooks run; a file that says so already is not touched."""
    return _change(place, lambda text: with_hooks(text, settings, agent, comments=place.has_comments))


def take_out(place: SettingsPlace, agent: str) -> Outcome:
    """The file as it was without our hooks; one that we made goes."""
    return _change(
        place,
        lambda text: None if text is None else without_hooks(text, agent, comments=place.has_comments),
    )


def _change(place: SettingsPlace, change: Callable[[str | None], str | None]) -> Outcome:
    # The file that a link leads to: people keep their settings in repositories of their own.
    path = os.path.realpath(place.path)
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
        os.unlink(path)
    else:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_atomically(path, data, mode)
        os.chmod(path, mode)
    return Outcome(place.path, changed=True)


def _read(path: str) -> tuple[bytes | None, int]:
    try:
        with open(path, "rb") as file:
            return file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        return None, 0o600
    except OSError as error:
        raise NoPermission(
            f"{path} cannot be read: {error.strerror}.", hint="Check what it is, and its owner and mode."
        ) from error
