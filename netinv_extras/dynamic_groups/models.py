"""Dynamic groups: the objects of one model that a stored filter finds, or that other groups put together by set operations give."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.auth.identity import lock_configuration
from netinv_core.db.engine import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, Organizational, table_of
from netinv_core.models.columns import CASCADE, Choices, Description, Name, Ref, Slug, choice, column, foreign_key, integer, json_document, required_text
from netinv_core.read import filters, saved_filters
from netinv_core.read.union import Union
from netinv_core.resource import Resource, reverse_fk
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import in_use
from netinv_core.write.draft import Draft
from netinv_extras.content_types import has_pages, type_label

UNION, INTERSECTION, DIFFERENCE = "union", "intersection", "difference"
OPERATORS = Choices.of((UNION, "Include (OR)"), (INTERSECTION, "Restrict (AND)"), (DIFFERENCE, "Exclude (NOT)"))
LARGEST, DEEPEST = 500, 16
BOTH = "A parent group may have either a filter or child groups, but not both."
TOO_MUCH = f"A group may hold at most {LARGEST} groups, those within them included, whose set operations are nested at most {DEEPEST} deep."


class DynamicGroup(Organizational):
    """The objects of ``content_type`` that ``filter`` finds: query parameters of their list, by name. With child groups, what these give."""

    __tablename__ = "extras_dynamic_group"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]
    content_type: Mapped[str] = column(length=100, index=True)
    filter: Mapped[dict[str, Any]] = json_document(required=True)


class DynamicGroupMembership(Model):
    """A group within another: its members are added to what the others of lower ``weight`` gave, or taken from it, or shared with it."""

    __tablename__ = "extras_dynamic_group_membership"
    __table_args__ = (unique_set("group_id", "parent_group_id", "operator", "weight"),)

    group_id: Mapped[Ref] = foreign_key(DynamicGroup, on_delete=CASCADE)
    parent_group_id: Mapped[Ref] = foreign_key(DynamicGroup, on_delete=CASCADE)
    operator: Mapped[str] = choice(OPERATORS, 12, default=None, required=True, plain=True)
    weight: Mapped[int] = integer(0, 32767)


dynamic_groups = Resource(
    DynamicGroup,
    "dynamic-groups",
    title="dynamic group",
    brief=["name", "slug", "content_type"],
    order=["content_type", "name"],
    search=["name", "slug", "description", "content_type"],
    fields=[type_label("content_type", has_pages, offered=False), reverse_fk("children", "extras.dynamicgroupmembership", "parent_group_id")],
    filters=[filters.content_type("content_type", lambda endpoint, table, labels: table.c.content_type.in_(labels))],
    configuration=True,
    example={"content_type": "extras.secret", "filter": {}},
)


def membership_display_name(parent: str, operator: str, weight: int, group: str) -> str:
    """How a group within another is called."""
    return f"{parent} > {operator} ({weight}) > {group}"


dynamic_group_memberships = Resource(
    DynamicGroupMembership,
    "dynamic-group-memberships",
    title="dynamic group membership",
    display=(membership_display_name, "parent_group.name", "operator", "weight", "group.name"),
    brief=["group", "parent_group", "operator", "weight"],
    order=["parent_group.name", "weight", "group.name"],
    filters=[filters.one_of("operator", OPERATORS, multiple=False)],
    search=["operator", "group.name", "group.slug", "parent_group.name", "parent_group.slug"],
    configuration=True,
    recorded=False,
)


@dataclasses.dataclass(frozen=True)
class Group:
    """A group as it is evaluated: ``children`` are the operators and ids of the groups within it, in the order in which they are applied."""

    name: str
    content_type: str
    filter: Mapping[str, Any]
    children: Sequence[tuple[str, Any]]


Groups = Mapping[Any, Group]


def groups_of(uow: UnitOfWork) -> Groups:
    """Every group by its id: found once for a version of the configuration."""
    found: Groups = uow.cached_config("dynamic groups", load)
    return found


def load(uow: UnitOfWork) -> Groups:
    """Every group by its id; one statement."""
    group, membership = table_of(DynamicGroup), table_of(DynamicGroupMembership)

    def parts() -> list[Any]:
        links = [membership.c.parent_group_id, membership.c.group_id, membership.c.operator, membership.c.weight, membership.c.id]
        return [([group.c.id, group.c.name, group.c.content_type, group.c.filter], group, sa.true()), (links, membership, sa.true())]

    union: Union = uow.registry.union("dynamic groups", parts)
    rows, links = union.rows(uow, {})
    names = {key: name for key, name, _, _ in rows}
    children: dict[Any, list[tuple[str, Any]]] = {}
    for parent, child, operator, _, _ in sorted(links, key=lambda row: (row[3], names[row[1]], str(row[4]))):
        children.setdefault(parent, []).append((operator, child))
    return {key: Group(name, label, given, children.get(key, ())) for key, name, label, given in rows}


@dynamic_groups.rule
def the_content_type_stays(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A group is for one model, which its filter and its place among other groups depend on."""
    for draft in drafts:
        if not draft.new and draft.changed("content_type"):
            draft.reject("content_type", "Content type cannot be changed once created")


@dynamic_groups.rule
def filters_are_of_the_model(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A filter holds parameters that the list of the model has, with values that these take; what is wrong is said by parameter."""
    changed = [draft for draft in drafts if draft.changed("filter")]
    for draft in changed:
        if not isinstance(draft["filter"], dict):
            draft.reject("filter", "Filter must be a dict")
        elif uow.registry.get(draft["content_type"]) is None:
            draft.reject("filter", f"The package of {draft['content_type']} is not installed")
    given = [draft for draft in changed if not draft.errors and draft["filter"]]
    found = saved_filters.validation_errors(uow, [(uow.registry[draft["content_type"]], draft["filter"]) for draft in given])
    for draft, fault in zip(given, found, strict=True):
        for name, messages in (fault.body if fault is not None else {}).items():
            draft.reject(name, *messages)


@dynamic_groups.rule
def parents_have_no_filter(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A group with child groups gets no filter; who writes groups within groups at the same time waits."""
    filtering = [draft for draft in drafts if not draft.new and draft.changed("filter") and draft["filter"]]
    if not filtering:
        return
    lock_configuration(uow)
    table = table_of(DynamicGroupMembership)
    parents = sa.select(table.c.parent_group_id).where(in_parameter(uow.registry.dialect, table.c.parent_group_id)).distinct()
    found = set(uow.execute(parents, {"keys": [draft.id for draft in filtering]}).scalars())
    for draft in filtering:
        if draft.id in found:
            draft.reject("filter", f"{BOTH} Remove its child groups and try again.")


@dynamic_groups.before_delete
def groups_within_others_stay(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """A group goes only after those that it is part of, or with them.

    :raises Conflict: naming those that the user may view
    """
    group, membership = table_of(DynamicGroup), table_of(DynamicGroupMembership)
    going = {row["id"] for row in rows}
    holding = sa.select(membership.c.parent_group_id).where(in_parameter(uow.registry.dialect, membership.c.group_id))
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(DynamicGroup), group)).label("visible")
    statement = sa.select(group.c.id, group.c.name, visible).where(group.c.id.in_(holding)).order_by(group.c.name)
    parents = [row for row in uow.execute(statement, {"keys": list(going)}) if row.id not in going]
    if parents:
        raise in_use([(row.id, row.name) for row in parents if row.visible], len(parents))


@dynamic_group_memberships.rule
def groups_fit_into_each_other(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A group is within a group of the same model that has no filter, never within itself by whatever way, and not without end."""
    changed = [draft for draft in drafts if draft.changed("group_id", "parent_group_id", "operator", "weight")]
    if not changed:
        return
    lock_configuration(uow)
    groups = load(uow)
    children = {key: list(group.children) for key, group in groups.items()}
    for draft in changed:
        if not draft.new:
            children[draft.before["parent_group_id"]].remove((draft.before["operator"], draft.before["group_id"]))
    for draft in changed:
        fault = _misfit(groups, children, draft)
        if fault is not None:
            draft.reject(*fault)
        else:
            children[draft["parent_group_id"]].append((draft["operator"], draft["group_id"]))
    _reject_too_much(children, changed)


def _misfit(groups: Groups, children: Mapping[Any, Sequence[tuple[str, Any]]], draft: Draft) -> tuple[str, str] | None:
    """Why a group cannot be within another: the field and what is wrong with it."""
    group, parent = draft["group_id"], draft["parent_group_id"]
    for field, key in (("group", group), ("parent_group", parent)):
        if key not in groups:  # deleted at the same time
            return field, f"Related object not found using the provided ID: {key}"
    if groups[parent].filter:
        return "parent_group", f"{BOTH} Clear the parent filter and try again."
    if groups[group].content_type != groups[parent].content_type:
        return "group", "The group and its parent must be for the same content type"
    if group == parent:
        return "group", "Cannot add group as a child of itself"
    if parent in _below(children, group):
        return "group", "Cannot add a group within which the parent group is"
    return None


def _below(children: Mapping[Any, Sequence[tuple[str, Any]]], start: Any) -> set[Any]:
    found: set[Any] = set()
    waiting = [start]
    while waiting:
        new = {child for _, child in children[waiting.pop()]} - found
        found |= new
        waiting += new
    return found


def _reject_too_much(children: Mapping[Any, Sequence[tuple[str, Any]]], drafts: Sequence[Draft]) -> None:
    """Refuses what makes a group larger or deeper than can be evaluated: each occurrence of a group is a condition of its own."""
    sizes: dict[Any, tuple[int, int]] = {}
    above: dict[Any, set[Any]] = {}
    for parent, those in children.items():
        for _, child in those:
            above.setdefault(child, set()).add(parent)
    missing = {key: len({child for _, child in those}) for key, those in children.items()}
    ready = [key for key, count in missing.items() if not count]
    excessive: set[Any] = set()
    while ready:  # from the innermost outwards: without loops, each group comes after those within it
        key = ready.pop()
        sizes[key] = _extent(children[key], sizes)
        if sizes[key][0] > LARGEST or sizes[key][1] > DEEPEST:
            excessive |= _below(children, key) | {key}
        for parent in above.get(key, ()):
            missing[parent] -= 1
            if not missing[parent]:
                ready.append(parent)
    for draft in drafts:
        if not draft.errors and draft["parent_group_id"] in excessive:
            draft.reject("group", TOO_MUCH)


def _extent(children: Sequence[tuple[str, Any]], sizes: Mapping[Any, tuple[int, int]]) -> tuple[int, int]:
    """How many groups are within a group, and how deep its condition is nested, given the same of its children: a change of the operator is a level."""
    size, depth, former = 0, 0, None
    for operator, child in children:
        size += sizes[child][0] + 1
        depth = max(depth + (operator != former), sizes[child][1] + 1)
        former = operator
    return size, depth
