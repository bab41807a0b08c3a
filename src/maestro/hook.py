"""What an agent's own hooks run: `python -I -S hook.py AGENT EVENT [--wait]`.

Python compiles the file that it is given anew each time, and agents run this one at every turn: so all the rest is
in `carrier.py`, whose bytecode is kept.
"""

import posix
import sys
from _frozen_importlib_external import SourceFileLoader


def main() -> None:
    path = f"{__file__.rpartition('/')[0]}/carrier.py"
    carrier: dict[str, object] = {"__name__": "carrier", "__file__": path}
    # As an import does it, without the search for where the package is.
    exec(SourceFileLoader("carrier", path).get_code("carrier") or "", carrier)  # noqa: S102 - our own file
    carry = carrier["main"]
    assert callable(carry)
    carry(sys.argv[1:])


if __name__ == "__main__":
    try:
        main()
    finally:
        # Whatever happened, the agent goes on. And nothing is left to tidy: Python's own end costs a millisecond.
        posix._exit(0)  # noqa: SLF001 - the system's name for it
