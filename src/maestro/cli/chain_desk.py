"""Who watches a chain run: a person at a terminal, a pipe, or nobody. Nobody is never asked anything."""

from __future__ import annotations

import sys
import time

from maestro.cli import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from maestro.chains.moves import FailureChoice, GateChoice
    from maestro.chains.state import ChainState

    Choice = TypeVar("Choice", bound=str)

_MARKS = {"completed": ("✓", "green"), "failed": ("✗", "red")}
_WIDTH = 100


class SilentDesk:
    """For --json and for chains in the background."""

    def began(self, state: ChainState, index: int, *, review: bool, attached: bool) -> None: ...
    def said(self, words: str) -> None: ...
    def waits(self, state: ChainState) -> None: ...
    def ended(self, state: ChainState, index: int, *, review: bool) -> None: ...

    def ask_failure(self, state: ChainState, index: int) -> FailureChoice:  # noqa: ARG002 - the port's
        return "abort"

    def ask_gate(self, state: ChainState, index: int, why: str) -> GateChoice:  # noqa: ARG002 - the port's
        return "stop"


class TextDesk(SilentDesk):
    """Lines as the chain goes; on a terminal also what the running step said last, and the questions."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._label = ""

    def began(self, state: ChainState, index: int, *, review: bool, attached: bool) -> None:
        step = state.steps[index]
        self._began = time.monotonic()
        if review:
            self._label = f"      review by {state.review_by} …"
        else:
            attempt = f", attempt {len(step.attempts)}" if len(step.attempts) > 1 else ""
            still = ", still running" if attached else ""
            self._label = (
                f"[{step.number}/{len(state.steps)}] {step.cmd} ({step.tool or 'tool'}{attempt}{still}) …"
            )
        if render.on_terminal():
            self._over(self._label)
        elif not review:
            print(self._label, flush=True)

    def said(self, words: str) -> None:
        if render.on_terminal():
            seconds = int(time.monotonic() - self._began)
            plain = render.printable(words)
            self._over(f"{self._label} {seconds} s  {plain}"[:_WIDTH])

    def waits(self, state: ChainState) -> None:
        if render.on_terminal():
            self._over("")
        print(f"{state.error} It waits; Ctrl-C ends that, and later: maestro chain run -c", flush=True)

    def ended(self, state: ChainState, index: int, *, review: bool) -> None:
        from maestro.chains.report import quality_words, spent_words, step_words

        step = state.steps[index]
        if render.on_terminal():
            self._over("")
        if review:
            words = quality_words(step).strip(" ()") or "unreviewed"
            print(f"      {words} · {spent_words(step.review_spent)}", flush=True)
            why = state.step_analyses[-1].why if step.review == "unreviewed" else ""
            told = why or (step.analysis.assessment if step.analysis else "")
        else:
            mark, style = _MARKS.get(step.status, (" ", "dim"))
            head = f"{mark} {step.number}. {step.cmd}"
            print(f"{render.ansi(head, style)} — {step_words(step)} · {spent_words(step.spent)}", flush=True)
            told = step.failure or step.summary
        if told:
            print(f"      {render.printable(' '.join(told.split()))}", flush=True)

    def ask_failure(self, state: ChainState, index: int) -> FailureChoice:
        step = state.steps[index]
        return _chosen(
            f"Step {step.number} ({step.cmd}) failed.",
            [("retry", "Retry"), ("skip", "Skip: go on without it"), ("abort", "Abort")],
            "abort",
        )

    def ask_gate(self, state: ChainState, index: int, why: str) -> GateChoice:
        step = state.steps[index]
        if step.analysis is not None:
            for issue in step.analysis.issues[:10]:
                place = f" ({issue.location})" if issue.location else ""
                print(f"      {issue.severity}: {render.printable(issue.description + place)}")
        return _chosen(
            f"Step {step.number} ({step.cmd}): {why}.",
            [("redo", "Redo it with the review's hints"), ("go_on", "Go on"), ("stop", "Stop")],
            "stop",
        )

    def _over(self, line: str) -> None:
        """Write over the line that is being worked on."""
        sys.stdout.write(f"\r\x1b[2K{line}")
        sys.stdout.flush()


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _chosen(question: str, choices: list[tuple[Choice, str]], otherwise: Choice) -> Choice:
    """One of the choices, by its number or its first letters; `otherwise` where nobody answers any more."""
    if not can_ask():
        return otherwise
    print(question)
    for number, (_, words) in enumerate(choices, 1):
        print(f"  {number}  {words}")
    while True:
        try:
            said = input("> ").strip().lower()
        except EOFError:
            return otherwise
        for number, (choice, words) in enumerate(choices, 1):
            if said and (said == str(number) or words.lower().startswith(said)):
                return choice
        print(f"Type a number from 1 to {len(choices)}.")
