"""The Alembic branch `circuit_groups`; written with `netinv revision circuit_groups -m …`."""
