"""The scripted agent's signals, its one place to wait, and the commands that it runs."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from types import FrameType, TracebackType
from typing import IO, TYPE_CHECKING, Self

from maestro.testing.scripted_agent.effects import Outcome

if TYPE_CHECKING:
    import subprocess

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
COMMAND_NOT_FOUND = 127
COMMAND_NOT_EXECUTABLE = 126


class Ended(Exception):
    """The agent was told to end, with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Wakeups:
    """Turns signals into returns of `wait`, so that nothing is ever interrupted half-way."""

    def __enter__(self) -> Self:
        self._received, self._sender = os.pipe()
        os.set_blocking(self._received, False)
        os.set_blocking(self._sender, False)
        self._selector = selectors.SelectSelector()
        self._selector.register(self._received, selectors.EVENT_READ)
        self._previous = {}
        heeded = [number for number in ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        for number in (*heeded, signal.SIGCHLD, signal.SIGWINCH):
            self._previous[number] = signal.signal(number, _noticed)
        self._previous_sender = signal.set_wakeup_fd(self._sender, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._previous_sender)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._selector.close()
        os.close(self._received)
        os.close(self._sender)

    def watch(self, descriptor: int) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ)

    def unwatch(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)

    def wait(self, seconds: float | None) -> bool:
        """Whether the watched descriptor can be read; returns too when a signal comes or time is up."""
        ready = {key.fd for key, _ in self._selector.select(seconds)}
        if self._received in ready:
            ready.discard(self._received)
            with contextlib.suppress(BlockingIOError):
                for number in os.read(self._received, 4096):
                    if number in ENDING_SIGNALS:
                        raise Ended(128 + number)
        return bool(ready)


def _noticed(_number: int, _frame: FrameType | None) -> None:
    """A handler must exist for the wake-up to be sent; `wait` does what is to be done."""


class Child:
    """A command that runs beside the agent; its output goes to files, so only its end is awaited."""

    def __init__(self, argv: tuple[str, ...], given: bytes | None = None) -> None:
        import subprocess
        import tempfile

        self._stdin: IO[bytes] | None = None
        if given is not None:
            self._stdin = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
            self._stdin.write(given)
            self._stdin.seek(0)
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._process: subprocess.Popen[bytes] | None = None
        self._exit_code: int | None = None
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL if self._stdin is None else self._stdin,
                stdout=self._stdout,
                stderr=self._stderr,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:  # ValueError: a word that no command line can hold
            is_missing = isinstance(fault, FileNotFoundError)
            self._exit_code = COMMAND_NOT_FOUND if is_missing else COMMAND_NOT_EXECUTABLE
            self._stderr.write(f"{argv[0]}: {fault}\n".encode("utf-8", "replace"))

    def ended(self) -> bool:
        if self._exit_code is None and self._process is not None:
            self._exit_code = self._process.poll()
        return self._exit_code is not None

    def wait(self, seconds: float) -> None:
        """Until it ends, but no longer than this."""
        import subprocess

        if self._process is not None and not self.ended():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._exit_code = self._process.wait(seconds)

    def outcome(self) -> Outcome:
        assert self._exit_code is not None
        return Outcome(self._exit_code, _content(self._stdout), _content(self._stderr))

    def close(self) -> None:
        """Nothing of the command is left running, in its group either."""
        if self._process is not None and not self.ended():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for file in (self._stdin, self._stdout, self._stderr):
            if file is not None:
                file.close()


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
