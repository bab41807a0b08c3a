"""What the agent's terminal shows, before it is drawn in the looks of a CLI. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from maestro.testing.scripted_agent.box import Box
from maestro.testing.scripted_agent.cells import RED, UNCOLOURED, cells, fit, wrap_all
from maestro.testing.scripted_agent.dialog import Asked, Choice, Consent, Dialog, Gate, PlanApproval, Several
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.keys import clean
from maestro.testing.scripted_agent.steps import Imitated, Option

BRAILLE = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MOST_RESULT_LINES = 3
MOST_BOX_LINES = 12
VERBS = (("Working", "Worked"), ("Brewing", "Brewed"), ("Cooking", "Cooked"), ("Churning", "Churned"))


@dataclass(frozen=True)
class Spinner:
    frame: int
    verb: str
    seconds: int
    note: str = ""


@dataclass(frozen=True)
class ScreenState:
    name: str
    cwd: str
    blocks: tuple[Block, ...] = ()
    spinner: Spinner | None = None
    queued: tuple[str, ...] = ()
    box: Box = field(default_factory=Box)
    placeholder: str = ""
    dialog: Dialog | None = None
    notice: str = ""
    imitate: Imitated = "claude"

    @property
    def folder(self) -> str:
        return self.cwd.rstrip("/").rpartition("/")[2] or "/"


@dataclass(frozen=True)
class Frame:
    """`lines` fill the screen from its top; `cursor` is (row, column) from 0, or none when nothing is typed."""

    lines: tuple[str, ...]
    cursor: tuple[int, int] | None = None
    is_cursor_shown: bool = False  # a CLI may draw a cursor of its own, and hide the terminal's
    title: str = ""


def duration(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}m {whole % 60}s" if whole >= 60 else f"{whole}s"


def block_lines(block: Block, marks: Mapping[str, str], width: int | None = None) -> list[str]:
    """One block as plain lines, wrapped to `width` if there is one."""
    is_coloured = width is not None  # on a terminal
    mark = marks[block.kind]
    hang = " " * cells(mark)
    room = None if width is None else max(1, width - len(hang))
    rows = wrap_all(clean(block.text), room)
    if block.kind == "result" and len(rows) > MOST_RESULT_LINES:
        rows = [*rows[:MOST_RESULT_LINES], f"… +{len(rows) - MOST_RESULT_LINES} lines"]
    lines = [f"{mark if index == 0 else hang}{row}" for index, row in enumerate(rows)]
    return [f"{RED}{line}{UNCOLOURED}" for line in lines] if is_coloured and block.kind == "error" else lines


def conversation(
    state: ScreenState, marks: Mapping[str, str], head: list[str], width: int, height: int
) -> list[str]:
    """The header and the blocks; of a long conversation only the blocks that can be seen."""
    lines = [*head] if len(state.blocks) <= height else []
    for block in state.blocks[-height:]:
        if block.kind == "result" and lines:
            lines.pop()
        lines += [*block_lines(block, marks, width), ""]
    return lines


def laid_out(
    above: list[str],
    below: list[str],
    cursor: tuple[int, int],
    size: tuple[int, int],
    *,
    shown: bool,
    title: str,
    at_bottom: bool = True,
) -> Frame:
    """`below` under `above`, mostly at the bottom of the screen; the cursor's row is counted from the last line."""
    width, height = size
    room = max(0, height - len(below))
    kept = above[-room:] if room else []
    if at_bottom:
        kept += [""] * (room - len(kept))
    lines = [*kept, *below][-height:]
    row = len(lines) - 1 - cursor[0]
    place = (row, min(cursor[1], width - 1)) if row >= 0 else None
    return Frame(tuple(fit(line, width) for line in lines), place, is_cursor_shown=shown, title=title)


def under_dialog(above: list[str], dialog: list[str], size: tuple[int, int], title: str) -> Frame:
    width, height = size
    return Frame(tuple(fit(line, width) for line in [*above, *dialog][-height:]), title=title)


def dialog_text(asked: Asked) -> list[str]:
    """A question as plain lines, for an agent without a terminal."""
    match asked:
        case Consent(command, _, options):
            return ["Bash command", f"  {command}", "Do you want to proceed?", *_numbered(options)]
        case Several(parts):
            return [line for part in parts for line in dialog_text(part)]
        case Choice(question, header, options):
            return [f"☐ {header}", question, *_numbered(options)]
        case PlanApproval(plan):
            return ["Ready to code?", plan]
        case Gate(kind):
            return [f"{kind}: yes or no?"]


def _numbered(options: tuple[Option, ...]) -> list[str]:
    return [
        f"  {number}. {option.label}" + (f": {option.description}" if option.description else "")
        for number, option in enumerate(options, start=1)
    ]
