"""What config contexts may be limited to: scopes, each contributed by the package whose objects it lists.

A scope is a member of every config context. A package says so with the hook ``netinv_context_scopes``; what several packages
say of one scope is put together: one has the objects listed, another has objects that lead to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.read import filters
from netinv_core.read import relations as paths
from netinv_core.read.plan import JoinedTable, Plan, Reader
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_extras.config_contexts.models import scoped


@dataclasses.dataclass(frozen=True)
class Scope:
    """A member of config contexts that lists objects of the model ``target`` (a label): the context is for what leads to one of them.

    The package that has the target says so; others name the scope alone, to add ``paths``.
    ``paths`` says how objects lead there, by the label of their model (``{"dcim.device": "site.region"}``); models that are named in
    it have a config context. Of a tree, what lies below is included. Objects that list the targets in a field of theirs lead to all of
    them; ``field`` names it, for every model that has it. ``by`` is the column that stands for a target in the context's list, in place of
    the nested object. With ``lenient``, objects that lead to none are not excluded. ``parameter`` names the filter,
    when that is not the name without its last letter; ``position`` orders the members.
    """

    name: str
    target: str = ""
    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field: str = ""
    by: str | None = None
    lenient: bool = False
    parameter: str = ""
    position: int = 1000

    def joined(self, other: Scope) -> Scope:
        """This scope with the ways that another package adds to it.

        :raises ValueError: when the other leads elsewhere, or names a way that is there
        """
        if (self.target and other.target) or self.paths.keys() & other.paths.keys():
            raise ValueError(f"two packages disagree on the config context scope {self.name!r}")
        return Scope(
            self.name,
            self.target or other.target,
            {**self.paths, **other.paths},
            self.field or other.field,
            self.by or other.by,
            self.lenient or other.lenient,
            self.parameter or other.parameter,
            min(self.position, other.position),
        )


def scopes(registry: Registry) -> list[Scope]:
    """Every scope whose objects are there, in the order of their positions."""
    found: dict[str, Scope] = {}
    for contributed in registry.hooks.netinv_context_scopes(registry=registry):
        for scope in contributed:
            found[scope.name] = found[scope.name].joined(scope) if scope.name in found else scope
    present = [scope for scope in found.values() if registry.get(scope.target) is not None]
    return sorted(present, key=lambda scope: (scope.position, scope.name))


@dataclasses.dataclass(eq=False, kw_only=True)
class ScopeList(fields.ToMany):
    """The objects that a context is limited to in one scope: those of all scopes are read in one statement."""

    scope: Scope

    @property
    def pairs(self) -> Any:
        return pairs(self.scope)

    def grouped(self, plan: Plan, place: JoinedTable, inner: Plan) -> Reader:
        return plan.load_to_many(place, inner)

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        wanted = [draft for draft in drafts if self.name in draft.many]
        if former := [draft.id for draft in wanted if not draft.new]:
            clause = in_parameter(uow.registry.dialect, scoped.c.owner_id)
            uow.write(sa.delete(scoped).where(scoped.c.scope == self.scope.name, clause), {"keys": former})
        rows = [{"owner_id": draft.id, "scope": self.scope.name, "target_id": key} for draft in wanted for key in draft.many[self.name]]
        if rows:
            uow.write(sa.insert(scoped), rows)


def pairs(scope: Scope) -> Any:
    """The contexts and their targets in one scope, as ``owner_id`` and ``target_id``."""
    return sa.select(scoped.c.owner_id, scoped.c.target_id).where(scoped.c.scope == scope.name).subquery()


def members(registry: Registry) -> list[FieldFactory]:
    """The fields of config contexts that list what they are limited to; what they hold comes after them."""

    def field(scope: Scope) -> FieldFactory:
        def make(registry: Registry, endpoint: Endpoint) -> fields.Field:
            return ScopeList(name=scope.name, table=scoped, to=scope.target, registry=registry, plain=True, by=scope.by, scope=scope)

        return FieldFactory(scope.name, make)

    return [*map(field, scopes(registry)), FieldFactory("data", lambda registry, endpoint: endpoint.fields.pop("data"))]


def relations(registry: Registry) -> dict[str, paths.Relation]:
    """The steps from a context to what it is limited to."""
    return {scope.name: paths.across(registry, scope.target, pairs(scope)) for scope in scopes(registry)}


def parameters(registry: Registry) -> Iterable[filters.Filter]:
    """The query parameters of config contexts for each scope: by id or natural key, and by id alone (``…_id``)."""
    for scope in scopes(registry):
        name = scope.parameter or scope.name[:-1]
        if scope.by is not None:
            yield filters.related(name, scope.name, by=scope.by, ids=False)
        else:
            yield filters.related(name, scope.name)
            yield filters.related(f"{name}_id", scope.name, by=())
