"""From what a person asked to a batch that can begin: everything that can be wrong is said before anything is written."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from maestro import confined
from maestro.agents.headless import Headless, RunMode
from maestro.dispatch import places
from maestro.dispatch.batch import BATCH_FILE, PROMPTS, Batch, BatchAgent, Isolation
from maestro.dispatch.budget import Caps
from maestro.dispatch.delegate import adapter, environment, toolbox, trust_of
from maestro.dispatch.history import read_batch
from maestro.dispatch.prompts import Named, check_agents, check_prompt, named, normalized, prompt_files
from maestro.dispatch.retry import RetryPolicy
from maestro.dispatch.roster import RosterAgent, load_roster
from maestro.dispatch.run import check
from maestro.dispatch.runs import COMMAND, Run, checked_seconds
from maestro.dispatch.settings import TIMEOUT, Settings, read_settings
from maestro.dispatch.tools import Tool, Toolbox
from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.home import locate
from maestro.ids import new_id
from maestro.worktrees.worktree import require_commit

DEFAULT_TOOL = "gemini"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for."""

    folder: str
    cd: str = ""
    to: tuple[str, ...] = ()  # TOOL, or NAME=TOOL
    mode: RunMode | None = None
    model: str = ""
    timeout_s: float | None = None
    concurrent: int | None = None
    stagger_s: float | None = None
    isolate: Isolation | None = None
    apply: bool = False
    network: bool = False
    resume: bool = False
    restart: bool = False
    failed_too: bool = False
    any_agent: bool = False
    policy: RetryPolicy = RetryPolicy()
    caps: Caps = Caps()


class Plan(NamedTuple):
    """A batch that was checked and can begin."""

    order: Order
    folder: str
    batch: Batch
    earlier: Batch | None  # with `order.resume`, the one that goes on
    prompts: Mapping[str, bytes]  # by name
    settings: Settings
    box: Toolbox
    env: Mapping[str, str]

    def adapter(self, run: Run) -> Headless:
        return adapter(run.tool, self.box.tools[run.tool])

    def tool(self, name: str) -> Tool:
        return self.box.tools[name]

    def seconds(self, name: str) -> float:
        """How long an agent of this tool may take: as the batch says, else as the tool's own file does."""
        is_said = self.order.timeout_s is not None or self.env.get(TIMEOUT)
        return self.settings.timeout_s if is_said else self.tool(name).timeout or self.settings.timeout_s


def dispatch_folder(given: str) -> str:
    """The folder, if there is a batch to be made of it or to go on with."""
    folder = os.path.realpath(given)
    prompts = os.path.join(folder, PROMPTS)
    if not os.path.isdir(prompts) and not confined.exists(os.path.join(folder, BATCH_FILE)):
        raise NotFound(
            f"No prompts directory found at {prompts}.", hint="Write a prompt per agent there: AGENT.txt"
        )
    return folder


def plan(order: Order, env: Mapping[str, str], now: int) -> Plan:
    if order.resume and order.restart:
        raise InvalidInput("--resume and --restart exclude each other.")
    folder = dispatch_folder(order.folder)
    settings = _settings(order, env)
    earlier = read_batch(folder)
    if earlier is not None and earlier.ended_at is None and not (order.resume or order.restart):
        raise Conflict(
            f"The last batch in {folder} did not come to its end.",
            hint="--resume goes on with it; --restart begins anew and keeps what there is in earlier/.",
        )
    goes_on = earlier if order.resume else None
    root = os.path.realpath(order.cd or os.getcwd())
    if goes_on and goes_on.root != root:
        root = _earlier_root(goes_on, folder, order)
    if not os.path.isdir(root):
        raise NotFound(f"There is no folder {root}.", hint="Give another one by --cd.")
    mode, isolate = _mode(order, goes_on), _isolation(order, goes_on)
    if order.apply and isolate != "worktree":
        raise InvalidInput("--apply merges what --isolate worktree kept apart.", hint="Give both.")
    if isolate == "worktree":
        require_commit(root)
    agents_folders = [
        os.path.realpath(locate(env).path("agents")),
        os.path.join(places.state_folder(places.project_root(root), env), "agents"),
    ]
    roster = load_roster(trust_of(root, env), agents_folders)
    files, texts = _read_prompts(folder, goes_on)
    taken = {agent.prompt: agent.name for agent in goes_on.agents} if goes_on else {}
    prompts = named(files, roster, taken=taken)
    if not order.any_agent:
        check_agents(prompts, roster)
    for prompt in prompts:
        check_prompt(prompt.name, texts[prompt.file])
    box = toolbox(root, env)
    agents = _agents(prompts, roster, order, settings, _Tools(box, env.get("PATH")), goes_on)
    batch = Batch(
        id=goes_on.id if goes_on else new_id("batch", now),
        agents=agents,
        root=root,
        mode=mode,
        isolate=isolate,
        started_at=goes_on.started_at if goes_on else now,
    )
    made = Plan(
        order,
        folder,
        batch,
        goes_on,
        {prompt.name: texts[prompt.file] for prompt in prompts},
        settings,
        box,
        environment(env),
    )
    _check_tools(made)
    return made


def _earlier_root(goes_on: Batch, folder: str, order: Order) -> str:
    """Returns where the batch works that goes on. Its record could name any folder: one of its own project that holds it
    will do."""
    root, project = os.path.realpath(goes_on.root), places.project_root(folder)
    if not order.cd and folder.startswith(root + os.sep) and f"{root}{os.sep}".startswith(project + os.sep):
        return root
    raise InvalidInput(
        f"The batch was begun in {goes_on.root}.", hint=f"Go on there: --cd {goes_on.root}, or --restart."
    )


def _settings(order: Order, env: Mapping[str, str]) -> Settings:
    """What the command says counts more than the variables."""
    found = read_settings(env)
    return msgspec.structs.replace(
        found,
        model=order.model or found.model,
        timeout_s=found.timeout_s if order.timeout_s is None else checked_seconds(order.timeout_s),
        concurrent=found.concurrent if order.concurrent is None else order.concurrent,
        stagger_s=found.stagger_s if order.stagger_s is None else order.stagger_s,
    )


def _mode(order: Order, goes_on: Batch | None) -> RunMode:
    if goes_on is None:
        return order.mode or "write"
    if order.mode not in {None, goes_on.mode}:
        raise InvalidInput(f"The batch was begun with --mode {goes_on.mode}.", hint="Go on with that.")
    return goes_on.mode


def _isolation(order: Order, goes_on: Batch | None) -> Isolation:
    if goes_on is None:
        return order.isolate or ""
    if order.isolate not in {None, goes_on.isolate}:
        raise InvalidInput(
            "The batch was begun without --isolate worktree.", hint="Go on as it began, or --restart."
        )
    return goes_on.isolate


def _read_prompts(folder: str, goes_on: Batch | None) -> tuple[list[str], dict[str, bytes]]:
    place = os.path.join(folder, PROMPTS)
    try:
        opened = confined.folder(place)
    except FileNotFoundError as error:
        if goes_on is None:
            raise NotFound(
                f"No prompts directory found at {place}.", hint="Write a prompt per agent there: AGENT.txt"
            ) from error
        return [], {}  # they were cleaned up when every agent had finished
    with opened:
        entries = [name for name in opened.names() if not stat.S_ISDIR(opened.status(name).st_mode)]
        files = prompt_files(entries, place) if entries or goes_on is None else []
        texts = {}
        for file in files:
            try:
                texts[file] = opened.read(file)
            except OSError as error:
                raise InvalidInput(f"Prompt file {file} cannot be read: {error.strerror}.") from error
    return files, texts


def _agents(
    prompts: Sequence[Named],
    roster: Mapping[str, RosterAgent],
    order: Order,
    settings: Settings,
    tools: _Tools,
    goes_on: Batch | None,
) -> tuple[BatchAgent, ...]:
    """Every agent with its tool and model: as the command says, else as it began, else as the roster says."""
    for_all, for_one = _tools_asked(order.to, {p.name for p in prompts} | {p.agent for p in prompts})
    began = {agent.name: agent for agent in goes_on.agents} if goes_on else {}
    found = {}
    for prompt in prompts:
        persona = roster.get(normalized(prompt.agent), RosterAgent(prompt.agent))
        before = began.get(prompt.name)
        said = for_one.get(prompt.name) or for_one.get(prompt.agent) or for_all
        wanted = said or (before.tool if before else "") or persona.cli or tools.box.default or DEFAULT_TOOL
        tool, described = tools.installed(wanted)
        own_model = persona.model if persona.model != "inherit" and persona.cli in {"", tool} else ""
        model = settings.model or (before.model if before and before.tool == tool else "") or own_model
        found[prompt.name] = BatchAgent(
            name=prompt.name,
            agent=prompt.agent,
            prompt=prompt.file,
            tool=tool,
            model=model or described.model,
        )
    gone = {name: agent for name, agent in began.items() if name not in found}
    return tuple((gone | found)[name] for name in sorted(gone | found))


class _Tools(NamedTuple):
    box: Toolbox
    path: str | None

    def installed(self, wanted: str) -> tuple[str, Tool]:
        """The tool or, where it is not installed, the first of its fallbacks that is."""
        candidates = self.box.candidates(wanted)
        there = (one for one in candidates if shutil.which(adapter(*one).program, path=self.path))
        return next(there, candidates[0])


def _tools_asked(words: Sequence[str], known: set[str]) -> tuple[str, dict[str, str]]:
    for_all, for_one = "", {}
    for word in words:
        name, equals, tool = word.partition("=")
        if not equals:
            for_all = name
        elif name not in known:
            raise NotFound(
                f"No prompt is for “{name}” (--to {word}).", hint=f"There are: {', '.join(sorted(known))}."
            )
        else:
            for_one[name] = tool
    return for_all, for_one


def _check_tools(made: Plan) -> None:
    """Whether every tool that is needed is there and can do what is asked."""
    for agent in {agent.tool: agent for agent in made.batch.agents if agent.name in made.prompts}.values():
        run = Run(
            id="check",
            tool=agent.tool,
            agent=made.tool(agent.tool).agent or COMMAND,
            mode=made.batch.mode,
            cwd=made.batch.root,
            project=places.project_root(made.batch.root),
            timeout_s=made.seconds(agent.tool),
            started_at=0,
            model=agent.model,
        )
        check(run, os.path.join(made.folder, "check"), made.adapter(run), made.env)
