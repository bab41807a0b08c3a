"""Screens of the real CLIs, folder by folder: what an adapter reads from each is written beside it.

`screens/<agent>/<version>/NAME.txt` is what `tmux capture-pane -p` printed, `NAME.ansi` the same with `-e`;
`NAME.json` is the reading, without what is empty or false. Where both captures exist, both must read the same.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.registry import agent_named
from maestro.agents.screen import Screen, captured
from maestro.agents.terminal import Terminal

SCREENS = Path(__file__).parent / "screens"
CAPTURES = sorted(path for path in SCREENS.glob("*/*/*") if path.suffix in {".txt", ".ansi"})
AGENTS = sorted({path.parent.parent.name for path in CAPTURES})


def terminal_of(path: Path) -> Terminal:
    agent = agent_named(path.parent.parent.name)
    assert isinstance(agent, Terminal)
    return agent


def told(value: Any) -> Any:
    """A reading without what is empty or false."""
    if isinstance(value, dict):
        kept = {name: told(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner}
    return [told(inner) for inner in value] if isinstance(value, list) else value


def reading(screen: Screen) -> Any:
    return told(json.loads(msgspec.json.encode(screen)))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_recorded_screen_reads_as_written_beside_it(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    assert reading(terminal_of(path).read_screen(captured(path.read_text()))) == expected


def test_every_reading_has_its_capture_and_every_version_is_named() -> None:
    for path in SCREENS.glob("*/*/*.json"):
        assert path.with_suffix(".txt").exists() or path.with_suffix(".ansi").exists(), path
    for path in CAPTURES:
        assert path.parent.name in terminal_of(path).recorded_versions, path


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: "/".join(path.parts[-3:]))
def test_what_scrolled_off_the_top_does_not_make_another_state_of_it(path: Path) -> None:
    """Down to the paragraph that tells: part of what is live may tell less, but never something else."""
    terminal = terminal_of(path)
    text = path.read_text()
    whole = terminal.read_screen(captured(text))
    shown = captured(text).lines
    words = [line.strip(" │") for line in shown]  # a dialog's frame is no evidence
    evidence = max((at for at, line in enumerate(words) if line and line in whole.evidence), default=0)
    lines = text.split("\n")
    paragraph = max((at for at in range(evidence) if not shown[at].strip()), default=0)
    for cut in range(1, paragraph + 1):
        state = terminal.read_screen(captured("\n".join(lines[cut:]))).state
        assert state in {whole.state, "unknown"}, cut


@pytest.mark.parametrize("name", AGENTS)
@given(text=st.text(), title=st.text())
def test_any_text_is_read_without_an_error(name: str, text: str, title: str) -> None:
    agent = agent_named(name)
    assert isinstance(agent, Terminal)
    assert agent.read_screen(captured(text, title=title)).state == "unknown"
    agent.read_title(title)


@pytest.mark.parametrize("name", AGENTS)
@given(data=st.data())
def test_a_recorded_screen_with_any_damage_is_read_without_an_error(name: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in CAPTURES if path.parent.parent.name == name]))
    text = path.read_text()
    at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 200))
    damaged = text[:at] + data.draw(st.text(max_size=20)) + text[at + length :]
    terminal_of(path).read_screen(captured(damaged))
