"""Outgoing network connections."""
