"""The Alembic branch `contacts`; written with `netinv revision contacts -m …`."""
