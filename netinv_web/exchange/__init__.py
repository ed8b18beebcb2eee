"""Import pages."""
