"""Representations in the shape and the API version of a request, and bodies of its version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.http import sparse_fields, standard_parameters, versions
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import dumps, single_value
from netinv_core.read import entity_tags
from netinv_core.sql.plans import plan_of

TAG_MEMBER = "_etag"

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


def shape_of(
    uow: RequestUnitOfWork, endpoint: Endpoint, omitted: frozenset[str] = frozenset()
) -> tuple[str, frozenset[str]]:
    """The shape that the query selects, and the fields to leave out: those ``omitted``, unless the query includes them,
    and those that it does not name in ``fields``.

    :raises Invalid: for an unknown name in ``include``, ``exclude`` or ``fields``
    """
    included = standard_parameters.check_included(uow, endpoint) if "include" in uow.query else frozenset()
    excluded = frozenset(filter(None, uow.query.get("exclude", ())))
    if excluded and endpoint.costly:
        standard_parameters.check_names("exclude", excluded, endpoint.costly)
    members = sparse_fields.requested_members(uow, endpoint) if sparse_fields.PARAMETER in uow.query else None
    if "brief" in uow.query and single_value(uow.query, "brief") not in ("", "0"):
        if members is not None:
            sparse_fields.check_brief(endpoint, members)
        return "brief", frozenset()
    if members is not None:
        return "full", (endpoint.costly & excluded) | sparse_fields.left_out(uow, endpoint, members, included)
    return "full", (endpoint.costly & excluded) | (endpoint.opt_in | omitted) - included


def list_representations(
    uow: RequestUnitOfWork, endpoint: Endpoint, keys: Sequence[Any], shape: str, without: frozenset[str]
) -> list[dict[str, Any]]:
    """The representations of objects in a list, in a shape and the version of the request; with ``?include=etag`` each
    has its entity tag.
    """
    former = versions.former_listing(endpoint, uow.version) if shape == "full" else None
    tagged = entity_tags.INCLUDED in uow.query.get("include", ())
    shows_revision = tagged and former is None and has_revision(endpoint, shape, without)
    # Read before the representations: what changes in between makes the tag too old, never too new.
    revisions = entity_tags.revisions(uow, endpoint, keys) if tagged and not shows_revision else {}
    newest = former(uow, endpoint, keys) if former else plan_of(endpoint, shape, without).represent(uow, keys)
    results = downgrade_representation(uow, endpoint, newest) if shape == "full" and former is None else newest
    if sparse_fields.PARAMETER in uow.query:
        results = sparse(uow, endpoint, results)
    if not tagged:
        return results
    if shows_revision:
        revisions = {item["id"]: entity_tags.revision_of(endpoint, item) for item in newest}
    ids = [_key(endpoint, item) for item in newest]
    return [with_tag(item, revisions.get(key, "")) for key, item in zip(ids, results, strict=True)]


def has_revision(endpoint: Endpoint, shape: str, without: frozenset[str]) -> bool:
    """True if the revision of an object can be told from its representation in this shape, without these fields."""
    return shape == "full" and (entity_tags.has_time(endpoint) or without <= endpoint.opt_in | endpoint.costly)


def sparse(uow: RequestUnitOfWork, endpoint: Endpoint, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Representations, limited to the members that the query names in ``fields`` and ``include``."""
    members = sparse_fields.requested_members(uow, endpoint)
    if members is None:
        return items
    included = dict.fromkeys(endpoint.fields.keys() & uow.query.get("include", ()))
    return [sparse_fields.pick_members(item, {**included, **members}) for item in items]


def _key(endpoint: Endpoint, item: Mapping[str, Any]) -> Any:
    return item["id"] if isinstance(item["id"], endpoint.key_type) else endpoint.parse_key(str(item["id"]))


def with_tag(item: dict[str, Any], revision: str) -> dict[str, Any]:
    """A representation with its entity tag as the member ``_etag``."""
    return {**item, TAG_MEMBER: entity_tags.tag_of(revision, dumps(item))}


def downgrade_representation(
    uow: RequestUnitOfWork, endpoint: Endpoint, representations: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Representations, converted to the version of the request, without fields that the reference API does not have
    unless the query names them.
    """
    own = {name for name in endpoint.opt_in if endpoint.fields[name].own}
    if own:
        named = {*uow.query.get("include", ()), *",".join(uow.query.get("fields", ())).split(",")}
        hidden = own - named
        representations = [{n: value for n, value in item.items() if n not in hidden} for item in representations]
    if endpoint.resource.versions:
        representations = versions.downgrade_all(endpoint, uow.version, representations)
    if uow.version == versions.NEWEST:
        return representations
    downgrades = {field.name: field.downgrade(uow, uow.version) for field in endpoint.versioned_fields}
    renderings = {name: render for name, render in downgrades.items() if render is not None}
    return [_with(renderings, item) for item in representations] if renderings else representations


def upgrade_bodies(uow: RequestUnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> list[Any]:
    """Bodies, converted from the version of the request to the newest one (``new``: for objects to be created)."""
    upgraded = [versions.upgrade(endpoint, uow.version, item, new=new) for item in bodies]
    if uow.version == versions.NEWEST:
        return upgraded
    upgrades = {field.name: field.upgrade(uow, uow.version) for field in endpoint.versioned_fields}
    readings = {name: read for name, read in upgrades.items() if read is not None}
    return [_with(readings, item) if isinstance(item, dict) else item for item in upgraded] if readings else upgraded


def _with(functions: Mapping[str, Callable[[Any], Any]], members: dict[str, Any]) -> dict[str, Any]:
    return {name: functions[name](value) if name in functions else value for name, value in members.items()}
