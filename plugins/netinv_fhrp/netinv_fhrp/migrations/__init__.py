"""The Alembic branch `fhrp`; written with `netinv revision fhrp -m …`."""
