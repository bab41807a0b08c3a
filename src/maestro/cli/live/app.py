"""The live view: who needs you, what they ask, and a way to answer. It has no rule of its own: the daemon tells all."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static

from maestro.cli.live import drawing, errands
from maestro.cli.live.bar import Bar
from maestro.cli.live.errands import NOTHING, Receipt, Target, target_of
from maestro.cli.live.feed import Feed
from maestro.cli.live.jump import way_to
from maestro.cli.live.roll import SessionRoll
from maestro.cli.live.sheet import Sheet
from maestro.cli.project import path_part
from maestro.coordinate.overview import Overview, QuestionView, Row
from maestro.errors import MaestroError
from maestro.redact import clean, fold
from maestro.server.client import Daemon

_BESIDE: Final = 110  # columns from which the details stand beside the list
_LOOKED_AT: Final = 0.7  # seconds that a person needs to see what a key would answer
_NUMBERS: Final = re.compile(r"\s*(\d{1,3}(?:[\s,]+\d{1,3})*)\s*")
_AGES_SECONDS: Final = 5.0
_SHOWN_SECONDS: Final = 8.0  # so long it is shown that something went well
_TONES: Final = {"going": "", "good": "green", "bad": "bold red"}


class Live(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)]
    CSS = """
    Screen { background: ansi_default; color: ansi_default; layout: vertical; }
    #header, #footer { height: 1; }
    #body { height: 1fr; layout: vertical; }
    #sessions { height: auto; max-height: 50%; overflow-x: hidden; scrollbar-size-vertical: 1; }
    #details { height: 1fr; border-top: solid ansi_default; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    #body.beside { layout: horizontal; }
    #body.beside #sessions { width: 52; height: 1fr; max-height: 100%; }
    #body.beside #details { height: 1fr; width: 1fr; border-top: none; border-left: solid ansi_default; }
    #details Static { height: auto; }
    #receipt { height: auto; max-height: 2; padding: 0 1; }
    #bar { height: auto; padding: 0 1; border-top: solid ansi_default; }
    #bar-label { height: auto; max-height: 4; }
    #bar-input { background: ansi_default; color: ansi_default; border: none; height: 1; padding: 0; }
    #bar-input > .input--placeholder { color: ansi_default; text-style: dim; }
    """

    class Told(Message):
        def __init__(self, overview: Overview) -> None:
            super().__init__()
            self.overview = overview

    class Happened(Message):
        """Something to show in the line above the keys."""

        def __init__(self, receipt: Receipt) -> None:
            super().__init__()
            self.receipt = receipt

    class Away(Happened):
        """The daemon cannot be asked."""

    class Explained(Message):
        def __init__(self, name: str, content: Text) -> None:
            super().__init__()
            self.name = name
            self.content = content

    def __init__(self, daemon: Daemon, *, looked_at: float = _LOOKED_AT) -> None:
        super().__init__(ansi_color=True)
        self._daemon = daemon
        self._looked_at = looked_at
        self._feed = Feed(
            daemon,
            lambda overview: self.post_message(self.Told(overview)),
            lambda error: self.post_message(self.Away(errands.absence(error))),
        )
        self._overview: Overview | None = None
        self._is_inbox_only = False
        self._is_away = False
        self._receipt = NOTHING
        self._shown: dict[str, Text] = {}
        self._ahead = 0  # of our clock: milliseconds by which the daemon's is
        self._asked: tuple[str, int] | None = None  # the question that the details show, and since when
        self._asked_at = 0.0

    # What is on the screen.

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        with Container(id="body"):
            yield SessionRoll(id="sessions")
            with VerticalScroll(id="details", can_focus=False):
                yield Static(Text("Looking …", "dim"), id="detail")
        yield Static(id="receipt")
        yield Bar(id="bar")
        yield Static(id="footer")

    def on_mount(self) -> None:
        self.query_one("#receipt").display = False
        self.query_one(SessionRoll).focus()
        self.set_interval(_AGES_SECONDS, self._draw)
        self._feed.start()

    def on_unmount(self) -> None:
        self._feed.stop()

    def on_resize(self, event: Resize) -> None:
        self.query_one("#body").set_class(event.size.width >= _BESIDE, "beside")
        self._draw()

    def on_live_told(self, message: Live.Told) -> None:
        self._overview = message.overview
        self._ahead = message.overview.now - _now()
        if self._is_away:
            self._is_away = False
            self._say(NOTHING)
        self._draw()

    def on_live_away(self, message: Live.Away) -> None:
        self._is_away = True
        self._say(message.receipt)

    def on_live_happened(self, message: Live.Happened) -> None:
        self._say(message.receipt)

    def on_live_explained(self, message: Live.Explained) -> None:
        self.push_screen(Sheet(message.name, message.content))

    def on_session_roll_selected(self) -> None:
        self.query_one("#details", VerticalScroll).scroll_home(animate=False)
        self._draw_details()

    @property
    def _is_closing(self) -> bool:
        """What comes when its places are gone is no longer shown."""
        return not self.query("#receipt")

    def _draw(self) -> None:
        if self._is_closing:
            return
        found, width = self._overview, self.size.width
        self._show("#footer", drawing.footer(width))
        if found is None:
            return
        fleets = [fleet.name for fleet in found.fleets if fleet.running]
        line = drawing.header(found.headline, fleets, width, inbox_only=self._is_inbox_only)
        self._show("#header", line)
        rows = [row for row in found.rows if row.escalation is not None or not self._is_inbox_only]
        self.query_one(SessionRoll).show(rows, self._clock())
        self._draw_details()

    def _draw_details(self) -> None:
        row = self._selected()
        if row is None:
            empty = "The inbox is empty." if self._is_inbox_only else drawing.NOBODY
            self._show("#detail", Text(empty, "dim"))
        else:
            width = self.query_one("#detail").size.width
            self._show("#detail", drawing.details(row, self._clock(), width))
        question = None if row is None or row.question is None else (row.question.id, row.question.version)
        if question != self._asked:
            self._asked, self._asked_at = question, time.monotonic()

    def _show(self, place: str, content: Text) -> None:
        """Only what has changed is sent to the terminal, which may be far away."""
        if self._shown.get(place) != content:
            self._shown[place] = content
            self.query_one(place, Static).update(content)

    def _say(self, receipt: Receipt) -> None:
        if self._is_closing:
            return
        line = self.query_one("#receipt", Static)
        line.update(Text(receipt.text, _TONES[receipt.tone]))
        line.display = bool(receipt.text)
        self._receipt = receipt
        if receipt.tone == "good":
            self.set_timer(_SHOWN_SECONDS, lambda: self._forget(receipt))

    def _forget(self, receipt: Receipt) -> None:
        if self._receipt is receipt:
            self._say(NOTHING)

    def _selected(self) -> Row | None:
        return self.query_one(SessionRoll).selected

    def _clock(self) -> int:
        return _now() + self._ahead

    # Answering.

    def action_choose(self, number: int) -> None:
        row = self._selected()
        question = self._question_of(row)
        if row is None or question is None:
            return
        if question.takes in {"many", "several"}:
            self._ask_answer(row, f"{number}" if question.takes == "many" else "")
            return
        option = next((one for one in question.parts[0].options if one.number == number), None)
        if option is None:
            self._say(Receipt(f"{fold(row.name)}: it has no option {number}", "bad"))
        elif option.is_free_text:
            label = _label(row, option.label)
            target = target_of(row)
            self._ask(label, lambda words: self._answer(target, f"Choose {number}: {words}"))
        else:
            self._choose(row, question, (number,))

    def action_answer(self) -> None:
        row = self._selected()
        if row is not None and (row.escalation is not None or self._question_of(row) is not None):
            self._ask_answer(row, "")

    def action_words(self) -> None:
        row = self._selected()
        if row is not None and (row.escalation is not None or self._question_of(row) is not None):
            target = target_of(row)
            self._ask(_label(row, "in words"), lambda words: self._answer(target, words))

    def action_prompt(self) -> None:
        row = self._selected()
        if row is None or not row.session_id:
            return
        if row.question is not None:
            # What is typed while it asks is its answer.
            self.action_words()
            return
        target = target_of(row)
        self._ask(_label(row, "prompt"), lambda words: self._run(errands.prompt(self._daemon, target, words)))

    def action_dismiss(self) -> None:
        row = self._selected()
        if row is None or row.escalation is None:
            self._say(Receipt("There is nothing of it in the inbox.", "bad"))
            return
        target = target_of(row)
        self.query_one(Bar).ask(
            _label(row, "dismiss, with a reason or none; Escape keeps it"),
            lambda reason: self._run(errands.dismiss(self._daemon, target, reason)),
        )

    def _question_of(self, row: Row | None) -> QuestionView | None:
        if row is not None and row.question is not None:
            return row.question
        if row is not None and row.escalation is not None:
            self._say(Receipt("It has no options: t answers in words, d dismisses it.", "bad"))
        elif row is not None:
            self._say(Receipt(f"{fold(row.name)} asks nothing. p prompts it.", "bad"))
        return None

    def _ask_answer(self, row: Row, given: str) -> None:
        question, target = row.question, target_of(row)

        def then(words: str) -> None:
            numbers = _NUMBERS.fullmatch(words)
            if question is not None and question.takes in {"one", "many"} and numbers:
                self._choose(row, question, tuple(map(int, re.findall(r"\d+", numbers[1]))))
            else:
                self._answer(target, words)

        how = "words" if question is None or question.takes == "words" else "a number, 1, 3 or words"
        self._ask(_label(row, how), then, given=given)

    def _choose(self, row: Row, question: QuestionView, numbers: tuple[int, ...]) -> None:
        """Tell it, after a second question where the daemon wants one or nobody can have read it yet."""
        target, message = target_of(row), f"Choose {', '.join(map(str, numbers))}"
        chosen = [one for one in question.parts[0].options if one.number in numbers]
        why = next((one.confirm for one in chosen if one.confirm), "")
        is_seen = self._asked == (question.id, question.version)
        if not why and (not is_seen or time.monotonic() - self._asked_at < self._looked_at):
            why = "it asked only just now"
        if not why:
            self._answer(target, message)
            return
        labels = ", ".join(fold(one.label) for one in chosen)
        label = Text.assemble((target.name, "bold"), f"  {message}: {labels}", (f"\n{why}", "yellow"))
        self.query_one(Bar).confirm(label, lambda: self._answer(target, message))

    def _answer(self, target: Target, message: str) -> None:
        self._run(errands.answer(self._daemon, target, message))

    def _ask(self, label: Text, then: Callable[[str], None], *, given: str = "") -> None:
        """Words; none are no answer."""
        self.query_one(Bar).ask(label, lambda words: then(words) if words.strip() else None, given=given)

    # Other keys.

    def action_inbox(self) -> None:
        self._is_inbox_only = not self._is_inbox_only
        self._draw()

    def action_scroll_details(self, pages: int) -> None:
        details = self.query_one("#details", VerticalScroll)
        details.scroll_relative(y=pages * max(1, details.size.height - 1), animate=False)

    def action_help(self) -> None:
        self.push_screen(Sheet("keys", drawing.help_text()))

    def action_refresh_now(self) -> None:
        self._aside(lambda: self.post_message(self.Told(self._feed.look(start=True))))

    def action_explain(self) -> None:
        row = self._selected()
        if row is None or not row.session_id:
            return
        path, name, now = f"/api/sessions/{path_part(row.session_id)}/explain", fold(row.name), self._clock()

        def work() -> None:
            content = drawing.explanation(self._daemon.call("GET", path), now)
            self.post_message(self.Explained(name, content))

        self._aside(work)

    def action_jump(self) -> None:
        row = self._selected()
        if row is None:
            return
        if row.pane is None:
            self._say(Receipt(f"{fold(row.name)} is in no pane that Maestro knows.", "bad"))
            return
        way = way_to(row.pane, os.environ)
        try:
            if way.needs_terminal:
                with self.suspend():
                    done = subprocess.run(way.argv, env=way.env, stderr=subprocess.PIPE, check=False)
            else:
                done = subprocess.run(way.argv, env=way.env, capture_output=True, check=False)
        except SuspendNotSupported:
            self._say(Receipt("This terminal cannot be given away: `maestro attach` in another one.", "bad"))
            return
        except FileNotFoundError:
            self._say(Receipt("The program that shows panes is not installed.", "bad"))
            return
        if done.returncode:
            said = fold(clean(done.stderr.decode("utf-8", "replace")))
            self._say(Receipt(f"{fold(row.name)}: {said or 'its pane cannot be shown'}", "bad"))

    # Away from the screen.

    def _run(self, receipts: Iterator[Receipt]) -> None:
        def work() -> None:
            for receipt in receipts:
                if not self.is_running:
                    return  # nobody sees how it goes on
                self.post_message(self.Happened(receipt))

        self._aside(work)

    def _aside(self, work: Callable[[], object]) -> None:
        """In a thread that nobody waits for: leaving the view never hangs on the daemon."""

        def guarded() -> None:
            try:
                work()
            except MaestroError as error:
                self.post_message(self.Happened(errands.complaint(error)))

        threading.Thread(target=guarded, daemon=True).start()


def _label(row: Row, what: str) -> Text:
    return Text.assemble((fold(row.name), "bold"), f"  {fold(what)}")


def _now() -> int:
    return int(time.time() * 1000)
