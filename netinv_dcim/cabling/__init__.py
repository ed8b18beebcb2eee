"""Cables, cable paths and connections."""
