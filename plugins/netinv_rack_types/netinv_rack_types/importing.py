"""Import of NetBox dumps: rack types. The mapping of racks has their type."""

from __future__ import annotations

from netinv_core import Source

models = {"dcim.racktype": Source("rack_types.racktype", by=("slug",))}
