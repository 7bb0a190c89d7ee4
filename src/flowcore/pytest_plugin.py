"""The pytest plugin: fixtures that run flows and hold their traces and diagrams against snapshots."""
