"""Folders that CLIs keep their transcripts in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from maestro.agents import Environment


def config_folder(env: Environment, variable: str, default: str) -> Path:
    """A CLI's own folder: where its variable points, else a folder of this name in HOME."""
    return (
        Path(env[variable])
        if env.get(variable)
        else Path(env.get("HOME") or os.path.expanduser("~")) / default
    )


def files_in(folder: Path, ending: str) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a folder with this ending. A folder or file that went away meanwhile is left out."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(ending):
            try:
                if entry.is_file():
                    yield Path(entry.path), entry.stat()
            except OSError:
                continue


def json_string(literal: bytes) -> str:
    """The text of a JSON string literal, or nothing."""
    try:
        return msgspec.json.decode(literal, type=str)
    except (msgspec.MsgspecError, ValueError):
        return ""
