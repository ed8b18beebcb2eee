"""What NetBox's tags and custom fields become here: there a tag may be on anything, and the choices of a field stand in the field itself."""

from __future__ import annotations

import json
from typing import Any

from netinv_core.importing.dump import Dump, Fields, Part, Source, content_type
from netinv_core.models.base import Primary
from netinv_core.registry import Registry
from netinv_extras.custom_fields.models import has_custom_fields

FIELD, CHOICE = "extras.customfield", "extras.customfieldchoice"
_TYPES = {"multiselect": "multi-select", "longtext": "markdown"}


def models(registry: Registry) -> dict[str, Source | Part]:
    """The models of NetBox's application ``extras``."""
    taggable = sorted(endpoint.label for endpoint in registry.endpoints.values() if issubclass(endpoint.model, Primary))

    def custom_field(dump: Dump, fields: Fields) -> Fields:
        """There the name is the key of the values; a model that has no custom fields here is left out."""
        labels = [label for item in fields["content_types"] if (label := content_type(item)) and label in registry.endpoints]
        return {
            **fields,
            "type": _TYPES.get(fields["type"], fields["type"]),
            "slug": fields["name"],
            "label": fields.get("label") or fields["name"],
            "content_types": [label for label in labels if has_custom_fields(registry, label)],
        }

    return {
        "extras.tag": Source("extras.tag", given={"content_types": taggable}),
        "extras.taggeditem": Part("tags", owner=("content_type", "object_id"), value="tag", of="extras.tag"),
        FIELD: Source(FIELD, adapt=custom_field, drop=("choices",), deferred=("default",), needs=_choices, first=True),
        CHOICE: Source(CHOICE, by=("field_id", "value"), first=True),
    }


def _choices(dump: Dump) -> dict[str, dict[Any, Fields]]:
    """The choices that selection fields hold, each an object of its own."""
    found: dict[Any, Fields] = {}
    for key, fields in dump.objects.get(FIELD, {}).items():
        values = fields.get("choices") or []
        for place, value in enumerate(json.loads(values) if isinstance(values, str) else values):
            found[f"{key}/{place}"] = {"field": key, "value": value, "weight": place}
    return {CHOICE: found} if found else {}
