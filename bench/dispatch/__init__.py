"""S11: what a batch costs besides its agents."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row, interleaved, row
from maestro.dispatch.batches import dispatch
from maestro.dispatch.local import LocalEngine
from maestro.dispatch.planning import Order, Plan

AGENTS = 100
AT_ONCE = 8
ROUNDS = 15

# The shell's way: the same prompts and results, `timeout` for the deadline, each result synced.
LOOP = r"""
set -u
folder=$1; most=$2; running=0
mkdir -p "$folder/results" "$folder/runs"
for file in "$folder"/prompts/*.txt; do
  name=${file##*/}; name=${name%.txt}
  if (( running >= most )); then wait -n || true; running=$((running - 1)); fi
  (
    printf 'PROJECT ROOT: %s\n\n%s\n' "$PWD" "$(<"$file")" > "$folder/runs/$name.txt"
    timeout 600 true < "$folder/runs/$name.txt" > "$folder/results/$name.json" 2> "$folder/results/$name.log"
    echo $? > "$folder/results/$name.exit"
    sync "$folder/results/$name.json"
  ) &
  running=$((running + 1))
done
wait
failures=0; rows=
for exit in "$folder"/results/*.exit; do
  name=${exit##*/}; code=$(<"$exit")
  (( code == 0 )) || failures=$((failures + 1))
  rows+=",{\"name\":\"${name%.exit}\",\"exit_code\":$code}"
done
printf '{"failed":%d,"agents":[%s]}\n' "$failures" "${rows#,}" > "$folder/results/summary.json"
sync "$folder/results/summary.json"
"""


def rows(wanted: set[str]) -> Iterator[Row]:
    if wanted and "S11" not in wanted:
        return
    with tempfile.TemporaryDirectory(prefix="maestro-bench-") as name:
        place = Path(name)
        (place / "home").mkdir(mode=0o700)
        (place / "home" / "tools.toml").write_text('[tools.true]\ncommand = ["true"]\n')
        (place / "loop.sh").write_text(LOOP)
        (place / "work").mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": name, "MAESTRO_HOME": f"{name}/home", "LANG": "C.UTF-8"}
        batches = [_batch(place / f"batch{number}") for number in range(2 * ROUNDS)]
        left = itertools.count()

        def ours() -> None:
            folder = batches[next(left)]
            asyncio.run(_dispatch(folder, place / "work", env))
            assert len(list((folder / "results").glob("*.exit"))) == AGENTS

        def loop() -> None:
            folder = batches[next(left)]
            subprocess.run(
                ["bash", place / "loop.sh", folder, str(AT_ONCE)], env=env, cwd=place / "work", check=True
            )
            assert len(list((folder / "results").glob("*.exit"))) == AGENTS

        yield row(
            "S11",
            "dispatch of 100 runs of true, 8 at once / bash wait -n",
            1.0,
            interleaved(ours, loop, ROUNDS),
        )


def _batch(folder: Path) -> Path:
    (folder / "prompts").mkdir(parents=True)
    for number in range(AGENTS):
        (folder / "prompts" / f"agent-{number}.txt").write_text("Do nothing, well.\n")
    return folder


async def _dispatch(folder: Path, work: Path, env: dict[str, str]) -> None:
    def engine(plan: Plan) -> LocalEngine:
        return LocalEngine(places=AT_ONCE, stagger_s=0.0, adapter=plan.adapter, env=plan.env)

    order = Order(folder=str(folder), cd=str(work), to=("true",), any_agent=True)
    summary = await dispatch(order, env, engine)
    assert summary.total_agents == AGENTS
