"""Pages of GraphQL."""
