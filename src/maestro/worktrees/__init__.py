"""A branch and a checkout of its own for whoever works on a project beside others, by git."""
