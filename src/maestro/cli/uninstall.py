"""`maestro uninstall claude|codex|gemini`: our hooks out of an agent's own settings; the rest as it was."""

from __future__ import annotations

from maestro.cli.install import change, describe_place
from maestro.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    describe_place(parser)
    parser.set_defaults(run=_uninstall)


def _uninstall(arguments: Namespace) -> None:
    change(arguments, remove=True)
