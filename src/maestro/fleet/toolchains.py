"""Finds what of a person's home an isolated session must read: the programs on its PATH, and how git is set up.

Everything else of the home is hidden from it: keys and passwords lie in more places than anybody could name.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

# Read by programs on the PATH, wherever those lie. None of them holds a password; `.cargo`, `.config/git` and the like do.
_KNOWN: Final = (
    ".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes",
    ".asdf", ".bun/bin", ".cargo/env", ".cargo/registry", ".deno/bin", ".local/share/mise", ".local/share/pipx",
    ".local/share/pnpm", ".local/share/uv", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".volta", "go/pkg",
)  # fmt: skip
# Parts of a home that may lie elsewhere, and where they lie otherwise.
_PARTS: Final = {
    "XDG_CACHE_HOME": ".cache/",
    "XDG_CONFIG_HOME": ".config/",
    "XDG_DATA_HOME": ".local/share/",
    "XDG_RUNTIME_DIR": "",  # sockets, no programs
    "XDG_STATE_HOME": ".local/state/",
}
_BESIDE_BIN: Final = ("lib", "lib64", "libexec", "pyvenv.cfg")
_MOST_LINKS: Final = 2_000


def homes(env: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the homes of whoever has this environment: the one that it names, the one that the system knows, and parts
    of a home that lie elsewhere."""
    named = [env.get("HOME", ""), pwd.getpwuid(os.geteuid()).pw_dir, *(env.get(name, "") for name in _PARTS)]
    found = (os.path.realpath(path) for path in named if os.path.isabs(path))
    return tuple(dict.fromkeys(path for path in found if path != "/" and os.path.isdir(path)))


def readable(env: Mapping[str, str], hidden: Iterable[str]) -> tuple[str, ...]:
    """Returns what is in the hidden homes and a session must read, as paths without symbolic links in their folders."""
    inside = [home.rstrip("/") + "/" for home in hidden]
    wanted: list[str] = []
    for folder in env.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            wanted += _of_programs(os.path.realpath(folder), inside)
    for home in inside:
        wanted += [os.path.join(home, name) for name in _KNOWN]
    for variable, usual in _PARTS.items():
        if usual and os.path.isabs(part := env.get(variable, "")):
            own = (name.removeprefix(usual) for name in _KNOWN if name.startswith(usual))
            wanted += [os.path.join(os.path.realpath(part), name) for name in own]
    return tuple(
        dict.fromkeys(
            path
            for path in wanted
            if path.startswith(tuple(inside))
            and not any(place.startswith(path + "/") for place in inside)
            and os.path.exists(path)
        )
    )


def _of_programs(folder: str, inside: list[str]) -> Iterator[str]:
    """A folder of programs, what they bring beside it, and where links in it lead."""
    yield folder
    prefix = os.path.dirname(folder)
    if os.path.basename(folder) == "bin" and prefix + "/" not in inside:
        # Not the folder itself: in ~/.local or ~/.cargo there is more than programs.
        yield from (os.path.join(prefix, name) for name in _BESIDE_BIN)
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_MOST_LINKS), strict=False):
                if entry.is_symlink():
                    yield _package(os.path.realpath(entry.path), inside)
    except OSError:
        return


def _package(program: str, inside: list[str]) -> str:
    """The folder of a program's package: that of npm, or the one that it lies in."""
    words = program.split("/")
    if "node_modules" in words:
        place = len(words) - 1 - words[::-1].index("node_modules")
        return "/".join(words[: place + (3 if words[place + 1].startswith("@") else 2)])
    folder = os.path.dirname(program)
    return program if folder + "/" in inside else folder
