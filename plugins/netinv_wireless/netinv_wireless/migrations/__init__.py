"""The Alembic branch `wireless`; written with `netinv revision wireless -m …`."""
