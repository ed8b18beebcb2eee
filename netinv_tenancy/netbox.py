"""What NetBox's tenants and their groups become here."""

from __future__ import annotations

from netinv_core.importing.dump import Source

models = {
    "tenancy.tenantgroup": Source("tenancy.tenantgroup"),
    "tenancy.tenant": Source("tenancy.tenant"),
}
