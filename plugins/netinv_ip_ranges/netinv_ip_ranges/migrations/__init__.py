"""The Alembic branch `ip_ranges`; written with `netinv revision ip_ranges -m …`."""
