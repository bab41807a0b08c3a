"""The vision document of a project: its goal, its principles, and the chapters that coordinators work off."""
