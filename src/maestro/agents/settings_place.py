"""Where a CLI reads a person's own settings: the port for `maestro install`, on one page. Pure."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import msgspec

from maestro.agents import Environment

Scope = Literal["user", "project"]


class SettingsPlace(msgspec.Struct, frozen=True):
    path: str
    has_comments: bool = False  # the CLI reads JSON with comments
    advice: str = ""  # what the person must still do, or should know, so that the hooks run


@runtime_checkable
class Installable(Protocol):
    """A CLI whose own settings can hold hooks, for sessions that Maestro did not start."""

    name: str

    def settings_place(self, scope: Scope, env: Environment, project: str) -> SettingsPlace:
        """The file for everything that this person does, or for one project."""
