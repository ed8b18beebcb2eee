"""Locations of Nautobot 2.x by their types: regions, sites and locations here; what refers to them follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from netinv_core.importing.dump import Dump, Fields, RuleError, content_type

REGION, SITE, LOCATION, TYPE = "dcim.region", "dcim.site", "dcim.location", "dcim.locationtype"
SITE_TYPE_RULE = "site-type"
EQUIPMENT = frozenset({"dcim.device", "dcim.rack", "dcim.rackgroup", "dcim.powerpanel"})
NOT_KEPT = "its locations are regions or sites here"
BECOMES = "becomes"
Kinds = Mapping[Any, str]


def site_types(dump: Dump) -> set[Any]:
    """Returns the keys of the types whose locations become sites: those of the rule, else the topmost with equipment.

    When no type may have equipment, they are the topmost types that may have anything.

    :raises RuleError: when there is no type of a name
    """
    types: Mapping[Any, Fields] = dump.objects.get(TYPE, {})
    keys = {fields["name"]: key for key, fields in types.items()}
    if names := dump.take_rule(SITE_TYPE_RULE):
        if unknown := [name for name in names if name not in keys]:
            raise RuleError(f"there is no location type {unknown[0]}: there are {', '.join(sorted(keys))}")
        return {keys[name] for name in names}
    held = {key: {content_type(item) for item in fields.get("content_types") or ()} for key, fields in types.items()}
    fitting = {key for key, labels in held.items() if labels & EQUIPMENT} or {key for key in held if held[key]}
    return {key for key in fitting if not fitting & set(_ancestors(types, key))}


def _ancestors(rows: Mapping[Any, Fields], key: Any) -> list[Any]:
    """Returns the keys of what an object is below, the nearest first."""
    keys: list[Any] = []
    parent = rows.get(key, {}).get("parent")
    while parent in rows and parent not in keys:
        keys.append(parent)
        parent = rows[parent].get("parent")
    return keys


def _kinds(dump: Dump, sites: set[Any]) -> dict[Any, str]:
    """Returns the model that each location becomes."""
    rows = dump.objects[LOCATION]
    types = {key: (fields.get("location_type"), fields.get("parent")) for key, fields in rows.items()}
    kinds: dict[Any, str] = {}
    for key in types:
        path = [key]
        while (parent := types[path[-1]][1]) in types and parent not in kinds and parent not in path:
            path.append(parent)
        for member in reversed(path):
            above = kinds.get(types[member][1])
            below_a_site = above in (SITE, LOCATION)
            kinds[member] = LOCATION if below_a_site else SITE if types[member][0] in sites else REGION
    return kinds


def split(dump: Dump) -> None:
    """Makes regions and sites of locations, and gives all objects the site or location that they are at."""
    sites = site_types(dump)
    kinds = _kinds(dump, sites)
    _mark_types(dump, sites, kinds)
    _rename(dump, kinds)
    for key, fields in dump.objects[LOCATION].items():
        dump.set((LOCATION, key), **_placing_fields(dump, fields, kinds, kinds[key]))
    site_of = {key: _site_of(dump, key, kinds) for key in kinds}
    dump.move(LOCATION, {key: kind for key, kind in kinds.items() if kind != LOCATION})
    for (label, name), target in list(dump.references.items()):
        if target == LOCATION and label in dump.objects and name in ("location", "locations"):
            _relocate(dump, label, kinds, site_of)


def _mark_types(dump: Dump, sites: set[Any], kinds: Kinds) -> None:
    """Marks the types that no location here has."""
    types = dump.objects[TYPE]
    used = {fields.get("location_type") for key, fields in dump.objects[LOCATION].items() if kinds[key] == LOCATION}
    kept = {key for key in types if key in used or sites & set(_ancestors(types, key))}
    for key, fields in types.items():
        changes = {"parent": fields.get("parent") if fields.get("parent") in kept else None}
        dump.set((TYPE, key), **changes, **({} if key in kept else {BECOMES: NOT_KEPT}))


def _rename(dump: Dump, kinds: Kinds) -> None:
    """Adds the parent's name to names that occur twice where they are unique here: of regions, sites, top locations."""
    rows = dump.objects[LOCATION]
    names: dict[tuple[str, str], list[Any]] = {}
    for key, fields in rows.items():
        if kinds[key] != LOCATION or kinds.get(fields.get("parent")) == SITE:
            names.setdefault((kinds[key], fields["name"]), []).append(key)
    for (_, name), keys in names.items():
        for key in keys if len(keys) > 1 else ():
            parent = rows[key].get("parent")
            if parent in rows:
                dump.set((LOCATION, key), name=f"{name} ({rows[parent]['name']})")


def _placing_fields(dump: Dump, fields: Fields, kinds: Kinds, kind: str) -> dict[str, Any]:
    """Returns the fields that place an object of a kind: the region of a site, the site or parent of a location."""
    parent, type_ = fields.get("parent"), fields.get("location_type")
    if kind == REGION:
        return {"location_type": dump.name(TYPE, type_)}
    if kind == SITE:
        return {"region": parent, "parent": None, "location_type": dump.name(TYPE, type_)}
    at_site = kinds.get(parent) == SITE
    return {"site": parent if at_site else None, "parent": None if at_site else parent}


def _site_of(dump: Dump, key: Any, kinds: Kinds) -> Any:
    """Returns the key of the site that a location is, or is at."""
    rows = dump.objects[LOCATION]
    seen: set[Any] = set()
    while key not in seen and kinds.get(key) == LOCATION:
        seen.add(key)
        key = rows[key]["site"] or rows[key]["parent"]
    return key if kinds.get(key) == SITE else None


def _relocate(dump: Dump, label: str, kinds: Kinds, site_of: Mapping[Any, Any]) -> None:
    """Converts ``location`` and ``locations`` of the objects of a model.

    Objects have one place here, the first; further ones and regions become names. Config contexts have lists of all.
    """
    rows = dump.objects[label]
    scopes = label == "extras.configcontext"
    for key, fields in rows.items():
        places = list(dict.fromkeys([fields.get("location"), *(fields.get("locations") or ())]))
        places = [place for place in places if place in kinds]
        others = {name: value for name, value in fields.items() if name not in ("location", "locations")}
        if scopes:
            rows[key] = {**others, **_scopes(places, kinds)}
        elif places:
            rows[key] = {**others, **_place(dump, places, kinds, site_of)}


def _scopes(places: Iterable[Any], kinds: Kinds) -> dict[str, list[Any]]:
    fields = {"regions": REGION, "sites": SITE, "locations": LOCATION}
    return {field: [place for place in places if kinds[place] == kind] for field, kind in fields.items()}


def _place(dump: Dump, places: list[Any], kinds: Kinds, site_of: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the fields of an object at these places."""
    placeable = [place for place in places if kinds[place] != REGION]
    others = [place for place in places if place not in placeable[:1]]
    placed: dict[str, Any] = {}
    if placeable:
        placed = {"site": site_of[placeable[0]]}
        placed |= {"location": placeable[0]} if kinds[placeable[0]] == LOCATION else {}
    names = [dump.name(kinds[place], place) for place in others]
    return placed | ({"other_locations": names} if names else {})
