"""The first program in a pane: it reads how the agent is started, and becomes the agent.

`python -I -S enter.py FILE`. So the agent's variables and words pass through no shell, no tmux command and no list of
processes, and nothing of the tmux server's own environment is left but what the terminal is. The file is removed
first: it holds the session's token, and one file starts one agent.
"""

import json
import os
import signal
import sys

_OF_THE_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")
_CANNOT_START = 126
_NOT_FOUND = 127


def main(path: str) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        os.unlink(path)
    except (OSError, ValueError) as error:
        return _complain(f"The session cannot be started: {path}: {error}", _CANNOT_START)
    argv, cwd = told["argv"], told["cwd"]
    env = {name: os.environ[name] for name in _OF_THE_TERMINAL if name in os.environ} | told["env"]
    # What was ignored before stays ignored after an exec: Python ignores SIGPIPE, a shell's background job SIGINT.
    for number in (
        signal.SIGPIPE,
        signal.SIGXFSZ,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGHUP,
        signal.SIGTERM,
    ):
        signal.signal(number, signal.SIG_DFL)
    print(end=told.get("modes", ""), flush=True)  # noqa: T201 - for the terminal itself
    try:
        os.chdir(cwd)
        # The shell's rule for a command that does not say where it is, with the session's PATH.
        os.execvpe(argv[0], argv, env)  # noqa: S606 - no shell is the point
    except FileNotFoundError as error:
        missing = f"There is no folder {cwd}" if error.filename == cwd else f"There is no program {argv[0]}"
        return _complain(f"{missing}, so the session was not started.", _NOT_FOUND)
    except OSError as error:
        return _complain(f"The session cannot be started: {argv[0]}: {error.strerror}", _CANNOT_START)


def _complain(words: str, code: int) -> int:
    print(f"maestro: {words}", file=sys.stderr)  # noqa: T201 - the pane is where it is read
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
