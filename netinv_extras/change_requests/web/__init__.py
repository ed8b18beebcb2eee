"""Pages of change requests."""
