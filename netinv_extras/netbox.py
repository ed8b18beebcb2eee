"""Mapping of NetBox's tags and custom fields: its tags have no content types, and its fields hold their choices."""

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
    """Returns the mapping of the models of NetBox's application ``extras``."""
    taggable = sorted(endpoint.label for endpoint in registry.endpoints.values() if issubclass(endpoint.model, Primary))

    def custom_field(dump: Dump, fields: Fields) -> Fields:
        """Maps a field: NetBox's name is the key of the values. Content types without custom fields are left out."""
        labels = [label for item in fields["content_types"] if (label := content_type(item))]
        labels = [label for label in labels if label in registry.endpoints]
        return {
            **fields,
            "type": _TYPES.get(fields["type"], fields["type"]),
            "slug": fields["name"],
            "label": fields.get("label") or fields["name"],
            "content_types": [label for label in labels if has_custom_fields(registry, label)],
        }

    return {
        "extras.tag": Source("extras.tag", fixed_values={"content_types": taggable}),
        "extras.taggeditem": Part("tags", owner=("content_type", "object_id"), value="tag", of="extras.tag"),
        FIELD: Source(FIELD, adapt=custom_field, drop=("choices",), deferred=("default",), needs=_choices, first=True),
        CHOICE: Source(CHOICE, by=("field_id", "value"), first=True),
    }


def _choices(dump: Dump) -> dict[str, dict[Any, Fields]]:
    """Returns an object for each choice of a selection field; its key is ``<key of the field>/<position>``."""
    choices: dict[Any, Fields] = {}
    for key, fields in dump.objects.get(FIELD, {}).items():
        values = fields.get("choices") or []
        for position, value in enumerate(json.loads(values) if isinstance(values, str) else values):
            choices[f"{key}/{position}"] = {"field": key, "value": value, "weight": position}
    return {CHOICE: choices} if choices else {}
