"""Pages of custom links and export templates."""
