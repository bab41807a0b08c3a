"""What ships for demos, plugin authors and end-to-end tests: a scripted coding agent."""
