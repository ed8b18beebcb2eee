"""Plans: documents of objects of several models, compared with the inventory and applied in one transaction."""
