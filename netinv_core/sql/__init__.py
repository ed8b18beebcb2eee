"""SQL of models: conditions of lookups, paths between models, and compiled SELECTs that read representations."""
