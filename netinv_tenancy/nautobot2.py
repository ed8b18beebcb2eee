"""Differences of Nautobot 2.x and 3.x in the application ``tenancy``: names of fields."""

from __future__ import annotations

from netinv_core.importing.dump import Declaration, Source

models: dict[str, Declaration] = {"tenancy.tenant": Source("tenancy.tenant", rename={"tenant_group": "group"})}
