"""Custom fields in pages."""
