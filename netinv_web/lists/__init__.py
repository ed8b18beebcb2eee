"""Lists of resources: query, filters, columns, facets, saved views."""
