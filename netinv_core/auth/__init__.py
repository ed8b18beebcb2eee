"""Authentication and permission."""
