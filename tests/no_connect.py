"""`python no_connect.py PROGRAM …`: the program without the system call `connect`, as in the sandbox of a coding agent.

The kernel refuses the call with EPERM, whatever it is meant to reach; all that the program starts inherits this.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

_CONNECT = {"x86_64": 42, "aarch64": 203}
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # the machine of BPF: load a word, jump if equal, return
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def forbid_connect() -> None:
    steps = b"".join(
        struct.pack("HBBI", *step)
        for step in (
            (_LOAD, 0, 0, 0),  # the number of the system call
            (_EQUAL, 0, 1, _CONNECT[platform.machine()]),
            (_RETURN, 0, 0, _EPERM),
            (_RETURN, 0, 0, _ALLOW),
        )
    )
    kept = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid_connect()
    os.execvp(sys.argv[1], sys.argv[1:])
