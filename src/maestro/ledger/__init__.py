"""Projects, tasks, sessions and events: everything that must not be lost. Used by the daemon only."""
