"""GraphQL: schema, executor and saved queries."""
