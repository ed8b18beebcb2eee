"""Scopes: fields of config contexts that limit a context to objects with a certain site, role, tag, and so on.

Packages contribute scopes with the hook ``netinv_context_scopes``. Contributions with the same name are combined: one
package has the model that is listed, others have objects with a path to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.packages import errors_of
from netinv_core.read import filters
from netinv_core.resource import FieldFactory
from netinv_core.sql import relations as read_relations
from netinv_extras.config_contexts.models import scoped

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


@dataclasses.dataclass(frozen=True)
class ContextScope:
    """A field of config contexts that lists objects; a context applies to objects with a path to one of them.

    For a tree such as regions, objects below a listed node are included. Example:
    ``Scope("regions", "dcim.region", {"dcim.device": "site.region"}, position=10)``.

    :ivar name: name of the field
    :ivar target: label of the listed model; empty in a contribution that only adds ``paths``
    :ivar paths: path of foreign keys to the target, by model label; these models have a ``config_context`` field
    :ivar field: name of a to-many field that lists targets, such as ``tags``; applies to every model that has it
    :ivar by: column that represents a target in the context's list instead of the nested object
    :ivar parameter: name of the query parameter; by default ``name`` without its last letter
    :ivar position: sort key of the fields
    """

    name: str
    target: str = ""
    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field: str = ""
    by: str | None = None
    parameter: str = ""
    position: int = 1000

    def combined(self, other: ContextScope) -> ContextScope:
        """Returns this scope with the contribution of another package.

        :raises ValueError: if both have a target, or a path for the same model
        """
        if (self.target and other.target) or self.paths.keys() & other.paths.keys():
            raise ValueError(f"two packages disagree on the config context scope {self.name!r}")
        return ContextScope(
            self.name,
            self.target or other.target,
            {**self.paths, **other.paths},
            self.field or other.field,
            self.by or other.by,
            self.parameter or other.parameter,
            min(self.position, other.position),
        )


def scopes(registry: Registry) -> list[ContextScope]:
    """Returns the scopes whose target model is installed, ordered by position."""
    combined: dict[str, ContextScope] = {}
    for package, contributed in registry.call_each("netinv_context_scopes", registry=registry):
        with errors_of(package):
            for scope in contributed:
                combined[scope.name] = combined[scope.name].combined(scope) if scope.name in combined else scope
    installed = [scope for scope in combined.values() if registry.get(scope.target) is not None]
    return sorted(installed, key=lambda scope: (scope.position, scope.name))


@dataclasses.dataclass(eq=False, kw_only=True)
class ScopeList(fields.ToMany):
    """List of the objects that a context is limited to in one scope.

    All scopes share one association table, and the lists of all scopes are read by one statement.
    """

    scope: ContextScope

    @property
    def pairs(self) -> Any:
        return pairs(self.scope)

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        changed = [draft for draft in drafts if self.name in draft.many]
        if updated_ids := [draft.id for draft in changed if not draft.new]:
            clause = in_parameter(scoped.c.owner_id)
            uow.execute(sa.delete(scoped).where(scoped.c.scope == self.scope.name, clause), {"keys": updated_ids})
        rows = [
            {"owner_id": draft.id, "scope": self.scope.name, "target_id": key}
            for draft in changed
            for key in draft.many[self.name]
        ]
        if rows:
            uow.execute(sa.insert(scoped), rows)


def pairs(scope: ContextScope) -> Any:
    """Returns a subquery of contexts (``owner_id``) and their targets (``target_id``) in one scope."""
    return sa.select(scoped.c.owner_id, scoped.c.target_id).where(scoped.c.scope == scope.name).subquery()


def scope_fields(registry: Registry) -> list[FieldFactory]:
    """Returns the scope fields of config contexts, followed by the ``data`` field."""

    def field(scope: ContextScope) -> FieldFactory:
        def make(registry: Registry, endpoint: Endpoint) -> Field:
            return ScopeList(
                name=scope.name,
                table=scoped,
                to=scope.target,
                registry=registry,
                plain=True,
                by=scope.by,
                scope=scope,
            )

        return FieldFactory(scope.name, make)

    return [*map(field, scopes(registry)), FieldFactory("data", lambda registry, endpoint: endpoint.fields.pop("data"))]


def relations(registry: Registry) -> dict[str, read_relations.Relation]:
    """Returns the relations from config contexts to the targets of each scope, by scope name."""
    return {scope.name: read_relations.across(registry, scope.target, pairs(scope)) for scope in scopes(registry)}


def parameters(registry: Registry) -> Iterable[filters.Filter]:
    """Yields the query parameters of config contexts: per scope by id or natural key, and by id alone (``…_id``)."""
    for scope in scopes(registry):
        name = scope.parameter or scope.name[:-1]
        if scope.by is not None:
            yield filters.related(name, scope.name, by=scope.by, ids=False)
        else:
            yield filters.related(name, scope.name)
            yield filters.related(f"{name}_id", scope.name, by=())
