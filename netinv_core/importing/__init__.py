"""Importer for dumps of other services."""
