"""The Alembic branch `rack_types`; written with `netinv revision rack_types -m …`."""
