"""The daemon: REST on a Unix socket, started on first need; and the way to it."""
