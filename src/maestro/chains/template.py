"""A step's prompt and arguments from templates. Pure.

Two kinds of placeholder. `{{COMMAND}}` stands in step.md, and all of them are filled at once. `{phase}` stands in the
arguments of a chain's step, in a command's prompt and in the paths of its artifacts. What is filled in is data: a value
with braces in it is never filled again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from maestro.chains import ALWAYS, FIELDS, PLACEHOLDERS, Command, Context, Field
from maestro.chains.result_block import BEGIN, END
from maestro.errors import InvalidInput

STEP_PLACEHOLDERS: Final = (
    "COMMAND", "ARGS", "STEP_N", "AUTO_DIRECTIVE", "CHAIN_NAME", "ANALYSIS_HINTS", "PROMPT", "CONTEXT",
    "RESULT_FORMAT",
)  # fmt: skip
AUTO_DIRECTIVE: Final = "Auto-confirm all prompts. No interactive questions."
NO_HINTS: Final = "None."

_IN_TEMPLATE: Final = re.compile(r"\{\{([A-Za-z_]*)\}\}")
_IN_TEXT: Final = re.compile(r"\{([a-z_]+)\}")

_REMEDIES: Final = {
    "description": "Say what is wanted, after the chain's name.",
    "phase": "Name it (“phase 2”), or begin the project's roadmap: `maestro chain run roadmap`.",
    "issue_id": "Name it, for example ISSUE-12 or #12.",
    "spec_session_id": "Run spec-generate first, or a chain that begins with it.",
    "scratch_dir": "Run a chain that begins with analyze, brainstorm or ui-design.",
    "work": "Name a phase, or run a chain that begins with analyze.",
}

_FIELD_FORMS: Final[Mapping[Field, str]] = {
    "STATUS": "SUCCESS, FAILURE or BLOCKED",
    "PHASE": "<number of the phase>",
    "ARTIFACTS": "\n- <path of a file that you wrote, from the project's root>\n- <another>",
    "SUMMARY": "<what is done, in one line of one to three sentences>",
    "VERIFICATION": "<the checks that you ran and what they said, in one line>",
    "VERDICT": "PASS, GAPS or FAIL",
    "ISSUE": "<ISSUE-…>",
    "SPEC": "<SPEC-…>",
    "SCRATCH": "<the scratch folder, from the project's root>",
}


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """step.md with every placeholder filled, in one pass."""
    names = _IN_TEMPLATE.findall(template)
    for name in names:
        if name not in STEP_PLACEHOLDERS:
            raise InvalidInput(
                f"The step template has the unknown placeholder {{{{{name}}}}}.",
                hint=f"There are: {', '.join(STEP_PLACEHOLDERS)}.",
            )
        if name not in values:
            raise InvalidInput(f"Nothing was given for {{{{{name}}}}} of the step template.")
    for name in values:
        if name not in STEP_PLACEHOLDERS:
            raise InvalidInput(
                f"The step template knows no placeholder {{{{{name}}}}}.",
                hint=f"There are: {', '.join(STEP_PLACEHOLDERS)}.",
            )
    return _IN_TEMPLATE.sub(lambda found: values[found[1]], template)


def placeholders_in(text: str) -> list[str]:
    """Names in single braces, in order. Braces that hold anything else (JSON, code) are none of ours."""
    return _IN_TEXT.findall(text)


def values_of(context: Context, state: str, work: str) -> dict[str, str]:
    """What the placeholders stand for. `work` is the folder of the artifacts; an empty value is one not known."""
    return {
        "description": context.description,
        "phase": "" if context.phase is None else str(context.phase),
        "issue_id": context.issue_id,
        "spec_session_id": context.spec_session_id,
        "scratch_dir": context.scratch_dir,
        "state": state,
        "work": work,
    }


def fill_text(text: str, values: Mapping[str, str]) -> str:
    """Arguments, a prompt or a path with every placeholder filled; one that is unknown or not filled is an error."""
    for name in placeholders_in(text):
        if name not in PLACEHOLDERS:
            raise InvalidInput(
                f"There is no placeholder {{{name}}}.", hint=f"There are: {', '.join(PLACEHOLDERS)}."
            )
        if not values.get(name):
            raise InvalidInput(f"{{{name}}} is needed here and not known.", hint=_REMEDIES.get(name, ""))
    return _IN_TEXT.sub(lambda found: values[found[1]], text)


def fill_args(args: str, values: Mapping[str, str], *, auto_flag: str = "") -> str:
    """A step's arguments. `auto_flag` is the command's, where nobody is there to be asked; it is added once."""
    quoted = {name: _inside_quotes(value) for name, value in values.items()}
    filled = fill_text(args, quoted).strip()
    if auto_flag and auto_flag not in args.split():
        filled = f"{filled} {auto_flag}".strip()
    return filled


def _inside_quotes(value: str) -> str:
    """One line that cannot close the quotes that it stands in."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def prompt_of(command: Command, formats: Mapping[str, str], values: Mapping[str, str]) -> str:
    """A command's prompt with its formats behind it."""
    parts = [command.prompt, *(f"### Format: {name}\n\n{formats[name]}" for name in command.formats)]
    return "\n\n".join(fill_text(part, values).strip() for part in parts)


def result_format(command: Command) -> str:
    """How the step has to end, for {{RESULT_FORMAT}}."""
    wanted = [name for name in FIELDS if name in ALWAYS or name in command.result]
    spared = [name for name in FIELDS if name not in wanted]
    lines = "\n".join(
        f"{name}:{form if form.startswith(chr(10)) else f' {form}'}"
        for name in wanted
        for form in [_FIELD_FORMS[name]]
    )
    others = f" Where they apply, you may add {', '.join(spared)} likewise." if spared else ""
    return (
        "End your last message with exactly one block of this form, each field on a line of its own, and nothing "
        f"after it:\n\n{BEGIN}\n{lines}\n{END}\n\n"
        "STATUS is SUCCESS only if all that this step asks for is done; FAILURE if it is not; BLOCKED if only a person "
        "can clear the way. ARTIFACTS: none, if you wrote no file. Paths start at the project's root, without a "
        f"leading slash.{others} A step without this block counts as failed."
    )
