"""Pages of config contexts."""
