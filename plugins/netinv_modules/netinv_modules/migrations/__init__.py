"""The Alembic branch `modules`; written with `netinv revision modules -m …`."""
