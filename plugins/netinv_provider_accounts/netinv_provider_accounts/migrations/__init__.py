"""The Alembic branch `provider_accounts`; written with `netinv revision provider_accounts -m …`."""
