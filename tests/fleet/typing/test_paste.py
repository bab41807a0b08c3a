"""Text into a real bash under a real tmux: it arrives whole, and nothing of it is ever run (bar R5)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from tests.characters import ODD
from tests.fleet.state.floor import Floor, in_loop, visiting
from tests.patience import within
from tests.support import SOAK, some_in_test

from maestro.errors import Conflict
from maestro.fleet.delivery import typable
from maestro.fleet.facts import Pane, PaneRef
from maestro.fleet.tmux import Tmux

# Readline as bash has it by default, but for one key: it hands over what stands on the line, and clears it.
PROMPT = "$"
RCFILE = r"""
PS1='$ '; PS2='> '; HISTFILE=; HISTCONTROL=
bind 'set enable-bracketed-paste on'
hand_over() {{ printf '%s\0' "$READLINE_LINE" > '{dump}'; READLINE_LINE=; READLINE_POINT=0; }}
bind -x '"\C-x\C-d": hand_over'
printf 'ready\0' > '{dump}'
"""

# Every one of them tries to make the file ${OWNED}.
TRIES = (
    "touch {owned}\n",
    "touch {owned}\r",
    "\x1b[201~\ntouch {owned}\n",
    "\x1b[201~\rtouch {owned}\r\x1b[200~",
    "\x1b\x1b[201~[201~\rtouch {owned}\r",
    "\x1b[20\x1b[201~1~\rtouch {owned}\r",
    "\x1b[2\x000\x001~\rtouch {owned}\r",
    "\x9b201~\rtouch {owned}\r",
    "\u009b201~\u0085touch {owned}\u0085",
    "\x1bO\x03touch {owned}\x0d",
    "\x03\x15touch {owned}\x0a",
    "\x04touch {owned}\r\n\x0f",
    "\x18\x05touch {owned}\n",
    "\x16\x0dtouch {owned}\x16\x0d",
    "\x1b[200~touch {owned}\x1b[201~\r",
    "$(touch {owned})",
    "`touch {owned}`\n",
    "; touch {owned};",
    "-R\n; run-shell 'touch {owned}'",
    "#(touch {owned})",
    '" ; run-shell "touch {owned}',
    "\\; run-shell 'touch {owned}' \\;",
    "\n%end 1 1 1\nrun-shell 'touch {owned}'\n",
    "!!\ntouch {owned}\\",
    "\x1b]0;touch {owned}\x07\r",
    "\x90q\x9ctouch {owned}\r",
    "\x1b[13~touch {owned}\x1b[13u\x1bOM\x1b[27;5;13~",
)
WHOLE = (
    "plain words",
    "-R",
    "-",
    "--",
    ";",
    "\\;",
    "a;",
    "ends with a backslash\\",
    "#{pid} #{?x,1,2} ##[fg=red]",
    "$HOME ~ ~/x \"quotes\" 'more' `ticks`",
    "one\ntwo\n\nfour",
    "tab\there",
    "emoji 👩‍👩‍👧‍👦 🇨🇭 é 漢字 \u202e\u200b",
    "lone \ud83d surrogate \udcff",
    "nul\0in between",
    "{braces} [brackets] (round) <angle> |&",
    " spaces around ",
    "%Y %H %end 1 2 1",
    "\ufeffbom",
    *ODD.values(),
)


# Every character of those that a terminal drops, joins or widens.
HIDDEN = sorted({character for text in ODD.values() for character in text if not character.isascii()})


def fuzzed(rng: random.Random) -> str:
    """A payload that nobody thought of: pieces of the others, shuffled."""
    pieces = []
    for _ in range(rng.randint(1, 6)):
        kind = rng.random()
        if kind < 0.4:
            whole = rng.choice(TRIES + WHOLE)
            start = rng.randrange(len(whole))
            pieces.append(whole[start : rng.randint(start, len(whole))])
        elif kind < 0.7:
            pieces.append(rng.choice(TRIES))
        elif kind < 0.85:
            pieces.append("".join(chr(rng.randrange(0x100)) for _ in range(rng.randint(1, 8))))
        elif kind < 0.93:
            pieces.append("".join(rng.choice(HIDDEN) + rng.choice("a1\U0001f469\u6f22") for _ in range(4)))
        else:
            pieces.append(chr(rng.choice([0x1B, 0x0D, 0x9B, 0x85, 0x2028, 0xD800, 0xDC9B, 0x1F600])))
    return "".join(pieces)


class Bash:
    """A bash in a pane, whose line is read through a pipe."""

    def __init__(self, place: Path, tmux: Tmux) -> None:
        self.tmux = tmux
        self.owned = place / "owned"
        self.dump = place / "dump"
        self.rcfile = place / "rc"
        os.mkfifo(self.dump)
        # Open at both ends, so that it neither waits for a writer nor ends with one.
        self._marks = 0
        self._pipe = os.open(self.dump, os.O_RDWR | os.O_NONBLOCK)
        self.rcfile.write_text(RCFILE.format(dump=self.dump))
        self.ref: PaneRef

    @property
    def argv(self) -> tuple[str, ...]:
        return ("bash", "--init-file", str(self.rcfile), "-i")

    async def begun(self, pane: Pane) -> None:
        self.ref = pane.ref
        assert await self._said() == b"ready"
        # Until its prompt stands there, the system itself echoes what is typed, and takes C-d for the end.
        await self._shows(PROMPT)

    async def paste(self, payload: str) -> str:
        """What stands on bash's line after a paste."""
        await self._reads()
        await self.tmux.paste(self.ref, typable(payload.replace("{owned}", str(self.owned))))
        # Its own key, pressed only now: a paste that broke out would have been run before it.
        await self.tmux.press(self.ref, ("C-x", "C-d"))
        arrived = (await self._said()).decode("utf-8", "surrogateescape")
        assert arrived.startswith(self._mark), arrived[:200]
        return arrived.removeprefix(self._mark)

    async def _reads(self) -> None:
        """While it hands over its line, bash takes no bracketed paste: it is back when it echoes what is typed."""
        self._marks += 1
        await self.tmux.press(self.ref, tuple(self._mark))
        await self._shows(self._mark)

    async def _shows(self, text: str) -> None:
        async with within():
            while text not in await self.tmux.capture(self.ref):  # noqa: ASYNC110 - tmux does not tell
                await asyncio.sleep(0.002)

    @property
    def _mark(self) -> str:
        return f"m{self._marks}:"

    async def _said(self) -> bytes:
        """What bash puts into the pipe, up to its NUL."""
        loop, said = asyncio.get_running_loop(), bytearray()
        readable = asyncio.Event()
        loop.add_reader(self._pipe, readable.set)
        try:
            async with within():
                while not said.endswith(b"\0"):
                    await readable.wait()
                    readable.clear()
                    with contextlib.suppress(BlockingIOError):
                        said += os.read(self._pipe, 1 << 20)
        finally:
            loop.remove_reader(self._pipe)
        return bytes(said[:-1])

    def close(self) -> None:
        os.close(self._pipe)

    async def check(self, payloads: Sequence[str]) -> None:
        for payload in payloads:
            expected = typable(payload.replace("{owned}", str(self.owned)))
            if not expected:
                continue  # nothing is left of it, and nothing is sent
            arrived = await self.paste(payload)
            assert arrived == expected, f"{payload!r} arrived as {arrived[:200]!r}"
            assert not self.owned.exists(), f"{payload!r} was run"


@contextlib.asynccontextmanager
async def bash_of_ours(place: Path) -> AsyncIterator[Bash]:
    async with Floor(place) as floor:
        bash = Bash(place, floor.tmux)
        await bash.begun(await floor.worker("bash", argv=bash.argv))
        yield bash
        bash.close()


@contextlib.asynccontextmanager
async def bash_of_the_users(place: Path) -> AsyncIterator[Bash]:
    """In a tmux server that we are only guests of."""
    async with Floor(place) as floor, visiting(floor.tmux.socket, floor.env) as guest:
        bash = Bash(place, guest)
        await bash.begun(await floor.worker("bash", argv=bash.argv))
        yield bash
        bash.close()


@pytest.mark.parametrize("server", [bash_of_ours, bash_of_the_users])
@in_loop
async def test_what_is_known_to_break_out_does_not(place: Path, server: object) -> None:
    assert callable(server)
    async with server(place) as bash:
        await bash.check(TRIES + WHOLE)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("server", some_in_test([bash_of_ours, bash_of_the_users]))
def test_any_payload_arrives_whole_and_is_not_run(place: Path, server: object) -> None:
    assert callable(server)
    count = (10_000 if server is bash_of_ours else 1_000) if SOAK else 80
    rng = random.Random(20261115)

    async def all_of_them() -> None:
        async with server(place) as bash:
            await bash.check([fuzzed(rng) for _ in range(count)])

    asyncio.run(all_of_them())


@pytest.mark.parametrize("server", [bash_of_ours, bash_of_the_users])
@in_loop
async def test_a_long_text_arrives_whole(place: Path, server: object) -> None:
    """200 KB, also where it is cut into reads of a terminal's size."""
    assert callable(server)
    words = " ".join(f"word{number}é" for number in range(20_000))
    assert len(words.encode()) > 200_000
    async with server(place) as bash:
        assert await bash.paste(words) == words
        assert await bash.paste("and then this") == "and then this"


@in_loop
async def test_nothing_is_left_in_tmux(place: Path) -> None:
    async with bash_of_ours(place) as bash:
        await bash.paste("one")
        wrong = bash.ref._replace(pane_pid=bash.ref.pane_pid + 1)
        with pytest.raises(Conflict, match="no longer"):
            await bash.tmux.paste(wrong, "two")
        with pytest.raises(Conflict, match="no longer"):
            await bash.tmux.press(wrong, ("Enter",))
        assert await bash.tmux.run("list-buffers") == []
        assert await bash.paste("three") == "three"


@pytest.mark.parametrize(
    "trouble",
    [
        ("copy-mode", "-t", "{pane}"),
        ("set-option", "-w", "-t", "{pane}", "synchronize-panes", "on"),
        ("respawn-pane", "-k", "-t", "{pane}", "cat", "-"),
        ("send-keys", "-t", "{pane}", "exec true", "Enter"),
    ],
)
@in_loop
async def test_a_pane_that_would_not_give_it_to_its_program(place: Path, trouble: tuple[str, ...]) -> None:
    async with Floor(place) as floor:
        bash = Bash(place, floor.tmux)
        pane = await floor.worker("bash", argv=bash.argv)
        await bash.begun(pane)
        beside = await floor.tmux.split(pane.ref, ("cat", "-"), cwd="/")
        floor.outside(*(word.format(pane=pane.pane_id) for word in trouble))
        if trouble[0] == "send-keys":
            await floor.ended(pane)
        with pytest.raises(Conflict, match="no longer"):
            await floor.tmux.paste(pane.ref, "typed where it must not be")
        with pytest.raises(Conflict, match="no longer"):
            await floor.tmux.press(pane.ref, ("x", "Enter"))
        for ref in (beside.ref, (await floor.tmux.pane(pane.pane_id)).ref):
            assert "typed where" not in await floor.tmux.capture(ref)
        assert await floor.tmux.run("list-buffers") == []
        bash.close()
