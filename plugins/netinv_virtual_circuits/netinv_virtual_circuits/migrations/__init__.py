"""The Alembic branch `virtual_circuits`; written with `netinv revision virtual_circuits -m …`."""
