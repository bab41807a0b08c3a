"""The C limit, compiled and called in this process."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

SOURCE = Path(__file__).with_name("limit.c")


def compile_limit(folder: Path, compiler: str) -> ctypes.CDLL:
    library = folder / "limit.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    return ctypes.CDLL(str(library))


def reading(library: ctypes.CDLL, paths: list[Path], bytes_read: list[int]) -> Callable[[], object]:
    """A call that reads so many last bytes of each file."""
    names = (ctypes.c_char_p * len(paths))(*[str(path).encode() for path in paths])
    sizes = (ctypes.c_long * len(paths))(*bytes_read)
    function = library.count_lines_backwards
    function.restype = ctypes.c_long

    def call() -> int:
        lines: int = function(names, sizes, len(paths))
        if lines < 0:
            raise OSError("the limit could not read its files")
        return lines

    return call
