"""From what somebody wants to the chain that does it: names, patterns, a model, a question."""
