"""Base classes of the models, their column types and constructors."""
