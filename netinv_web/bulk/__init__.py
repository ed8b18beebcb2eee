"""Changes of many objects at once, each with a preview."""
