"""`maestro chain run`: from an intent to a chain that is carried out here, or in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from maestro import errors
from maestro.chains import BUILT_IN, Chain, Route
from maestro.chains import preview as previews
from maestro.chains.catalogue.catalogue_file import step_template
from maestro.chains.context import begin
from maestro.chains.executors import executor, reviewer
from maestro.chains.moves import ends_pause, resumed
from maestro.chains.report import facts, next_words, report
from maestro.chains.review import RULE
from maestro.chains.runner import ChainRun, Desk
from maestro.chains.state import SESSION_ID, ChainState, new_steps
from maestro.chains.state_file import (
    can_go_on,
    find_chain,
    held,
    make_folder,
    read_state,
    record_own,
    require_own,
    write_state,
)
from maestro.chains.step_runs import Setting
from maestro.chains.steps import assembled, commands_digest
from maestro.cli import render
from maestro.cli.chain_desk import SilentDesk, TextDesk, can_ask
from maestro.cli.chain_intent import Here, check_intent, here, routed
from maestro.cli.delegated import start
from maestro.cli.parser import wants_json
from maestro.dispatch.delegate import environment
from maestro.dispatch.rules import rule_named, trusted_rule
from maestro.dispatch.run import this_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_INTERRUPTED = errors.EXIT_INTERRUPTED


def run(arguments: Namespace) -> int:
    _check(arguments)
    if arguments.resume is not None:
        return _resume(arguments)
    place = here(acts=not arguments.dry_run)
    check_intent(arguments, place)
    _require_person(arguments)
    found = routed(arguments, place)
    chain = place.catalogue.chains[found.chain]
    first = _first(arguments.first, chain)
    plan = _previewed(arguments, place, chain, found, first)
    if not (plan.review_by or arguments.no_review) and len(chain.steps) > 1:
        print(
            "maestro: no other tool is installed that could review the steps; --review-by names one.",
            file=sys.stderr,
        )
    if arguments.dry_run:
        _show(arguments, plan, place)
        return 0
    if not arguments.yes:
        chosen = _confirmed(arguments, plan, place)
        if chosen is None:
            print("Cancelled. Nothing was run.")
            return _INTERRUPTED
        first = chosen
    folder, state = _created(arguments, place, chain, found, first)
    if arguments.detached:
        return _detached(arguments, place, folder, state)
    return carried_out(place, folder, _desk(arguments), json=wants_json(arguments))


def _check(arguments: Namespace) -> None:
    if arguments.resume == "" and len(arguments.intent) == 1 and SESSION_ID.fullmatch(arguments.intent[0]):
        # `-c -y ID`: the parser cannot know that the id belongs to -c.
        arguments.resume = arguments.intent.pop()
    if arguments.min_score is not None and not 0 <= arguments.min_score <= 100:
        raise errors.InvalidInput(f"A score of {arguments.min_score} is not possible.", hint="0 to 100.")
    if arguments.budget is not None and not arguments.budget > 0:
        raise errors.InvalidInput("A budget is more than $0.", hint="For example --budget 2.50")
    if arguments.resume is not None and (arguments.intent or arguments.chain or arguments.first):
        raise errors.InvalidInput(
            "A chain that goes on has its intent, its chain and its place already.",
            hint="Say `maestro chain run -c [ID]` without them.",
        )


def _require_person(arguments: Namespace) -> None:
    """Raises where a question would have to be asked, and nobody is there."""
    if not (arguments.yes or arguments.dry_run) and (wants_json(arguments) or not can_ask()):
        raise errors.InvalidInput(
            "Nobody is here to be asked.", hint="Say -y to run without questions, or --dry-run to look first."
        )


def _first(wanted: int | None, chain: Chain) -> int:
    if wanted is not None and not 1 <= wanted <= len(chain.steps):
        raise errors.InvalidInput(
            f"{chain.name} has no step {wanted}.", hint=f"Its steps are 1 to {len(chain.steps)}."
        )
    return wanted or 1


# Before it begins


def _previewed(arguments: Namespace, place: Here, chain: Chain, found: Route, first: int) -> previews.Preview:
    to, doing, by = _tools(arguments, place)
    context = begin(chain, found, place.project, state=place.named_state, stamp="TIME")
    return previews.Preview(
        chain,
        found,
        context,
        place.project,
        place.named_state,
        first,
        arguments.yes,
        to,
        doing,
        by if len(chain.steps) > 1 else "",
        _review_rule(place, acts=not arguments.dry_run),
    )


def _review_rule(place: Here, *, acts: bool) -> str:
    """Where it comes from: a project may have one of its own by that name."""
    if acts:
        return trusted_rule(RULE, place.trust, place.state).place
    return rule_named(RULE, place.trust.home, place.state).place


def _tools(arguments: Namespace, place: Here) -> tuple[str, str, str]:
    """What the person wants, what does the steps else, and what reviews them."""
    env = environment(os.environ)
    to = place.box.find(arguments.to)[0] if arguments.to else ""
    try:
        doing = executor(place.box, to, env)
    except errors.NotFound:
        if not arguments.dry_run:
            raise
        doing = ""
    by = "" if arguments.no_review else reviewer(place.box, arguments.review_by, to or doing, env)
    return to, doing, by


def _show(arguments: Namespace, plan: previews.Preview, place: Here) -> None:
    if wants_json(arguments):
        render.print_json(previews.facts(plan, place.catalogue))
        return
    print(render.printable("\n".join(previews.lines(plan, place.catalogue)), lines=True))
    print("\nNothing was run.")


def _confirmed(arguments: Namespace, plan: previews.Preview, place: Here) -> int | None:
    """The step to begin with; None: not at all."""
    print(render.printable("\n".join(previews.lines(plan, place.catalogue)), lines=True))
    count = len(plan.chain.steps)
    several = f" · 2–{count}: from that step" if count > 1 else ""  # noqa: RUF001 - a range, for a person
    print(f"\nEnter: execute{several} · c: cancel")
    while True:
        try:
            said = input("> ").strip().lower()
        except EOFError:
            return None
        if said in ("", "e", "execute", "y", "yes"):
            return arguments.first or 1
        if said in ("c", "cancel", "n", "no", "q"):
            return None
        if said.isdecimal() and 1 <= int(said) <= count:
            return int(said)


def _created(
    arguments: Namespace, place: Here, chain: Chain, found: Route, first: int
) -> tuple[str, ChainState]:
    now = time.time()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    to, _, by = _tools(arguments, place)
    context = begin(chain, found, place.project, state=place.named_state, stamp=stamp)
    steps = new_steps(chain, place.catalogue, first)
    state = ChainState(
        session_id="coord-00000000000000",
        created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        intent=" ".join(arguments.intent).strip(),
        task_type=found.chain,
        chain_name=chain.name,
        auto_mode=arguments.yes or arguments.detached,
        phase=context.phase,
        current_step=first - 1,
        steps=steps,
        context=context,
        project=place.project,
        to=to,
        review_by=by if len(steps) > 1 else "",
        min_score=arguments.min_score,
        budget_usd=arguments.budget,
        timeout_s=arguments.timeout,
        commands=commands_digest(steps, place.catalogue),
        runner=this_process(),
    )
    # What the first step lacks is said before anything is written.
    assembled(state, first - 1, place.catalogue, place.project, place.named_state, step_template())
    session_id, folder = make_folder(place.state, now)
    state = msgspec.structs.replace(state, session_id=session_id)
    record_own(place.trust, folder)
    write_state(folder, state)
    return folder, state


# While it runs


def _desk(arguments: Namespace) -> Desk:
    return SilentDesk() if wants_json(arguments) else TextDesk()


def setting_of(place: Here, state: ChainState, *, tells_session: bool = False) -> Setting:
    env = dict(os.environ)
    return Setting(
        root=place.root,
        state_folder=place.state,
        catalogue=place.catalogue,
        template=step_template(),
        executor=executor(place.box, state.to, environment(env)),
        env=env,
        start=start,
        tells_session=tells_session,
    )


def carried_out(
    place: Here,
    folder: str,
    desk: Desk,
    *,
    json: bool,
    tells_session: bool = False,
    change: Callable[[ChainState], ChainState] = lambda state: state,
) -> int:
    """`change` is made to the state as whoever held the chain before has left it."""
    with held(folder), _ended_by_signals():
        state = msgspec.structs.replace(change(read_state(folder)), runner=this_process())
        chain = ChainRun(setting_of(place, state, tells_session=tells_session), folder, state, desk)
        try:
            state = chain.carry_out()
        except KeyboardInterrupt:
            chain.stop()
            _show_end(chain.state, json=json)
            return _INTERRUPTED
    return _closing(state, json=json)


def _show_end(state: ChainState, *, json: bool) -> None:
    if json:
        render.print_json(facts(state))
    else:
        print(f"\n{render.printable(report(state), lines=True)}", flush=True)


def _closing(state: ChainState, *, json: bool) -> int:
    _show_end(state, json=json)
    if state.status == "completed":
        return 0
    if state.status == "paused":
        raise errors.Conflict(state.error, hint=f"Go on then with: {next_words(state)}")
    code = "E003: " if state.status == "failed" else ""
    raise errors.MaestroError(f"{code}{state.error}", hint=f"Go on with: {next_words(state)}")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A request to end is heard as Ctrl-C is."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


# Going on


def _resume(arguments: Namespace) -> int:
    place = here(acts=not arguments.dry_run)
    found = find_chain(place.state, arguments.resume, unfinished=True)
    assert found.state is not None
    if not arguments.dry_run:
        require_own(place.trust, found.folder)
    if not can_go_on(found.state):
        print(report(found.state))
        print(f"\n{found.id} is over; there is nothing to go on with.")
        return 0
    _require_person(arguments)
    _point_out(found.state, place)
    ahead = [
        command.place
        for step in found.state.steps[found.state.current_step :]
        if (command := place.catalogue.commands.get(step.command)) is not None
    ]
    if _changed(arguments, place, found.state).review_by:
        ahead.append(_review_rule(place, acts=not arguments.dry_run))
    for source in dict.fromkeys(one for one in ahead if one != BUILT_IN):
        print(f"maestro: not built in: {source}", file=sys.stderr)
    if arguments.dry_run:
        print(render.printable(report(_changed(arguments, place, found.state)), lines=True))
        return 0

    def change(state: ChainState) -> ChainState:
        return _changed(arguments, place, resumed(state))

    if arguments.detached:
        with held(found.folder):
            state = change(read_state(found.folder))
            write_state(found.folder, state)
        return _detached(arguments, place, found.folder, state)
    return carried_out(place, found.folder, _desk(arguments), json=wants_json(arguments), change=change)


def _changed(arguments: Namespace, place: Here, state: ChainState) -> ChainState:
    """What a person says now counts for the rest of the chain."""
    to = place.box.find(arguments.to)[0] if arguments.to else state.to
    by, session = state.review_by, state.gemini_session_id
    if arguments.no_review:
        by = ""
    elif arguments.review_by:
        by = place.box.find(arguments.review_by)[0]
        session = session if by == state.review_by else None
    is_taken_over = ends_pause(
        state, other_tool=bool(arguments.to), other_reviewer=bool(arguments.review_by or arguments.no_review)
    )
    return msgspec.structs.replace(
        state,
        auto_mode=state.auto_mode or arguments.yes or arguments.detached,
        to=to,
        review_by=by,
        gemini_session_id=session,
        paused_until=None if is_taken_over else state.paused_until,
        min_score=state.min_score if arguments.min_score is None else arguments.min_score,
        budget_usd=state.budget_usd if arguments.budget is None else arguments.budget,
        timeout_s=state.timeout_s if arguments.timeout is None else arguments.timeout,
    )


def _point_out(state: ChainState, place: Here) -> None:
    if state.commands != commands_digest(state.steps, place.catalogue):
        print("maestro: the chain's commands say something else than when it began.", file=sys.stderr)
    if state.project != place.project:
        print("maestro: project.json has changed since the chain's last step.", file=sys.stderr)


def _detached(arguments: Namespace, place: Here, folder: str, state: ChainState) -> int:
    from maestro.cli.chain_detached import start_chain

    start_chain(folder, place.root)
    if wants_json(arguments):
        render.print_json({"session_id": state.session_id, "folder": folder})
    else:
        print(state.session_id)
        print(f"maestro: it runs by itself; see maestro chain status {state.session_id}", file=sys.stderr)
    return 0
