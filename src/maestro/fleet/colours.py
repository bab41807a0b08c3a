"""Pure: what a pane's state looks like."""

from __future__ import annotations

from maestro.fleet.panes import Notify, PaneState

ENGAGED = "bg=#2a1a3d"
_PANES: dict[Notify, str] = {
    "": "",
    "working": "",
    "unchecked": "bg=#2b2508",
    "error": "bg=#330d0d",
    "done": "bg=#0d2613",
    "checked": "",
}
_WORDS: dict[Notify, str] = {
    "": "default",
    "working": "colour39",
    "unchecked": "colour220",
    "error": "colour196",
    "done": "colour40",
    "checked": "colour245",
}
_PURPLE = "colour135"


def pane_style(state: PaneState) -> str:
    """Purple while a coordinator is engaged, whatever happened; else by what happened."""
    return ENGAGED if state.lease.coordinator else _PANES[state.notify]


def window_style(notify: Notify) -> str:
    """How the window's name stands in the status bar."""
    colour = f"fg={_WORDS[notify]}"
    return f"{colour},bold" if notify in {"error", "unchecked"} else colour


def _by_state(option: str, colours: dict[Notify, str]) -> str:
    chosen = "default"
    for notify, colour in colours.items():
        if notify:
            chosen = f"#{{?#{{==:#{{{option}}},{notify}}},{colour},{chosen}}}"
    return chosen


# tmux works these out itself whenever it draws.
BORDER_FORMAT = (
    f"#[fg=#{{?#{{==:#{{@pane_coordinator_active}},1}},{_PURPLE},{_by_state('@pane_notify', _WORDS)}}}]"
    " #{?@pane_label,#{@pane_label},#{pane_index}}#{?@pane_notify, · #{@pane_notify},}"
    "#{?pane_dead, · ended #{pane_dead_status}#{pane_dead_signal},} #[default]"
)
