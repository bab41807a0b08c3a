"""Becomes a program that connects to no abstract socket outside of its sandbox: `python -I -S confine.py PROGRAM …`.

Such sockets have no file that a sandbox could hide, and belong to the network that it keeps. Linux closes them from 6.12
on (Landlock); an older one runs the program as it is.
"""

import ctypes
import os
import sys

_CREATE, _RESTRICT = 444, 446  # Landlock's system calls, the same on every machine
_VERSION = 1  # asks which one the kernel has
_SCOPES_SINCE = 6
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


def has_scopes() -> bool:
    """Whether this kernel can close them."""
    return bool(ctypes.CDLL(None).syscall(_CREATE, None, 0, _VERSION) >= _SCOPES_SINCE)


def close_abstract_sockets() -> bool:
    """Whether the kernel does it, from now on and for all children."""
    libc = ctypes.CDLL(None)
    if not has_scopes():
        return False
    rules = _Rules(0, 0, _ABSTRACT_SOCKETS | _SIGNALS)
    descriptor = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    if descriptor < 0:
        return False
    # bubblewrap has given up new privileges already, which Landlock asks for.
    done = libc.syscall(_RESTRICT, descriptor, 0)
    os.close(descriptor)
    return bool(done == 0)


if __name__ == "__main__":
    close_abstract_sockets()
    try:
        os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - to become the agent is what this is for
    except OSError as error:
        sys.stderr.write(f"maestro: {sys.argv[1]} cannot be started: {error.strerror}.\n")
        sys.exit(127)
