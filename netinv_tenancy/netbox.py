"""Import of NetBox dumps: the models of tenants and tenant groups."""

from __future__ import annotations

from netinv_core.importing.dump import Source

models = {
    "tenancy.tenantgroup": Source("tenancy.tenantgroup"),
    "tenancy.tenant": Source("tenancy.tenant"),
}
