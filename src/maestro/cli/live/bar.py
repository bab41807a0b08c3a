"""The line at the bottom where a person writes, or says yes or no. What it is for stays as it was when it opened."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

_HOW = "Enter sends, Escape does not"


class _Doubt(Static, can_focus=True):
    """Only `y` is yes."""

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        bar = self.parent
        assert isinstance(bar, Bar)
        bar.decide(is_yes=event.key in {"y", "Y"})


class Bar(Vertical):
    def __init__(self, *, id: str) -> None:  # noqa: A002 - textual's own name
        super().__init__(id=id)
        self._then: Callable[[str], None] | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static(id="bar-label")
        yield Input(id="bar-input", compact=True, select_on_focus=False, placeholder=_HOW)
        yield _Doubt(id="bar-doubt")

    def ask(self, label: Text, then: Callable[[str], None], *, given: str = "") -> None:
        """A line of words; Enter gives it, Escape does not."""
        self._open(label, then, writes=True)
        line = self.query_one(Input)
        line.value = given
        line.cursor_position = len(given)
        line.focus()

    def confirm(self, label: Text, then: Callable[[], None]) -> None:
        self._open(label, lambda _: then(), writes=False)
        doubt = self.query_one(_Doubt)
        doubt.update(Text("y does it, any other key does not", "dim"))
        doubt.focus()

    def decide(self, *, is_yes: bool) -> None:
        self._close("" if is_yes else None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close(event.value)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self._close(None)

    def _open(self, label: Text, then: Callable[[str], None], *, writes: bool) -> None:
        self._then = then
        self.query_one("#bar-label", Static).update(label)
        self.query_one(Input).display = writes
        self.query_one(_Doubt).display = not writes
        self.display = True

    def _close(self, said: str | None) -> None:
        then, self._then = self._then, None
        self.display = False
        self.screen.query_one("#sessions").focus()
        if then is not None and said is not None:
            then(said)
