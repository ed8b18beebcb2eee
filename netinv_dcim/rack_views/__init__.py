"""Rack elevations as JSON and SVG."""
