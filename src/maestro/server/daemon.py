"""The daemon's own life: take the lock, open the ledger, listen, serve, finish, maybe become a new version."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import secrets
import socket
import sys
import time
from typing import NamedTuple, NoReturn

from maestro import __version__, processes
from maestro import home as homes
from maestro.errors import InvalidInput, MaestroError
from maestro.files import write_atomically
from maestro.ids import new_id
from maestro.server import lifecycle
from maestro.server.ownership import Ownership

# Longer than any request but a long poll takes; long polls are woken when the daemon stops.
_FINISH_SECONDS = 20
_BACKLOG = 1024


class Inherited(NamedTuple):
    """What a re-executed daemon keeps from its former self, so that no caller is ever turned away."""

    lock: int
    sockets: tuple[int, ...]


def main() -> None:
    arguments = _arguments()
    home = homes.Home(arguments.home)
    processes.close_to_others()
    os.chdir("/")
    if os.getpid() != os.getsid(0):
        # Its own session: the terminal that the first command ran in may close.
        os.setsid()
    ready = _Ready(arguments.ready_fd)
    inherited = None
    if arguments.lock_fd is not None:
        inherited = Inherited(arguments.lock_fd, tuple(arguments.socket_fd))
    try:
        run(home, arguments.listen, ready, inherited)
    except MaestroError as error:
        ready.failed(error)
        sys.exit(error.exit_code)


def run(home: homes.Home, listen: str | None, ready: _Ready, inherited: Inherited | None) -> None:
    homes.check_socket_path(home.socket)
    homes.prepare(home)
    lock = inherited.lock if inherited else lifecycle.take_lock(home.daemon_lock)
    if lock is None:
        ready.succeeded()
        return
    os.set_inheritable(lock, False)
    # Everything heavy comes after the lock: of two daemons that start at once, one must end quickly. And while it is
    # loaded nothing is garbage: to look for some again and again takes a sixth of the start.
    gc.disable()
    import structlog

    from maestro.ledger import database
    from maestro.ledger.journal import Journal
    from maestro.server import log

    log.configure(home.log)
    _log = structlog.get_logger("daemon")
    url = os.environ.get("MAESTRO_DATABASE_URL") or database.sqlite_url(home.database)
    engine = database.open_database(url)
    journal = Journal(engine, _host_id(home), lambda: time.time_ns() // 1_000_000)
    journal.forget_old_answers()
    sockets = _sockets(home, listen, inherited)
    ownership = Ownership(home, lock)
    spare = [os.dup(listening.fileno()) for listening in sockets]
    _log.info("started", pid=os.getpid(), version=__version__, listen=listen, inherited=bool(inherited))
    try:
        become = asyncio.run(_serve(home, journal, sockets, listen, ready, ownership))
    finally:
        engine.dispose()
    lost = ownership.lost()
    if lost in {"", "socket"}:
        # In any other case the log's folder is not ours to write to.
        restart = become is not None and not lost
        _log.info("stopped", pid=os.getpid(), version=__version__, restart=restart, lost=lost)
    if lost:
        # All that stands at our paths now is another daemon's.
        return
    if become is not None:
        _become(become, home, listen, lock, spare)
    _remove(home.socket)
    _remove(home.daemon_record)


async def _serve(
    home: homes.Home,
    journal: object,
    sockets: list[socket.socket],
    listen: str | None,
    ready: _Ready,
    ownership: Ownership,
) -> str | None:
    """Serve until told to stop, or until the home is lost. The interpreter to go on with, when told to restart."""
    import uvicorn

    from maestro.fleet.door import FOLDER, open_door
    from maestro.ledger.journal import Journal
    from maestro.server.app import build
    from maestro.server.connections import PeerCheckedProtocol
    from maestro.server.wakeups import Wakeups

    assert isinstance(journal, Journal)
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    wakeups = Wakeups(loop)
    journal.after_commit(wakeups.ring)
    become: list[str] = []

    def stop() -> None:
        wakeups.close()
        stopping.set()

    def restart(python: str | None) -> None:
        become.append(python or sys.executable)
        stop()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            # What became of the sessions while there was no daemon is known before the first question.
            await application.crew.settle()
            await application.spool.read()
            await application.outbox.recover()
            # Whatever a full disk can refuse comes before the first request is taken.
            open_door(home.socket, home.path(FOLDER))
            _write_record(home, listen)
            await super().startup(sockets)
            await application.crew.listen_to_spools()
            self.server_state.default_headers = self.config.encoded_headers
            ready.succeeded()

        async def main_loop(self) -> None:
            # uvicorn looks ten times a second whether to stop; we are told, and an idle daemon sleeps.
            losing = asyncio.create_task(ownership.until_lost())
            losing.add_done_callback(lambda _: stop())
            await stopping.wait()
            losing.cancel()

        def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - uvicorn's signature
            loop.call_soon_threadsafe(stop)

    application = build(journal, wakeups, _human_token(home), home, stop, restart)
    gc.freeze()
    gc.enable()
    config = uvicorn.Config(
        application.asgi,
        http=PeerCheckedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        date_header=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_FINISH_SECONDS,
    )
    try:
        await Server(config).serve(sockets)
    finally:
        await application.outbox.close()
        await application.lookout.close()
        await application.crew.close()
    return become[-1] if become else None


def _sockets(home: homes.Home, listen: str | None, inherited: Inherited | None) -> list[socket.socket]:
    if inherited:
        kept = [socket.socket(fileno=descriptor) for descriptor in inherited.sockets]
        for listening in kept:
            listening.set_inheritable(False)
        return kept
    # We hold the lock, so whatever stands here is a dead daemon's.
    _remove(home.socket)
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    local.bind(home.socket)
    os.chmod(home.socket, 0o600)
    local.listen(_BACKLOG)
    if not listen:
        return [local]
    return [local, _tcp_socket(listen)]


def _tcp_socket(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    if host not in {"127.0.0.1", "localhost", "[::1]"} or not port.isdigit():
        raise InvalidInput(
            f"The daemon does not listen on “{listen}”.",
            hint="Use 127.0.0.1:PORT; reach it from another machine by an SSH tunnel.",
        )
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        return socket.create_server(
            (address, int(port)),
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            backlog=_BACKLOG,
        )
    except OSError as error:
        raise InvalidInput(
            f"The daemon cannot listen on {listen}: {error.strerror}.", hint="Choose another port."
        ) from error


def _become(python: str, home: homes.Home, listen: str | None, lock: int, sockets: list[int]) -> NoReturn:
    """Go on as the Maestro that is installed now, under the same pid, with the lock and the open sockets."""
    arguments = [python, "-m", "maestro.server", "--home", home.root, "--lock-fd", str(lock)]
    for descriptor in (lock, *sockets):
        os.set_inheritable(descriptor, True)
    for descriptor in sockets:
        arguments += ["--socket-fd", str(descriptor)]
    if listen:
        arguments += ["--listen", listen]
    os.umask(processes.umask_of_user())  # which its next self must find again
    os.execv(python, arguments)  # noqa: S606 - the interpreter that the owner of this daemon named


def _write_record(home: homes.Home, listen: str | None) -> None:
    record = {
        "pid": os.getpid(),
        "started": processes.start_time(os.getpid()),
        "boot": processes.boot_id(),
        "version": __version__,
        "listen": listen,
        "since": int(time.time() * 1000),
    }
    write_atomically(home.daemon_record, json.dumps(record).encode())


def _host_id(home: homes.Home) -> str:
    return _kept_word(home.host_id, lambda: new_id("host"))


def _human_token(home: homes.Home) -> str:
    return _kept_word(home.token, lambda: f"mhu_{secrets.token_urlsafe(32)}")


def _kept_word(path: str, make: object) -> str:
    """The word in this file, made when there is none."""
    assert callable(make)
    try:
        with open(path, encoding="ascii") as file:
            word = file.read().strip()
    except FileNotFoundError:
        word = ""
    if not word:
        word = str(make())
        write_atomically(path, word.encode() + b"\n")
    return word


class _Ready:
    """Tells the command that started us how it went, over the pipe that it waits on."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def succeeded(self) -> None:
        self._tell({"ready": os.getpid()})

    def failed(self, error: MaestroError) -> None:
        self._tell(error.to_wire())

    def _tell(self, told: dict[str, object]) -> None:
        if self._descriptor is None:
            return
        try:
            os.write(self._descriptor, json.dumps(told).encode() + b"\n")
        except BrokenPipeError:
            # It no longer waits; the daemon lives on.
            pass
        os.close(self._descriptor)
        self._descriptor = None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m maestro.server")
    parser.add_argument("--home", required=True)
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--listen")
    parser.add_argument("--lock-fd", type=int)
    parser.add_argument("--socket-fd", type=int, action="append", default=[])
    return parser.parse_args()
