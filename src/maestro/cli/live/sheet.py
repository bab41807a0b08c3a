"""A sheet over the live view: help, or evidence. Arrows scroll, anything else puts it away."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

_SCROLLS = frozenset({"up", "down", "pageup", "pagedown", "home", "end"})


class Sheet(ModalScreen[None]):
    DEFAULT_CSS = """
    Sheet { align: center middle; background: transparent; }
    Sheet > VerticalScroll { width: 90%; max-width: 100; height: auto; max-height: 90%; border: round ansi_default; padding: 0 1; }
    Sheet Static { height: auto; }
    """

    def __init__(self, title: str, content: Text) -> None:
        super().__init__()
        self._title = title
        self._content = content

    def compose(self) -> ComposeResult:
        with VerticalScroll() as whole:
            whole.border_title = Text(self._title)
            yield Static(self._content)

    def on_key(self, event: events.Key) -> None:
        if event.key not in _SCROLLS:
            event.stop()
            self.dismiss()
