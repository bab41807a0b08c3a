"""`python -m maestro.server`: how `lifecycle.start` runs the daemon."""

import os

from maestro import cgroup
from maestro.server.daemon import main

cgroup.leave(os.getpid())  # the agent whose command or hook started it may end at any moment
main()
