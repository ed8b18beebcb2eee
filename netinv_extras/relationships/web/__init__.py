"""Pages of relationships."""
