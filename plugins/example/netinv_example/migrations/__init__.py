"""The Alembic branch `example`; written with `netinv revision example -m …`."""
