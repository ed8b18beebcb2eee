"""Crash tests: processes of an installation that are killed with SIGKILL at chosen points."""
