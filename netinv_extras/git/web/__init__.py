"""Pages of Git repositories."""
