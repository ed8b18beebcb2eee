"""User-defined relationships between two content types."""
