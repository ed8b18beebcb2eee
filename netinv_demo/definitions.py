"""Custom fields: defined before the objects that have values of them."""

from __future__ import annotations

from netinv_demo.devices import SUPPORT
from netinv_demo.loader import DemoLoader

# Slug → label, type, content types.
CUSTOM_FIELDS = {
    "headcount": ("Headcount", "integer", ["dcim.site"]),
    "support_level": ("Support level", "select", ["dcim.device"]),
    "support_until": ("Support until", "date", ["dcim.device"]),
    "monthly_cost": ("Monthly cost (EUR)", "integer", ["circuits.circuit"]),
    "backed_up": ("Backed up", "boolean", ["virtualization.virtualmachine"]),
}


def load_custom_fields(loader: DemoLoader) -> None:
    """Creates the custom fields and the choices of the selection."""
    ids = loader.create_named(
        "extras.customfield",
        [
            {"slug": slug, "label": label, "type": kind, "content_types": labels}
            for slug, (label, kind, labels) in CUSTOM_FIELDS.items()
        ],
        key="slug",
    )
    loader.create(
        "extras.customfieldchoice",
        [
            {"field": ids["support_level"], "value": value, "weight": 100 * number}
            for number, value in enumerate(SUPPORT, 1)
        ],
    )
