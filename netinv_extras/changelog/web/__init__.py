"""Pages of the change log."""
