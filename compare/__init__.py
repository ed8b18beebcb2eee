"""Compares two services that speak the same REST API; see ``docs/comparing.md``."""
