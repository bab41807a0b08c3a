"""Reads the list of trusted projects that `tools.toml` in MAESTRO_HOME may still have: `trust = ["/home/me/project"]`."""

from __future__ import annotations

import os
import tomllib


def is_listed(home: str, root: str) -> bool:
    """Whether the person's own file lists the project. A file that cannot be read lists nothing."""
    try:
        with open(os.path.join(home, "tools.toml"), "rb") as file:
            listed = tomllib.load(file).get("trust", [])
    except (OSError, ValueError):
        return False
    paths = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    return any(os.path.realpath(os.path.expanduser(path)) == os.path.realpath(root) for path in paths)
