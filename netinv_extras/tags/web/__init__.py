"""Pages of tags."""
