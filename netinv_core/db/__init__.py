"""Database access: engines, dialect differences, locks, migrations."""
