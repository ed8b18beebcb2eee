"""The Alembic branch `vpn`; written with `netinv revision vpn -m …`."""
