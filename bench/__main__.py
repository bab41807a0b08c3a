"""Runs every row, prints a table, writes bench/results.json. `python -m bench S6 S15` runs only these."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench import commands, dispatch, fleet, observe
from bench.measure import Row, Rows

SOURCES: tuple[Rows, ...] = (observe.rows, fleet.rows, dispatch.rows, commands.rows)


def main() -> int:
    wanted = set(sys.argv[1:])
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
