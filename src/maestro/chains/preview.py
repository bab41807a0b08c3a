"""What a chain would do, before it does it: for `--dry-run` and for the question whether to begin. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from maestro.chains import BUILT_IN, Catalogue, Chain, Context, Project, Route
from maestro.chains.context import work_folder
from maestro.chains.template import fill_args, placeholders_in, values_of


class Preview(NamedTuple):
    chain: Chain
    route: Route
    context: Context
    project: Project | None
    state: str  # the state folder as agents name it
    first: int
    auto: bool
    to: str  # what the person wants
    executor: str  # empty: none is installed
    review_by: str
    review_rule: str = BUILT_IN  # where it comes from


def facts(preview: Preview, catalogue: Catalogue) -> dict[str, Any]:
    return {
        "chain": preview.chain.name,
        "purpose": preview.chain.purpose,
        "from": preview.chain.place,
        "why": preview.route.why,
        "clarity": preview.route.clarity,
        "description": preview.context.description,
        "phase": preview.context.phase,
        "issue": preview.context.issue_id or None,
        "work": work_folder(preview.context, preview.project, preview.state) or None,
        "review_by": preview.review_by or None,
        "review_rule_from": preview.review_rule if preview.review_by else None,
        "steps": [_step(preview, catalogue, number) for number in range(1, len(preview.chain.steps) + 1)],
    }


def _step(preview: Preview, catalogue: Catalogue, number: int) -> dict[str, Any]:
    step = preview.chain.steps[number - 1]
    command = catalogue.commands[step.command]
    args, unknown = _args(preview, step.args, command.auto_flag if preview.auto else "")
    return {
        "number": number,
        "cmd": command.seed_name or command.name,
        "args": args,
        "unknown": unknown,
        "mode": command.mode,
        "tool": preview.to or command.tool or preview.executor or None,
        "skipped": number < preview.first,
        "purpose": command.purpose,
        "from": command.place,
    }


def _args(preview: Preview, args: str, auto_flag: str) -> tuple[str, list[str]]:
    """What is not known yet stands there by its name: a step before it may tell."""
    work = work_folder(preview.context, preview.project, preview.state)
    values = values_of(preview.context, preview.state, work)
    unknown = [name for name in placeholders_in(args) if not values.get(name)]
    return fill_args(
        args, {**values, **{name: f"{{{name}}}" for name in unknown}}, auto_flag=auto_flag
    ), unknown


def lines(preview: Preview, catalogue: Catalogue) -> list[str]:
    told = facts(preview, catalogue)
    head = [
        ("Chain", f"{told['chain']}: {told['purpose']}"),
        ("From", "" if told["from"] == BUILT_IN else f"{told['from']} (not built in)"),
        ("Wanted", " ".join(str(told["description"]).split())),
        ("Why", f"{told['why']}" if told["why"] else ""),
        ("Phase", "" if told["phase"] is None else str(told["phase"])),
        ("Issue", told["issue"] or ""),
        ("Work in", told["work"] or ""),
    ]
    found = [f"{name + ':':<9}{value}" for name, value in head if value]
    found += ["", "Steps:"]
    for step in told["steps"]:
        words = f"/{step['cmd']} {step['args']}".rstrip()
        by = "skipped" if step["skipped"] else f"{step['tool'] or 'no tool is installed'}, {step['mode']}"
        found += [f"  {step['number']}. {words}", f"     {step['purpose']} ({by})"]
        if step["from"] != BUILT_IN:
            found.append(f"     not built in: {step['from']}")
    open_ones = sorted({name for step in told["steps"] for name in step["unknown"]})
    if open_ones:
        found += ["", f"A step tells the ones after it: {', '.join(f'{{{name}}}' for name in open_ones)}."]
    found.append("")
    if len(told["steps"]) == 1:
        return [*found, "Review:  none, for it is one step"]
    if not told["review_by"]:
        return [*found, "Review:  none"]
    found.append(f"Review:  after each step, by {told['review_by']}")
    if preview.review_rule != BUILT_IN:
        found.append(f"         by a rule that is not built in: {preview.review_rule}")
    return found
