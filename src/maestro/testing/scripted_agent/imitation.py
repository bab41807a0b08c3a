"""What each imitated CLI cannot do, so that no script asks it to. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent import steps
from maestro.testing.scripted_agent.steps import Script, Step

NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
_GATES = {"claude": {"trust", "bypass", "key"}, "codex": {"trust", "hooks"}, "gemini": {"trust"}}


def check_imitation(script: Script) -> None:
    """Refuses a script with something that the imitated CLI has not got."""
    for step in _all_steps((*script.steps, *script.on_prompt)):
        lack = _lack(step, script.imitate)
        if lack:
            raise InvalidInput(f"{NAMES[script.imitate]} has no {lack}.")


def _all_steps(some: tuple[Step, ...]) -> Iterator[Step]:
    for step in some:
        yield step
        match step:
            case steps.AskSeveral(parts, answers):
                yield from parts
            case steps.Ask(answers=answers) | steps.Permission(answers=answers) | steps.Plan(answers=answers):
                pass
            case _:
                continue
        for branch in answers.values():
            yield from _all_steps(branch)


def _lack(step: Step, imitated: str) -> str:
    match step:
        case steps.Ask():
            has_preview = any(option.preview for option in step.options)
            if imitated == "codex" and step.multi:
                return "question with several answers"
            if imitated != "claude" and has_preview:
                return "options with a preview"
            if imitated != "gemini" and not step.options:
                return "question without options"
        case steps.Background() if imitated != "claude":
            return "background agents"
        case steps.OwnDialog(kind) if kind not in _GATES[imitated]:
            return f"dialog of the kind {kind}"
    return ""
