"""tmux is spoken to exactly: what is meant arrives, what is answered is understood, another pane is never touched."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.state.floor import QUIET, Floor, in_loop, visiting
from tests.patience import until, within

from maestro.errors import Conflict, DaemonError, InvalidInput, NotFound
from maestro.fleet import reading
from maestro.fleet.commands import Room, enlarge_commands
from maestro.fleet.facts import ServerId, Version
from maestro.fleet.tmux import Tmux
from maestro.fleet.words import quoted

# Anything that a person, an agent or an accident can put into a label.
NASTY = (
    "", "-R", "a;", ";", "\\;", "a\nb", "\n", "~/x", "$HOME", "${HOME}", "#{pid}", "##", "#[fg=red]", "%Y", "%end 1 2 1",
    "'", '"', "`id`", "\\", "a\\", "a \\ ; b", " ", "  x  ", "{ }", "é✻漢\N{ZERO WIDTH JOINER}", "\x1b]0;x\x07", "\x7f", "\t",
    "\udcff\udc80", "|", ",", "}", "x\n%exit\n%begin 1 1 1",
)  # fmt: skip
TEXT = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    st.lists(st.sampled_from([*'\\"$~#{}%;\n\t -|é', "\x1b", "\udc80"]), max_size=12).map("".join),
)


def test_any_text_arrives_and_comes_back(place: Path) -> None:
    with asyncio.Runner() as runner:
        floor = Floor(place)
        runner.run(floor.__aenter__())
        pane = runner.run(floor.worker("w"))

        async def there_and_back(label: str, manages: str) -> tuple[str, str]:
            await floor.tmux.set_options(pane.ref, {"@pane_label": label, "@pane_manages": manages})
            found = await floor.tmux.pane(pane.pane_id)
            return found.label, found.manages

        @settings(max_examples=150)
        @given(TEXT, TEXT)
        def check(label: str, manages: str) -> None:
            assert runner.run(there_and_back(label, manages)) == (label, manages)

        try:
            check()
        finally:
            runner.run(floor.__aexit__(None, None, None))


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
@in_loop
async def test_text_that_tmux_cannot_hold_is_refused(place: Path, text: str) -> None:
    async with Floor(place) as floor:
        with pytest.raises(InvalidInput):
            await floor.tmux.set_options(floor.desk.ref, {"@pane_label": text})
        assert (await floor.tmux.pane(floor.desk.pane_id)).label == ""


@in_loop
async def test_names_titles_and_arguments_are_not_expanded(place: Path) -> None:
    async with Floor(place) as floor:
        folder = place / "a #{pid} ; b"
        folder.mkdir()
        pane = await floor.tmux.new_window(
            "main", ["sh", "-c", 'printf "%s|" "$PWD" "$ODD" "$1"; exec cat', "sh", "#{pid};"],
            cwd=str(folder), env={"ODD": "#{pid} $HOME ; '"}, name="#{pid} 100%",
        )  # fmt: skip
        await floor.tmux.set_title(pane.ref, "#{pid} %H")
        pane = await floor.tmux.pane(pane.pane_id)
        assert (pane.window_name, pane.title) == ("#{pid} 100%", "#{pid} %H")
        assert await floor.see(pane.ref, "pid};|", joined=True) == f"{folder}|#{{pid}} $HOME ; '|#{{pid}};|"


@in_loop
async def test_many_callers_get_their_own_answers(place: Path) -> None:
    async with Floor(place) as floor:
        answers = await asyncio.gather(
            *(floor.tmux.run("display-message", "-p", f"answer {number}") for number in range(200)),
        )
        assert answers == [[f"answer {number}"] for number in range(200)]
        assert await floor.tmux.run_many([("display-message", "-p", "a"), ("list-buffers",)]) == [["a"], []]


@in_loop
async def test_text_cannot_end_an_answer(place: Path) -> None:
    """A pane holds what the end of our answer would look like, for any number that it could have."""
    async with Floor(place) as floor:
        said = floor.outside("-C", "attach", "-t", "=main", said=b"list-buffers\n")
        seconds, number = [int(word) for word in said[said.rindex(b"%begin") :].split()[1:3]]
        forged = [f"%end {seconds + t} {number + n} 1" for t in range(3) for n in range(60)]
        await floor.tmux.set_options(floor.desk.ref, {"@pane_label": "\n".join(forged)})
        for _ in range(10):
            assert (await floor.tmux.pane(floor.desk.pane_id)).label == "\n".join(forged)
        pane = await floor.worker(
            "w", argv=("sh", "-c", f"printf '%s\\n' {' '.join(map(repr, forged[:20]))}; cat")
        )
        await floor.see(pane.ref, forged[19])
        assert await floor.tmux.run("display-message", "-p", "still right") == ["still right"]


@in_loop
async def test_an_error_carries_the_words_of_tmux(place: Path) -> None:
    async with Floor(place) as floor:
        with pytest.raises(NotFound, match="can't find window"):
            await floor.tmux.run("select-window", "-t", "=main:nothing")
        with pytest.raises(Conflict, match="unknown command: frobnicate"):
            await floor.tmux.run("frobnicate")
        with pytest.raises(Conflict, match="duplicate session: main"):
            await floor.tmux.new_session("main", QUIET, cwd="/")
        with pytest.raises(NotFound, match="can't find"):
            await floor.tmux.new_window("mai", QUIET, cwd="/")
        assert len(await floor.tmux.panes()) == 1


@in_loop
async def test_only_exactly_that_pane_is_touched(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w")
        for wrong in (
            pane.ref._replace(pane_pid=pane.pane_pid + 1),
            pane.ref._replace(pane_id="%99"),
            pane.ref._replace(server_pid=pane.server_pid + 1),
            pane.ref._replace(server_started=pane.server_started + 1),
        ):
            with pytest.raises(Conflict, match="no longer"):
                await floor.tmux.set_options(wrong, {"@pane_label": "stolen"})
            with pytest.raises(Conflict):
                await floor.tmux.capture(wrong)
        again = await floor.tmux.respawn(pane.ref, QUIET, cwd="/")
        with pytest.raises(Conflict):
            await floor.tmux.kill_pane(pane.ref)
        await floor.tmux.kill_pane(again.ref)
        with pytest.raises(Conflict):
            await floor.tmux.set_options(again.ref, {"@pane_label": "stolen"})
        assert [found.label for found in await floor.tmux.panes()] == [""]


@in_loop
async def test_a_restarted_server_is_another_one(place: Path) -> None:
    async with Floor(place) as floor:
        old = floor.desk
        await floor.tmux.kill_server()
        with pytest.raises(DaemonError, match="no tmux server"):
            await floor.tmux.panes()
        await floor.tmux.start()
        new = await floor.tmux.new_session("main", QUIET, cwd="/")
        assert new.pane_id == old.pane_id
        with pytest.raises(Conflict):
            await floor.tmux.set_options(old.ref, {"@pane_label": "stolen"})
        assert (await floor.tmux.pane(new.pane_id)).label == ""


@in_loop
async def test_the_connection_comes_back(place: Path) -> None:
    async with Floor(place) as floor:
        for _ in range(3):
            control = floor.tmux._connection._control
            assert control is not None
            assert control.pid is not None
            os.kill(control.pid, signal.SIGKILL)
            await control.ended
            assert (await floor.tmux.pane(floor.desk.pane_id)).ref == floor.desk.ref
        # Its wake-ups too.
        pane = await floor.worker("w", "working")
        waiting = asyncio.ensure_future(floor.until(lambda look: pane.pane_id not in look.glances))
        floor.outside("kill-pane", "-t", pane.pane_id)
        await waiting
        assert len(await floor.tmux.run("list-clients")) == 1


@in_loop
async def test_the_hidden_session_comes_back(place: Path) -> None:
    async with Floor(place) as floor:
        floor.outside("kill-session", "-t", "=_maestro")
        async with within():
            while True:
                try:
                    found = await floor.tmux.panes()
                    break
                except DaemonError:
                    continue
        assert [pane.ref for pane in found] == [floor.desk.ref]


@in_loop
async def test_a_server_that_was_killed_is_noticed_and_not_restarted(place: Path) -> None:
    async with Floor(place) as floor:
        server = floor.tmux.server
        assert server is not None
        woken = asyncio.Event()
        floor.tmux.on_change = woken.set
        os.kill(server.pid, signal.SIGKILL)
        await woken.wait()
        with pytest.raises(DaemonError):
            await floor.tmux.panes()
        with pytest.raises(DaemonError, match="no tmux server"):
            await floor.tmux.panes()
        assert floor.tmux.server is None
        again = await floor.tmux.start()
        assert again != server


@in_loop
async def test_a_server_that_dies_while_it_is_greeted_is_started_anew(place: Path) -> None:
    """A killed server may take a connection in its last moment."""
    dying = socket.socket(socket.AF_UNIX)
    dying.bind(str(place / "tmux"))
    dying.listen()
    greeted = asyncio.get_running_loop().run_in_executor(None, _greet_and_die, dying)
    async with Floor(place) as floor:
        await greeted
        assert floor.tmux.server is not None
        assert await floor.tmux.panes()


def _greet_and_die(server: socket.socket) -> None:
    server.accept()[0].close()
    server.close()


# tmux, whose hidden session ends just before the first question to it is read.
ENDING = """#!/bin/sh
case " $* " in
*" -C "*) ;;
*) exec {tmux} "$@" ;;
esac
{{ IFS= read -r asked; IFS= read -r word; printf '%s\\n' kill-session "$asked" "$word"; exec cat; }} | exec {tmux} "$@"
"""


@in_loop
async def test_a_server_that_ends_while_it_is_reached(place: Path) -> None:
    tmux = shutil.which("tmux")
    async with Floor(place) as floor:
        wrapper = place / "ending" / "tmux"
        wrapper.parent.mkdir()
        wrapper.write_text(ENDING.format(tmux=tmux))
        wrapper.chmod(0o755)
        path = f"{wrapper.parent}:{floor.env['PATH']}"
        late = Tmux(floor.tmux.socket, {**floor.env, "PATH": path})
        with pytest.raises(DaemonError):
            await late.start(may_start=False)
        assert late.server is None
        await late.close()


@in_loop
async def test_whoever_looks_makes_no_session_in_a_server_that_is_ending(place: Path) -> None:
    async with Floor(place) as floor:
        await floor.tmux.close()
        # As in the moment between `kill-server` and the end: alive, and without any session.
        floor.outside("set-option", "-s", "exit-empty", "off")
        floor.outside("kill-session", "-a", "-t", "=_maestro")
        floor.outside("kill-session", "-t", "=_maestro")
        with pytest.raises(DaemonError):
            await floor.tmux.start(may_start=False)
        assert floor.outside("list-sessions") == b""
        assert await floor.tmux.start(), "whoever may start it makes one"


@in_loop
async def test_start_twice_is_harmless_and_close_leaves_the_panes(place: Path) -> None:
    async with Floor(place) as floor:
        first = await floor.tmux.start()
        await asyncio.gather(floor.tmux.start(), floor.tmux.start())
        await floor.tmux.close()
        other = Tmux(floor.tmux.socket, floor.env)
        assert await other.start() == first
        assert [pane.ref for pane in await other.panes()] == [floor.desk.ref]
        assert await other.clients() == ()
        await other.close()
        assert await floor.tmux.start() == first


@in_loop
async def test_the_last_screen_of_a_dead_pane_can_be_read(place: Path) -> None:
    async with Floor(place) as floor:
        # It ends when tmux has read its words: what a program writes as it ends, tmux may lose.
        pane = await floor.worker("w", argv=("sh", "-c", "echo last words; read -r go; exit 3"))
        await floor.see(pane.ref, "last words")
        floor.outside("send-keys", "-t", pane.pane_id, "Enter")
        pane = await floor.ended(pane)
        assert (pane.dead, pane.exit_status, pane.exit_signal) == (True, 3, "")
        assert "last words" in await floor.tmux.capture(pane.ref)
        await floor.tmux.kill_pane(pane.ref)


@in_loop
async def test_a_program_of_one_word_is_no_script(place: Path) -> None:
    async with Floor(place) as floor:
        program = place / "a program; exit 7"
        program.write_text("#!/bin/sh\nexit 5\n")
        program.chmod(0o700)
        pane = await floor.worker("w", argv=(str(program),))
        pane = await floor.ended(pane)
        assert pane.exit_status == 5


@in_loop
async def test_history_and_colours_are_captured_when_asked_for(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", argv=("sh", "-c", "seq 200; printf '\\033[31mred\\033[0m'; exec cat"))
        screen = await floor.see(pane.ref, "red")
        assert "\x1b" not in screen
        assert screen.splitlines()[0] != "1"
        assert (await floor.tmux.capture(pane.ref, lines=1000)).splitlines()[0] == "1"
        assert "\x1b[31mred" in await floor.tmux.capture(pane.ref, escapes=True)


@in_loop
async def test_a_pane_starts_with_its_options_and_a_clean_environment(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    async with Floor(place) as floor:
        show = f"tmux -S {floor.tmux.socket} show-options -p -v -t $TMUX_PANE @session_id; echo [$CLAUDECODE][$PWD]"
        pane = await floor.tmux.split(
            floor.desk.ref, ("sh", "-c", f"{show}; exec cat"), cwd="/", options={"@session_id": "sess_1"}
        )
        assert (await floor.see(pane.ref, "[/]")).split() == ["sess_1", "[][/]"]
        assert pane.window_id == floor.desk.window_id


@in_loop
async def test_a_guest_leaves_nothing_behind(place: Path) -> None:
    async with Floor(place) as floor, visiting(floor.tmux.socket, floor.env) as guest:
        before = await floor.tmux.run("show-options", "-g"), await floor.tmux.run("show-hooks", "-g")
        theirs = next(p for p in await guest.panes() if p.pane_id == floor.desk.pane_id)
        assert theirs.ref == floor.desk.ref
        await guest.set_options(theirs.ref, {"@pane_label": "a;", "@session_id": "#{pid};\n~"})
        seen = await floor.tmux.pane(theirs.pane_id)
        assert (seen.label, seen.session_id) == ("a;", "#{pid};\n~")
        glances, clients = await guest.glance()
        assert len(glances) == 2
        assert [client.control for client in clients] == [True]
        with pytest.raises(Conflict):
            await guest.set_options(theirs.ref._replace(pane_pid=1), {"@pane_label": "x"})
        with pytest.raises(Conflict, match="not its own"):
            await guest.kill_pane(theirs.ref)
        with pytest.raises(Conflict, match="not its own"):
            await guest.new_window("main", QUIET, cwd="/")
        assert (
            await floor.tmux.run("show-options", "-g"),
            await floor.tmux.run("show-hooks", "-g"),
        ) == before
        assert await floor.tmux.clients() == ()


@in_loop
async def test_a_guest_says_when_there_is_no_server(place: Path) -> None:
    with pytest.raises(DaemonError):
        await Tmux(str(place / "nothing"), {"PATH": os.environ["PATH"]}, guest=True).start()


@pytest.mark.parametrize(
    ("version", "usable", "degraded"),
    [
        (Version("3.1c", 3, 1), False, True),
        (Version("3.2a", 3, 2), True, True),
        (Version("3.3a", 3, 3), True, False),
    ],
)
def test_what_a_version_can_do(version: Version, *, usable: bool, degraded: bool) -> None:
    assert (version.usable, bool(version.degraded)) == (usable, degraded)


@given(st.lists(st.text(st.sampled_from([*'\\;" \n\tx%']), max_size=30), max_size=6))
def test_any_answer_is_read_or_refused(answer: list[str]) -> None:
    for read in (
        lambda: reading.panes(answer, ServerId(1, 1)),
        lambda: reading.glances(answer, ServerId(1, 1), ""),
        lambda: reading.clients(answer, None),
    ):
        try:
            read()
        except DaemonError:
            continue


def test_a_quoted_word_is_one_line() -> None:
    assert "\n" not in quoted("a\nb\r\x1b\x7f")


@in_loop
async def test_an_enlarged_window_is_as_it_was_when_the_connection_has_ended(place: Path) -> None:
    """Nobody is left who would ask for it: tmux does it by itself."""
    async with Floor(place) as floor:
        pane = await floor.worker("small")
        shown = (
            "display-message", "-p", "-t", pane.pane_id,
            "#{window_width}x#{window_height} #{@pane_room}",
        )  # fmt: skip
        floor.outside("resize-window", "-t", pane.pane_id, "-x", "40", "-y", "10")
        floor.outside("set-option", "-w", "-u", "-t", pane.pane_id, "window-size")
        room = Room("token", pane.window_id, 40, 10, zoomed=False, panes=1, active=pane.pane_id, sizing="")
        await floor.tmux.act(pane.ref, *enlarge_commands(pane.ref, room, (160, 120)))
        assert floor.outside(*shown).strip() == b"160x121 token"
        await floor.tmux.close()
        await asyncio.to_thread(until, lambda: floor.outside(*shown).strip() == b"40x10")
        assert floor.outside("show-options", "-w", "-v", "-t", pane.pane_id, "window-size").strip() == b""
        assert b"[1" not in floor.outside("show-hooks", "-g", "client-detached")
        await floor.tmux.start()
