"""From what somebody wants to the chain that does it: its name, an issue's id, the words, a model, a question."""
