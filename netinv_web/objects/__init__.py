"""Pages of objects: facts, panels, tabs."""
