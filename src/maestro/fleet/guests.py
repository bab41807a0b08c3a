"""tmux servers of the user's own that Maestro was asked to look into: name → socket, in one small file."""

from __future__ import annotations

import hashlib
import json
import os

from maestro.files import write_atomically


class Guests:
    def __init__(self, path: str) -> None:
        self._path = path

    def add(self, socket: str) -> str:
        """Remember the server; the name that it goes by here."""
        name = f"yours-{hashlib.sha256(os.fsencode(socket)).hexdigest()[:6]}"
        known = self._read()
        if known.get(name) != socket:
            write_atomically(self._path, json.dumps(known | {name: socket}).encode())
        return name

    def names(self) -> list[str]:
        return sorted(self._read())

    def socket(self, name: str) -> str | None:
        return self._read().get(name)

    def _read(self) -> dict[str, str]:
        try:
            with open(self._path, encoding="utf-8") as file:
                told = json.load(file)
        except FileNotFoundError:
            return {}
        return {str(name): str(socket) for name, socket in told.items()}
