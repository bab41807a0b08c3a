"""Keeps the variables that a coordinator's children are started with, where the coordinator itself does not get them.

A coordinator starts workers of every agent, but has the keys of its own CLI alone. So the variables of the person who
started it are a file here, outside of its own folder, until it has ended for good.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Final

import msgspec
import structlog

from maestro.files import write_atomically
from maestro.home import Home

FOLDER: Final = "environments"
_SUFFIX: Final = ".json"

_log = structlog.get_logger("environments")


class Environments:
    def __init__(self, home: Home) -> None:
        self._home = home

    def keep(self, session_id: str, variables: Mapping[str, str]) -> None:
        """Write what the children of this session may know, in place of what was there."""
        path = self._path(session_id)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_atomically(path, msgspec.json.encode(dict(variables)))

    def of(self, session_id: str) -> dict[str, str] | None:
        """Returns what the children of this session may know; None when nothing was kept that can be read."""
        try:
            with open(self._path(session_id), "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, str])
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("unreadable", session=session_id, error=str(error))
            return None

    def forget(self, session_id: str) -> None:
        """Remove what was kept for this session, if anything was."""
        try:
            os.unlink(self._path(session_id))
        except FileNotFoundError:
            pass
        except OSError as error:
            _log.warning("not removed", session=session_id, error=str(error))

    def forget_all_but(self, session_ids: Collection[str]) -> None:
        """Remove what was kept for any other session."""
        try:
            names = os.listdir(self._home.path(FOLDER))
        except FileNotFoundError:
            return
        for name in names:
            session_id = name.removesuffix(_SUFFIX)
            if name.endswith(_SUFFIX) and not name.startswith(".") and session_id not in session_ids:
                self.forget(session_id)

    def _path(self, session_id: str) -> str:
        return self._home.path(FOLDER, session_id + _SUFFIX)
