"""Runs every row, prints a table, writes bench/results.json. `python -m bench S6 S15` runs only these."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from bench import commands, dispatch, fleet, judging, observe
from bench.measure import Row, Rows
from maestro.errors import EXIT_INTERRUPTED
from maestro.testing.leftovers import run_folder

SOURCES: tuple[Rows, ...] = (observe.rows, judging.rows, fleet.rows, dispatch.rows, commands.rows)
_PATIENCE = 10.0  # seconds, for what was told to end


def main() -> int:
    # Whatever ends it, it clears up first.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with run_folder("mb") as folder:
            folder.use()
            code = measure(set(sys.argv[1:]))
            left = folder.leftovers(_PATIENCE)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    print(left, *left.processes, *left.files, sep="\n")
    return 1 if any(left) else code


def measure(wanted: set[str]) -> int:
    rows: list[Row] = []
    print(f"{'':<5} {'what':<66} {'ratio':>8}  {'bar':>8} {'ours ms':>9} {'against ms':>10}")
    for source in SOURCES:
        for row in source(wanted):
            rows.append(row)
            bar = f"{'≤' if row.at_most else '≥'} {row.bar:g}"
            print(
                f"{row.id:<5} {row.what:<66} {row.ratio:>8.3g}  {bar:>8} {row.ours_ms:>9.3g} {row.against_ms:>10.4g}"
                f"  {'' if row.holds else 'MISSED'}",
                flush=True,
            )
    results = [
        {k: v for k, v in asdict(row).items() if k in {"id", "what", "ratio", "bar", "holds"}} for row in rows
    ]
    Path(__file__).with_name("results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
