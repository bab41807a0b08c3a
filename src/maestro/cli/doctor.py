"""`maestro doctor`: what this machine has and lacks."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.set_defaults(run=_doctor)


def _doctor(arguments: Namespace) -> int:
    from maestro.server.diagnosis import examine

    findings = examine(os.environ)
    if wants_json(arguments):
        render.print_json([finding._asdict() for finding in findings])
    else:
        render.table(("check", "state", "found", "remedy"), findings, empty="")
    return 1 if any(finding.state == "fail" for finding in findings) else 0
