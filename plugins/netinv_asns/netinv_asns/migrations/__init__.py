"""The Alembic branch `asns`; written with `netinv revision asns -m …`."""
