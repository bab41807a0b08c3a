"""The list of sessions: two lines each, one of them selected. The selection stays with its session, wherever that moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from maestro.cli.live.drawing import row_lines
from maestro.coordinate.overview import Row

_HEIGHT = 2


class SessionRoll(ScrollView, can_focus=True):
    # Every key of the view is here: while something else has the keyboard, none of them does anything.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("home,g", "move(-1000000)", show=False),
        Binding("end,G", "move(1000000)", show=False),
        Binding("pageup", "app.scroll_details(-1)", show=False),
        Binding("pagedown,space", "app.scroll_details(1)", show=False),
        Binding("enter", "app.jump", show=False),
        *(Binding(str(digit), f"app.choose({digit})", show=False) for digit in range(1, 10)),
        Binding("a", "app.answer", show=False),
        Binding("t", "app.words", show=False),
        Binding("p", "app.prompt", show=False),
        Binding("e", "app.explain", show=False),
        Binding("i", "app.inbox", show=False),
        Binding("d", "app.dismiss", show=False),
        Binding("r", "app.refresh_now", show=False),
        Binding("x,question_mark", "app.help", show=False),
        Binding("q", "app.quit", show=False),
    ]

    class Selected(Message):
        """Another session is selected, or none."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - textual's own name
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._now = 0
        self._key = ""
        self._lines: list[Text] = []

    @property
    def selected(self) -> Row | None:
        return next((row for row in self._rows if _key(row) == self._key), None)

    def show(self, rows: Sequence[Row], now: int) -> None:
        """Other rows, or other times; whoever was selected still is, or else who stands in that place."""
        place = self._place()
        is_resized = len(rows) != len(self._rows)
        self._rows, self._now = rows, now
        if self.selected is None:
            self._key = _key(rows[min(place, len(rows) - 1)]) if rows else ""
            self.post_message(self.Selected())
        self._draw(layout=is_resized)

    def action_move(self, by: int) -> None:
        if not self._rows:
            return
        place = min(max(0, self._place() + by), len(self._rows) - 1)
        self._key = _key(self._rows[place])
        self.post_message(self.Selected())
        self._draw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - textual asks it so
        return _HEIGHT * max(1, len(self._rows))

    def on_resize(self) -> None:
        self._draw()

    def _draw(self, *, layout: bool = False) -> None:
        """Only what has changed is sent to the terminal, which may be far away."""
        width = self.scrollable_content_region.width
        lines = [
            line
            for row in self._rows
            for line in row_lines(row, self._now, width, is_selected=_key(row) == self._key)
        ]
        self.virtual_size = Size(width, len(lines))
        self._scroll_to_selected()
        if layout or lines != self._lines:
            self._lines = lines
            self.refresh(layout=layout)

    def render_line(self, y: int) -> Strip:
        width, place = self.size.width, y + self.scroll_offset.y
        if place >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        segments = self._lines[place].render(self.app.console)
        return Strip(segments).apply_style(self.rich_style).adjust_cell_length(width, self.rich_style)

    def _place(self) -> int:
        return next((place for place, row in enumerate(self._rows) if _key(row) == self._key), 0)

    def _scroll_to_selected(self) -> None:
        top, height = _HEIGHT * self._place(), self.size.height
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)
        elif height and top + _HEIGHT > self.scroll_offset.y + height:
            self.scroll_to(y=top + _HEIGHT - height, animate=False)


def _key(row: Row) -> str:
    """What is in the inbox without a session is still something."""
    return row.session_id or (row.escalation.id if row.escalation is not None else "")
