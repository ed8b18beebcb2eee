"""Scopes of NetBox objects (a region, site group, site or location) as sites and locations."""

from __future__ import annotations

from netinv_core.importing.dump import Dump, Fields, content_type

SITE, LOCATION = "dcim.site", "dcim.location"


def convert_scope(dump: Dump, fields: Fields, prefix: str = "scope") -> Fields:
    """Converts the generic reference ``<prefix>_type``, ``<prefix>_id`` to a site and a location.

    Another scope becomes the text ``<prefix>``, ``<model>: <name>``.
    """
    kind, number = f"{prefix}_type", f"{prefix}_id"
    if kind not in fields:
        return fields
    converted = {name: value for name, value in fields.items() if name not in (kind, number)}
    scope, key = content_type(fields[kind]), fields[number]
    if scope == SITE:
        converted["site"] = key
    elif scope == LOCATION:
        converted |= {"location": key, "site": dump.get(LOCATION, key).get("site")}
    elif scope is not None:
        converted[prefix] = f"{scope}: {dump.name(scope, key)}"
    return converted
