"""`python -m maestro.server`: how `lifecycle.start` runs the daemon."""

from maestro.server.daemon import main

main()
