"""Pages of notes."""
