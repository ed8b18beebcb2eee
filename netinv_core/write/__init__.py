"""Writing: from bodies to rows."""
