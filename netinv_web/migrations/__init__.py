"""The Alembic branch of this package."""
