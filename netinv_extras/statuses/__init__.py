"""Statuses: states of objects, stored as rows so that users can add further ones."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Conflict
from netinv_core.findings import OK, PROBLEM, WARNING, Finding
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational, table_of
from netinv_core.models.columns import PROTECT, color, column_info, foreign_key, required_text, slug, text
from netinv_core.resource import Resource, content_type_list
from netinv_core.write.slugs import slugify
from netinv_extras.content_types import used_types_stay
from netinv_extras.standard_statuses import STANDARD

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

DEFAULT_COLOR = "9e9e9e"


class Status(Organizational):
    """A state of objects, such as *Active*, and the content types that it applies to."""

    __tablename__ = "extras_status"

    name: Mapped[str] = required_text(50, unique=True)
    slug: Mapped[str] = slug(length=50)
    color: Mapped[str] = color()
    description: Mapped[str] = text(200, hidden=True, in_object_data=True)


status_types = content_type_table("extras_status_type", "extras_status")


def _has_status(registry: Registry, label: str) -> bool:
    """True for models with a status, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or "status_id" in endpoint.table.c


statuses = Resource(
    Status,
    "statuses",
    plural="statuses",
    brief=["name", "slug"],
    search=["name", "slug", "content_types"],
    fields=[content_type_list("content_types", status_types, required=True, allowed=_has_status)],
    configuration=True,
)


def status(*, initial: Sequence[str] = ("Active", "Planned")) -> MappedColumn[uuid.UUID]:
    """Column of a model with a status: ``status_id: Mapped[Ref] = status(initial=["Active", "Planned"])``.

    :param initial: names of the statuses that apply to the model once ``netinv migrate`` has created its table; forms
        for new objects begin with the first
    """
    return foreign_key(Status, on_delete=PROTECT, kind="status", initial=tuple(initial))


@dataclasses.dataclass(frozen=True)
class LackingStatuses:
    """Initial statuses that a database lacks: their names by label of the model, for models to which no status applies
    and for statuses that packages know by their slugs (``known``) and that are gone.
    """

    names: Mapping[str, Sequence[str]]
    known: Sequence[str]


def lacking(execute: Callable[..., Any], registry: Registry) -> LackingStatuses:
    """Returns the initial statuses that models need, and that are not there; two statements."""
    served = set(execute(sa.select(status_types.c.label).distinct()).scalars())
    present = set(execute(sa.select(table_of(Status).c.slug)).scalars())
    gone = known_slugs(registry) - present
    found = {
        label: [name for name in names if label not in served or slugify(name) in gone]
        for label, names in _initial_names(registry).items()
    }
    slugs = {slugify(name) for names in found.values() for name in names}
    return LackingStatuses({label: names for label, names in found.items() if names}, sorted(gone & slugs))


def seed(uow: UnitOfWork) -> None:
    """Gives their initial statuses to the models to which no status applies, and adds statuses that packages know by
    their slugs.

    Objects of such a model could not be created. Other models keep the statuses that users left them. A status is
    found by its slug and added if there is none.
    """
    initial = lacking(uow.execute, uow.registry).names
    if not initial:
        return
    table = table_of(Status)
    keys: dict[str, uuid.UUID] = {row.slug: row.id for row in uow.execute(sa.select(table.c.slug, table.c.id))}
    rows = []
    for name in sorted({name for names in initial.values() for name in names}):
        slug = slugify(name)
        if slug not in keys:
            color_code, description = STANDARD.get(name, (DEFAULT_COLOR, ""))
            keys[slug] = uuid.uuid4()
            rows.append({"id": keys[slug], "name": name, "slug": slug, "color": color_code, "description": description})
    if rows:
        uow.execute(sa.insert(table), rows)
    types = [{"owner_id": keys[slugify(name)], "label": label} for label, names in initial.items() for name in names]
    uow.execute(sa.insert(status_types), types)


def findings(connection: Connection, registry: Registry) -> Iterator[Finding]:
    """Checks that the statuses that models and packages need are there."""
    found, remedy = lacking(connection.execute, registry), "run `netinv migrate`, which adds their initial statuses"
    if found.known:
        yield Finding(
            "statuses", PROBLEM, f"packages need the statuses {', '.join(found.known)}, which are gone", remedy
        )
    elif found.names:
        message = f"no status applies to {', '.join(found.names)}: none can be created"
        yield Finding("statuses", WARNING, message, remedy)
    else:
        yield Finding("statuses", OK, "those that models and packages need are there")


def _initial_names(registry: Registry) -> dict[str, tuple[str, ...]]:
    """Returns the names of the initial statuses of each model with a status, by label."""
    return {
        label: column_info(endpoint.table.c.status_id).initial
        for label, endpoint in registry.endpoints.items()
        if "status_id" in endpoint.table.c
    }


def _used_by(registry: Registry, label: str) -> Any:
    """SELECT of the statuses that objects of a content type have."""
    endpoint = registry.get(label)
    if endpoint is None or "status_id" not in endpoint.table.c:
        return None
    used = endpoint.table.c.status_id
    return sa.select(used).where(in_parameter(used)).distinct()


statuses.rule(used_types_stay(_used_by))


@statuses.rule
def known_slugs_stay(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects another slug of a status that rules know by its slug: the service would no longer find it."""
    changed = [draft for draft in drafts if not draft.new and draft.changed("slug")]
    known = known_slugs(uow.registry) if changed else ()
    for draft in changed:
        if draft.before["slug"] in known:
            draft.reject("slug", f"The status {draft.before['slug']} has a meaning to the service: its slug stays.")


@statuses.before_delete
def known_statuses_stay(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Refuses the deletion of a status that rules know by its slug."""
    known = known_slugs(uow.registry)
    for row in rows:
        if row["slug"] in known:
            raise Conflict(f"Unable to delete object. The status {row['slug']} has a meaning to the service.")


def known_slugs(registry: Registry) -> frozenset[str]:
    """Returns the slugs of the statuses that packages look up by slug."""
    return frozenset(slug for slugs in registry.hooks.netinv_known_statuses(registry=registry) for slug in slugs)
