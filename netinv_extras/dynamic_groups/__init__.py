"""Dynamic groups: saved filters and their members."""
