"""A package that does not load."""

raise ImportError("no module named tomorrow")
