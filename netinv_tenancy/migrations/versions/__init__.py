"""Revisions."""
