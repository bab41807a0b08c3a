"""`fleet.yml` as facts, pure. Every fault is told at once, each with its file, its line and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from posixpath import isabs, join, normpath
from typing import Any, Final, get_args

import msgspec

from maestro.agents.launch import Mode, Role
from maestro.errors import InvalidInput
from maestro.fleet.yaml_text import Place, places, value_of
from maestro.redact import clean

DEFAULT_CLI: Final = "claude"
_LARGEST: Final = 1_000_000
_MOST_FAULTS: Final = 20
_LONGEST_LABEL: Final = 80
_FLEET_KEYS: Final = ("name", "panes")
_TEXTS: Final = (
    "label", "agent", "cli", "role", "project", "cwd", "task", "prompt", "model", "mode", "window",
)  # fmt: skip
_PANE_KEYS: Final = (*_TEXTS, "worktree", "network", "manages")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_AT_LINE: Final = re.compile(r" at line (\d+)(?: column \d+)?")
_TAB_INDENT: Final = re.compile(r"^ *\t", re.MULTILINE)
# A label is written into `pane_id|state|label|location`, and must not be taken for a pane's id.
_UNFIT_FOR_LABEL: Final = re.compile(r"\||^%\d+$")


class PanePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One pane as it shall be. `cwd` is absolute; `project` is too where it is a path."""

    label: str
    cli: str
    persona: str | None = None  # who of the roster the agent is; None: just the CLI
    role: Role = "worker"
    project: str | None = None
    cwd: str | None = None
    task: str | None = None
    prompt: str | None = None
    model: str | None = None
    mode: Mode = "default"
    worktree: bool = False
    network: bool = False  # open to its commands, where its CLI's own sandbox would close it
    manages: tuple[str, ...] = ()
    window: str | None = None
    line: int = 0


class FleetPlan(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    panes: tuple[PanePlan, ...]
    notes: tuple[str, ...] = ()  # what is no fault but may not be meant


def parse_fleet(text: str, *, source: str, folder: str, home: str, agents: Sequence[str]) -> FleetPlan:
    """The fleet that a file describes.

    `source` is how messages call the file, `folder` is where it lies: what relative paths are relative to.
    `agents` are the names of the CLIs that can be started.
    """
    return _Reading(text, source, folder, home, agents).fleet()


class _Reading:
    def __init__(self, text: str, source: str, folder: str, home: str, agents: Sequence[str]) -> None:
        self.text = text
        self.source = source
        self.folder = folder
        self.home = home
        self.agents = agents
        self.lines = Place(1)
        self.faults: list[str] = []
        self.notes: list[str] = []

    def fleet(self) -> FleetPlan:
        content = self._load()
        if not isinstance(content, dict):
            self._fault(
                1,
                "a fleet has `panes:`, a list with at least one pane. Start with: panes: [{label: Main, agent: claude}]",
            )
            raise self._invalid()
        self._check_keys(content, _FLEET_KEYS, (), "a fleet")
        name = self._name(content)
        raw = content.get("panes")
        if not isinstance(raw, list) or not raw:
            line = self.lines.at("panes").line
            self._fault(line, "`panes` must be a list with at least one pane: - label: Main")
            raise self._invalid()
        found = {index: pane for index, one in enumerate(raw) if (pane := self._pane(one, index)) is not None}
        panes = tuple(found.values())
        self._check_labels(panes)
        for index, pane in found.items():
            self._check_manages(pane, raw[index]["manages"] if pane.manages else [], index, panes)
        if self.faults:
            raise self._invalid()
        return FleetPlan(name=name, panes=panes, notes=tuple(self.notes))

    def _load(self) -> Any:
        if len(self.text) > _LARGEST:
            self._fault(1, f"a fleet's file has at most {_LARGEST:,} characters.")
            raise self._invalid()
        try:
            content = value_of(self.text)
        except ValueError as error:
            self._fault(*self._syntax_fault(str(error)))
            raise self._invalid() from error
        self.lines = places(self.text)
        return content

    def _syntax_fault(self, words: str) -> tuple[int, str]:
        if words.rpartition(": ")[2].startswith("duplicate entry"):
            for key, line in places(self.text).repeated():
                return line, f"“{key}” is there twice. Remove one."
        tab = _TAB_INDENT.search(self.text)
        if tab is not None and "cannot start any token" in words:
            line = self.text.count("\n", 0, tab.end()) + 1
            return line, "this line is indented with a tab. YAML takes spaces only."
        if "more than one document" in words:
            return 1, "a fleet's file is one document. Remove the second `---` and what follows it."
        said = _AT_LINE.search(words)
        return int(said[1]) if said else 1, f"this is not YAML: {clean(_AT_LINE.sub('', words))}."

    def _fault(self, line: int, words: str) -> None:
        self.faults.append(f"{self.source}:{line}: {words}")

    def _invalid(self) -> InvalidInput:
        left_out = len(self.faults) - _MOST_FAULTS
        more = [f"… and {left_out} more."] if left_out > 0 else []
        return InvalidInput("\n".join([*self.faults[:_MOST_FAULTS], *more]), faults=len(self.faults))

    def _name(self, content: Mapping[Any, Any]) -> str:
        name = content.get("name")
        if name is None:
            last = self.folder.rstrip("/").rpartition("/")[2]
            return re.sub(r"[^A-Za-z0-9_-]+", "-", last).strip("-_")[:40] or "fleet"
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name
        self._fault(
            self.lines.at("name").line,
            f"a fleet's name has 1 to 40 letters (A to Z), digits, - and _, not {_shown(name)}.",
        )
        return "fleet"

    def _pane(self, raw: Any, index: int) -> PanePlan | None:
        place = self.lines.at("panes", index)
        label = raw.get("label") if isinstance(raw, dict) else None
        if not isinstance(raw, dict):
            self._fault(place.line, f"a pane is written as `- label: Main`, not as {_shown(raw)}.")
            return None
        if not isinstance(label, str) or not label.strip():
            self._fault(place.at("label").line, f"pane {index + 1} has no label. Add a name: label: Main")
            return None
        whose = f"pane “{clean(label)}”"
        before = len(self.faults)
        if (
            len(label) > _LONGEST_LABEL
            or clean(label) != label
            or _UNFIT_FOR_LABEL.search(label)
            or "\n" in label
        ):
            words = f"a label has at most {_LONGEST_LABEL} characters, none of them | or a line end, and is no %NUMBER."
            self._fault(place.at("label").line, words)
        self._check_keys(raw, _PANE_KEYS, ("panes", index), whose)
        texts = {key: self._text(raw, key, place, whose) for key in _TEXTS}
        if raw.get("agent") is None and raw.get("cli") is None:
            self._fault(place.line, f"{whose} has no agent. Add the CLI that runs it: agent: {DEFAULT_CLI}")
        cli, persona = self._agent(texts, place, whose)
        manages = self._manages(raw, place, whose)
        role = self._one_of(texts["role"], get_args(Role), place.at("role").line, f"{whose} has the role")
        mode = self._one_of(texts["mode"], get_args(Mode), place.at("mode").line, f"{whose} has the mode")
        worktree, network = (self._flag(raw, key, place, whose) for key in ("worktree", "network"))
        if len(self.faults) > before:
            # The label still counts: others may manage this pane.
            return PanePlan(label=label, cli=cli, manages=manages, line=place.line)
        return PanePlan(
            label=label,
            cli=cli,
            persona=persona,
            role=role or ("coordinator" if manages else "worker"),
            project=self._project(texts["project"]),
            cwd=self._absolute(texts["cwd"]) if texts["cwd"] else None,
            task=texts["task"],
            prompt=texts["prompt"],
            model=texts["model"],
            mode=mode or "default",
            worktree=worktree,
            network=network,
            manages=manages,
            window=texts["window"],
            line=place.line,
        )

    def _flag(self, raw: Mapping[Any, Any], key: str, place: Place, whose: str) -> bool:
        value = raw.get(key)
        if value is not None and not isinstance(value, bool):
            self._fault(place.at(key).line, f"{whose}: `{key}` is true or false, not {_shown(value)}.")
        return value is True

    def _text(self, raw: Mapping[Any, Any], key: str, place: Place, whose: str) -> str | None:
        value = raw.get(key)
        if value is None or (isinstance(value, str) and value.strip() and "\0" not in value):
            return value
        what = "must not be empty" if isinstance(value, str) else f"must be text, not {_shown(value)}"
        advice = "Put it in quotes." if isinstance(value, bool | int | float) else "Mend it or leave it out."
        self._fault(place.at(key).line, f"{whose}: `{key}` {what}. {advice}")
        return None

    def _agent(self, texts: Mapping[str, str | None], place: Place, whose: str) -> tuple[str, str | None]:
        agent, cli = texts["agent"] or texts["cli"], texts["cli"]
        if cli is not None and cli not in self.agents:
            near = _did_you_mean(cli, self.agents)
            self._fault(
                place.at("cli").line, f"{whose}: there is no CLI “{clean(cli)}”.{near or self._known()}"
            )
            return DEFAULT_CLI, None
        if agent is None:
            return DEFAULT_CLI, None
        if agent not in self.agents:
            if near := _did_you_mean(agent, self.agents):
                self._note(
                    place.at("agent").line,
                    f"{whose}: “{clean(agent)}” is no CLI, so it is a persona, run by {cli or DEFAULT_CLI}.{near}",
                )
            return cli or DEFAULT_CLI, agent
        if cli is not None and cli != agent:
            self._fault(
                place.at("cli").line,
                f"{whose}: `agent` and `cli` name two CLIs, {agent} and {cli}. Leave one out.",
            )
        return agent, None

    def _known(self) -> str:
        return f" Known: {', '.join(self.agents)}."

    def _note(self, line: int, words: str) -> None:
        self.notes.append(f"{self.source}:{line}: {words}")

    def _manages(self, raw: Mapping[Any, Any], place: Place, whose: str) -> tuple[str, ...]:
        value = raw.get("manages")
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value):
            return tuple(dict.fromkeys(value))
        example = f"[{value}]" if isinstance(value, str) else '["Main", "Research"]'
        self._fault(
            place.at("manages").line, f"{whose}: `manages` is a list of labels: manages: {clean(example)}"
        )
        return ()

    def _one_of(self, value: str | None, known: tuple[Any, ...], line: int, sentence: str) -> Any:
        if value is None or value in known:
            return value
        near = _did_you_mean(value, known)
        self._fault(line, f"{sentence} “{clean(value)}”, which is none of {', '.join(known)}.{near}")
        return None

    def _project(self, project: str | None) -> str | None:
        if project is None or not (project.startswith(("~", ".")) or "/" in project):
            return project
        return self._absolute(project)

    def _absolute(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            path = join(self.home, path[2:])
        return normpath(path if isabs(path) else join(self.folder, path))

    def _check_keys(
        self, content: Mapping[Any, Any], known: tuple[str, ...], path: tuple[str | int, ...], whose: str
    ) -> None:
        for key in content:
            if key not in known:
                near = _did_you_mean(str(key), known) or f" Known: {', '.join(known)}."
                self._fault(
                    self.lines.at(*path, str(key)).line,
                    f"{whose} has the unknown key “{clean(str(key))}”.{near}",
                )

    def _check_labels(self, panes: Sequence[PanePlan]) -> None:
        first: dict[str, int] = {}
        for pane in panes:
            if pane.label in first:
                self._fault(
                    pane.line,
                    f"a pane on line {first[pane.label]} is called “{clean(pane.label)}” too. Give this one another label.",
                )
            first.setdefault(pane.label, pane.line)

    def _check_manages(
        self, pane: PanePlan, listed: Sequence[str], index: int, panes: Sequence[PanePlan]
    ) -> None:
        whose = f"pane “{clean(pane.label)}”"
        others = [other.label for other in panes if other is not pane]
        for managed in pane.manages:
            line = self.lines.at("panes", index, "manages", listed.index(managed)).line
            if managed == pane.label:
                self._fault(line, f"{whose} manages itself. Remove it from `manages`.")
            elif managed not in others:
                self._unknown_managed(line, whose, managed, others)

    def _unknown_managed(self, line: int, whose: str, managed: str, labels: Sequence[str]) -> None:
        near = _did_you_mean(managed, labels)
        if near:
            self._fault(line, f"{whose} manages “{clean(managed)}”, which is no pane.{near}")
        else:
            self._note(
                line,
                f"{whose} manages “{clean(managed)}”, which is no pane here: it waits for a session of that name.",
            )


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(word.casefold(), folded, n=1, cutoff=0.7)
    return f" Did you mean “{clean(folded[near[0]])}”?" if near else ""


def _shown(value: Any) -> str:
    """A value of the wrong type as its author would recognise it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    words = clean(str(value))
    return f"“{words if len(words) <= 40 else words[:39] + '…'}”"
