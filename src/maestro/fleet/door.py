"""A folder that holds nothing but a link to the daemon's socket: all that an isolated session sees of MAESTRO_HOME.

A daemon that starts makes a new socket. A sandbox that was given the old socket would knock at a dead one for ever;
one that was given the folder finds the new one.
"""

from __future__ import annotations

import os

FOLDER = "door"


def open_door(socket: str, folder: str) -> None:
    """Make the link, in place of an earlier one. To be called whenever the socket was made anew."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = os.path.basename(socket)
    new = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    os.link(socket, new)
    os.rename(new, os.path.join(folder, name))
    for entry in os.scandir(folder):
        if entry.name != name:
            os.unlink(entry.path)  # what a killed daemon left behind
