"""`python -m maestro`: the command, where the console script is not on PATH."""

import sys

from maestro.cli.main import main

sys.exit(main())
