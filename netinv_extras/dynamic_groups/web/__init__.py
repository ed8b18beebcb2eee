"""Pages of dynamic groups."""
