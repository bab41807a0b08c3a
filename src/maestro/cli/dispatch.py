"""`maestro dispatch DIR`: a folder of prompts, an agent for each, side by side.

It needs no daemon: the folder is the truth, and the same command with --resume goes on after any end.
"""

from __future__ import annotations

import os
import sys
import time

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from maestro.dispatch.batches import Watch
    from maestro.dispatch.planning import Order, Plan
    from maestro.dispatch.progress import Event
    from maestro.dispatch.summary import Summary

_EPILOG = (
    "Prompts are DIR/prompts/AGENT.txt; results are DIR/results/AGENT.json, .exit, .log and summary.json. Variables: "
    "MAESTRO_DEFAULT_MODEL, MAESTRO_AGENT_TIMEOUT (minutes, 10), MAESTRO_MAX_CONCURRENT (0: all), "
    "MAESTRO_STAGGER_DELAY (seconds, 5), MAESTRO_CLEANUP_DISPATCH (true removes the prompts of a batch that is over). "
    "The exit code is the number of agents that did not succeed, at most 100; 130 after Ctrl-C."
)
_TOLD_SECONDS = 5.0


def describe(parser: Parser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("folder", metavar="DIR", help="the folder that holds prompts/")
    parser.add_argument(
        "--to",
        metavar="[AGENT=]TOOL",
        action="append",
        default=[],
        help="claude, codex, gemini, or one of tools.toml; for all, or for one agent; repeatable (default: gemini)",
    )
    parser.add_argument(
        "--mode", choices=("analysis", "write"), help="analysis reads only; write is the default"
    )
    parser.add_argument("--model", metavar="MODEL", default="", help="for all agents")
    parser.add_argument("--cd", metavar="FOLDER", default="", help="the project's root; default: here")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="of each agent; default: 600")
    parser.add_argument("--concurrent", metavar="N", type=int, help="agents at once; 0 is all, the default")
    parser.add_argument("--stagger", metavar="SECONDS", type=float, help="between two starts; default: 5")
    parser.add_argument(
        "--engine", choices=("local",), default="local", help="what runs them (default: local)"
    )
    parser.add_argument("--any-agent", action="store_true", help="names need not be in the roster")
    again = parser.add_argument_group("again")
    again.add_argument("--resume", action="store_true", help="go on: finished agents are not run again")
    again.add_argument("--failed", action="store_true", help="with --resume: also run again what failed")
    again.add_argument("--restart", action="store_true", help="begin anew; what there is goes to earlier/")
    again.add_argument(
        "--retries",
        metavar="[STATUS=]N",
        action="append",
        default=[],
        help="run an agent again that failed; STATUS: failed (default), timeout, denied, refused; repeatable",
    )
    again.add_argument(
        "--backoff", metavar="SECONDS", type=float, default=5.0, help="before a retry, doubling"
    )
    again.add_argument(
        "--max-wait",
        metavar="SECONDS",
        type=float,
        default=6 * 3600.0,
        help="for a rate or quota limit to end; 0 does not wait (default: 6 h)",
    )
    spending = parser.add_argument_group("budget")
    spending.add_argument("--max-tokens", metavar="N", type=int, help="start no agent after so many tokens")
    spending.add_argument(
        "--max-cost", metavar="DOLLARS", type=float, help="start no agent after so much money"
    )
    apart = parser.add_argument_group("isolation")
    apart.add_argument("--isolate", choices=("worktree",), help="each agent in a git worktree of its own")
    apart.add_argument("--apply", action="store_true", help="merge the work of agents that do not conflict")
    apart.add_argument(
        "--network", action="store_true", help="open the network to their commands, where a CLI closes it"
    )
    parser.set_defaults(run=_dispatch)


def _dispatch(arguments: Namespace) -> int:
    import asyncio
    import signal

    from maestro.dispatch.batches import dispatch, failures
    from maestro.dispatch.local import LocalEngine
    from maestro.dispatch.progress import closing

    order = _order(arguments)
    plans: list[Plan] = []

    def begun(plan: Plan) -> None:
        plans.append(plan)
        _announce_start(plan)

    def engine(plan: Plan) -> LocalEngine:
        settings = plan.settings
        return LocalEngine(
            places=settings.concurrent, stagger_s=settings.stagger_s, adapter=plan.adapter, env=plan.env
        )

    async def main(watch: Watch) -> Summary:
        cancel = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, cancel.set)
        return await dispatch(order, os.environ, engine, watch=watch, cancel=cancel, begun=begun)

    if wants_json(arguments):
        summary = asyncio.run(main(lambda _: None))
    elif render.on_terminal():
        from maestro.cli.dispatch_view import View

        with View() as view:
            summary = asyncio.run(main(view.show))
    else:
        summary = asyncio.run(main(_print))
    _announce_end(summary, plans[0])
    if wants_json(arguments):
        import msgspec

        render.print_json(msgspec.to_builtins(summary))
    else:
        for line in closing(summary, os.path.join(order.folder, "results", "summary.json")):
            print(render.printable(line))
    return errors.EXIT_INTERRUPTED if summary.was_cancelled else failures(summary)


def _order(arguments: Namespace) -> Order:
    from maestro.dispatch.budget import Caps
    from maestro.dispatch.planning import Order
    from maestro.dispatch.retry import RetryPolicy, parsed_retries

    for option in ("timeout", "concurrent", "stagger", "backoff", "max_wait", "max_tokens", "max_cost"):
        value = getattr(arguments, option)
        if value is not None and not 0 <= value < 1e12:
            raise errors.InvalidInput(
                f"--{option.replace('_', '-')} must not be {value:g}.", hint="Give a number from 0 on."
            )
    if arguments.failed and not arguments.resume:
        raise errors.InvalidInput("--failed goes with --resume.")
    return Order(
        folder=arguments.folder,
        cd=arguments.cd,
        to=tuple(arguments.to),
        mode=arguments.mode,
        model=arguments.model,
        timeout_s=arguments.timeout,
        concurrent=arguments.concurrent,
        stagger_s=arguments.stagger,
        isolate=arguments.isolate,
        apply=arguments.apply,
        network=arguments.network,
        resume=arguments.resume,
        restart=arguments.restart,
        failed_too=arguments.failed,
        any_agent=arguments.any_agent,
        policy=RetryPolicy(
            retries=parsed_retries(arguments.retries),
            backoff_s=arguments.backoff,
            longest_wait_s=arguments.max_wait,
            waits_for_limits=arguments.max_wait > 0,
        ),
        caps=Caps(arguments.max_tokens, arguments.max_cost),
    )


def _print(event: Event) -> None:
    from maestro.dispatch.progress import lines

    for line in lines(event, clock_of(event)):
        print(render.printable(line), flush=True)


def clock_of(event: Event) -> str:
    """The time that an event names."""
    at = getattr(event, "until", None) or getattr(event, "again_at", None)
    return time.strftime("%H:%M:%S", time.localtime(at / 1000)) if at else ""


def _announce_start(plan: Plan) -> None:
    batch = plan.batch
    _announce(
        "started",
        {
            "id": batch.id,
            "directory": batch.root,
            "folder": plan.folder,
            "mode": batch.mode,
            "agents": [agent.name for agent in batch.agents][:1000],
            "isResumed": plan.earlier is not None,
        },
    )


def _announce_end(summary: Summary, plan: Plan) -> None:
    _announce(
        "ended",
        {
            "id": summary.batch_id,
            "directory": plan.batch.root,
            "folder": plan.folder,
            "status": "cancelled" if summary.was_cancelled else summary.batch_status,
            "total": summary.total_agents,
            "succeeded": summary.succeeded,
            "failed": summary.failed,
            "durationMs": summary.ended_at - summary.started_at,
            "costUsd": summary.cost_usd,
            "fileConflicts": len(summary.file_conflicts),
        },
    )


def _announce(what: str, body: dict[str, object]) -> None:
    """An event in the log of a daemon that is up. None is started for it, and a batch does not fail by it."""
    from maestro.server.client import Daemon

    try:
        Daemon(os.environ).call("POST", f"/api/batches/{what}", body, start=False, timeout=_TOLD_SECONDS)
    except errors.DaemonError:
        pass
    except errors.MaestroError as error:
        print(f"maestro: the daemon was not told of {body['id']}: {error.message}", file=sys.stderr)
