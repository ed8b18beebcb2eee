"""Change requests: changes made aside, seen as if they were made, and merged in one transaction."""
