"""Runs of agents without a terminal: one by `delegate`, many by `dispatch`."""
