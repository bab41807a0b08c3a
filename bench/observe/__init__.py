"""Rows S1 to S4 and S13: how fast a digest is, and how much it saves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row

from . import digests, finding, saving


def rows(wanted: set[str]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="maestro-bench-") as name:
        folder = Path(name)
        if not wanted or wanted & {"S1", "S2", "S3"}:
            yield from digests.rows(folder, wanted)
        if not wanted or "S4" in wanted:
            yield from finding.rows(folder)
        if not wanted or "S13" in wanted:
            yield from saving.rows(folder)
