"""Custom fields: definitions, values and filters."""
