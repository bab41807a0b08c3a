"""Chains and commands as data: those of the package, then the user's, then the project's; checked when they are read."""
