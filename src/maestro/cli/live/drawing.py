"""Pure: what the live view shows, as text with styles. Nothing that an agent wrote is read as markup.

Every state has a word and a mark: colours only help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from maestro.coordinate.overview import EscalationView, OptionView, QuestionView, Row
from maestro.redact import clean, fold

STYLES: Final[dict[str, str]] = {
    "working": "cyan",
    "waiting": "bold yellow",
    "stuck": "bold magenta",
    "error": "bold red",
    "idle": "blue",
    "done": "green",
    "ended": "dim",
    "unknown": "dim",
}
_NEEDS: Final = "!"
_UNSEEN: Final = "*"
_CURSOR: Final = "▸"
_DETAIL_LINES: Final = 4  # of a command or plan, before its options
_SEPARATOR: Final = " · "

NOBODY: Final = (
    "Nobody works here yet.\n\n"
    "maestro session spawn AGENT --message TEXT   starts one agent\n"
    "maestro up                                   starts the fleet of a fleet.yml\n"
    "maestro session discover                     shows agents that you started yourself"
)
HELP: Final = (
    ("↑ ↓  k j", "go to another session"),
    ("Enter", "go to its pane; detach (prefix, then d) to come back"),
    ("1 … 9", "answer its question with this option"),
    ("a", "answer: a number, several (1, 3), or words"),
    ("t", "answer in words"),
    ("p", "prompt it, and see what becomes of it"),
    ("e", "what it does by each source, and why we say so"),
    ("d", "dismiss its escalation"),
    ("i", "only what is in the inbox, or all"),
    ("PgUp PgDn", "scroll the details"),
    ("r", "look again now; starts the daemon"),
    ("q", "leave; everything goes on"),
    ("", ""),
    ("!", "needs you"),
    ("*", "done, and nobody has looked"),
)
KEYS: Final = (
    ("⏎", "go"),
    ("1-9", "answer"),
    ("t", "words"),
    ("p", "prompt"),
    ("e", "why"),
    ("i", "inbox"),
    ("d", "dismiss"),
    ("?", "help"),
    ("q", "quit"),
)


def age(milliseconds: int) -> str:
    """In few different words, so that a screen at rest is not drawn again and again."""
    seconds = max(0, milliseconds // 1000)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds - seconds % 5 if seconds >= 10 else seconds}s"


def header(headline: str, fleets: Sequence[str], width: int, *, inbox_only: bool) -> Text:
    left = Text.assemble((" maestro  ", "bold"), headline)
    left.highlight_words(["needs you", "need you"], "bold yellow")
    if inbox_only:
        left.append("  inbox only", "bold yellow")
    right = (
        Text(f"{'fleets' if len(fleets) > 1 else 'fleet'} {', '.join(fleets)} ", "dim") if fleets else Text()
    )
    room = width - left.cell_len - right.cell_len
    return _fit(left.append(" " * room).append_text(right) if room > 0 else left, width)


def footer(width: int) -> Text:
    line = Text()
    for key, does in KEYS:
        line.append(" ").append(key, "bold").append(f" {does} ", "dim")
    return _fit(line, width)


def row_lines(row: Row, now: int, width: int, *, is_selected: bool) -> tuple[Text, Text]:
    """A session in two lines."""
    mark = _NEEDS if row.needs_you > 1 else _UNSEEN if row.needs_you else " "
    style = STYLES[row.status]
    right = Text.assemble(
        (f" {row.agent[:8]:<8}", "dim"), (f" {row.status:<8}", style), (f"{age(now - row.since):>4} ", "dim")
    )
    name = _fit(Text(fold(row.name), "bold" if row.needs_you else ""), max(4, width - 3 - right.cell_len))
    name.pad_right(max(0, width - 3 - right.cell_len - name.cell_len))
    first = Text.assemble((_CURSOR if is_selected else " ", "bold"), (mark, style), " ", name, right)
    asks = row.question is not None or row.escalation is not None
    second = _fit(Text("   " + fold(row.line), "" if asks else "dim"), width)
    if is_selected:
        first.pad_right(max(0, width - first.cell_len))
        second.pad_right(max(0, width - second.cell_len))
        for line in (first, second):
            line.stylize("reverse")
    return _fit(first, width), second


def details(row: Row, now: int, width: int) -> Text:
    shown = Text()
    shown.append(fold(row.name), "bold").append(_SEPARATOR).append(row.status, STYLES[row.status])
    shown.append(f" {age(now - row.since)}")
    facts = [row.agent, row.role, "" if row.pane is None else row.pane.location, row.task]
    shown.append("".join(_SEPARATOR + fold(fact) for fact in facts if fact), "dim")
    if row.pane is not None and row.pane.engaged:
        shown.append("\na coordinator is at it", "magenta")
    if row.evidence and row.question is None:
        shown.append(f"\n{fold(row.evidence)}", "dim")
    if row.escalation is not None:
        _show_escalation(shown, row.escalation, has_question=row.question is not None)
    if row.question is not None:
        _show_question(shown, row.question)
    preamble = "" if row.question is None else fold(row.question.preamble)
    lines = [line for line in row.lines if fold(line.text) != preamble]
    for place, line in enumerate(lines, 1):
        when = f"{age(now - line.at):>4}  " if line.at is not None else "      "
        said = Text(fold(line.text), {"user": "cyan", "system": "red"}.get(line.source, ""))
        # What it said last whole; prompts and what was before on a line each.
        is_latest = place == len(lines) and line.source != "user"
        shown.append("\n").append(when, "dim").append_text(
            said if is_latest else _fit(said, width - len(when))
        )
    return shown


def _show_escalation(shown: Text, escalation: EscalationView, *, has_question: bool) -> None:
    shown.append("\nescalated ", "bold yellow").append(fold(escalation.reason))
    if escalation.categories:
        shown.append(f" ({', '.join(escalation.categories)})")
    if escalation.proposed:
        shown.append("\nit would have answered ", "dim").append(fold(escalation.proposed))
    if not has_question and escalation.text and fold(escalation.text) != fold(escalation.reason):
        shown.append("\n").append(escalation.text)


def _show_question(shown: Text, question: QuestionView) -> None:
    if question.preamble:
        shown.append("\n").append(fold(question.preamble), "dim")
    before, after = _cut(question.detail)
    for place, line in enumerate(before):
        shown.append("\n")
        shown.append(f"{question.tool}: " if question.tool and not place else "  ", "dim").append(
            line, "bold"
        )
    if after:
        shown.append(f"\n  … {len(after)} more lines below", "yellow")
    is_all = _asks_always(question)
    for part in question.parts:
        shown.append("\n").append(part.text, "bold")
        for option in part.options:
            _show_option(shown, option, is_marked=bool(option.confirm) and not is_all)
    for line in after:
        shown.append("\n  ").append(line)
    shown.append("\n").append(_how(question), "dim")


def _asks_always(question: QuestionView) -> bool:
    return all(option.confirm for part in question.parts for option in part.options)


def _show_option(shown: Text, option: OptionView, *, is_marked: bool) -> None:
    shown.append(f"\n {option.number:>2} ", "bold cyan").append(fold(option.label))
    if option.description:
        shown.append(f"  {fold(option.description)}", "dim")
    if is_marked:
        shown.append("  y/N", "yellow")


def _how(question: QuestionView) -> str:
    if question.takes == "words":
        return "t answers in words"
    if question.takes == "several":
        return "a answers each, between semicolons: Choose 2; Choose 1, 3; words"
    if question.takes == "many":
        return "a answers: 1, 3 · t in words"
    return f"its number answers{', after y' if _asks_always(question) else ''} · t in words"


def _cut(detail: str) -> tuple[list[str], list[str]]:
    lines = detail.splitlines()
    if len(lines) <= _DETAIL_LINES + 1:
        return lines, []
    return lines[:_DETAIL_LINES], lines[_DETAIL_LINES:]


def explanation(told: Mapping[str, Any], now: int) -> Text:
    """What `session explain` told."""
    shown = Text.assemble((str(told["status"]), "bold"), f"  {_word(told['rule'])}")
    for one in told["evidence"]:
        when = f"  {age(now - one['at'])} ago" if one["at"] else ""
        shown.append(f"\n{_word(one['source']):<11}", "bold").append(_word(one["status"]))
        shown.append(f"{when}  by {_word(one['rule'])}\n", "dim").append(f"  {_word(one['says'])}")
    for one in told["disagreements"]:
        shown.append("\ndisagrees  ", "yellow").append(_word(one["why"]))
    for one in told["degraded"]:
        shown.append("\nnote       ", "dim").append(_word(one))
    if told["draft"]:
        shown.append("\nin its box ", "dim").append(_word(told["draft"]))
    return shown


def help_text() -> Text:
    shown = Text()
    for keys, does in HELP:
        shown.append(f"{keys:<11}", "bold").append(f"{does}\n")
    shown.rstrip()
    return shown


def _word(value: object) -> str:
    return fold(clean(str(value)))


def _fit(text: Text, width: int) -> Text:
    text.truncate(max(1, width), overflow="ellipsis")
    return text
