"""The Alembic branch `device_contexts`; written with `netinv revision device_contexts -m …`."""
