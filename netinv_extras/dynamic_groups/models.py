"""Dynamic groups: objects of one content type selected by a stored filter, or by set operations on other groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.auth.configuration_version import lock_configuration
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, Organizational, table_of
from netinv_core.models.columns import (
    CASCADE,
    Choices,
    Description,
    Name,
    Ref,
    Slug,
    choice,
    column,
    foreign_key,
    integer,
    json_document,
    required_text,
)
from netinv_core.read import filters
from netinv_core.resource import Resource, reverse_fk
from netinv_core.sql.union import Union, kept_union
from netinv_core.write.delete import in_use
from netinv_extras import saved_filters
from netinv_extras.content_types import has_pages, type_label
from netinv_extras.dynamic_groups import terms

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

UNION, INTERSECTION, DIFFERENCE = "union", "intersection", "difference"
OPERATORS = Choices.of((UNION, "Include (OR)"), (INTERSECTION, "Restrict (AND)"), (DIFFERENCE, "Exclude (NOT)"))
MAX_DESCENDANTS, MAX_DEPTH = 500, 16
FILTER_AND_CHILDREN = "A parent group may have either a filter or child groups, but not both."
TOO_LARGE = (
    f"A group may hold at most {MAX_DESCENDANTS} groups, those within them included, whose set operations are nested "
    f"at most {MAX_DEPTH} deep."
)


class DynamicGroup(Organizational):
    """A group of the objects of a content type that match a filter; if it has child groups, their combination.

    ``filter`` holds query parameters of the content type's list, for example ``{"status": ["active"]}``.
    """

    __tablename__ = "extras_dynamic_group"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]
    content_type: Mapped[str] = column(length=100, index=True)
    filter: Mapped[dict[str, Any]] = json_document(required=True)


class DynamicGroupMembership(Model):
    """The membership of a child group in a parent group.

    The children are applied by ascending ``weight``. ``operator`` is the set operation between the result so far and
    the child's members.
    """

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
    fields=[
        type_label("content_type", has_pages, offered=False),
        reverse_fk("children", "extras.dynamicgroupmembership", "parent_group_id"),
    ],
    filters=[filters.content_type("content_type", lambda endpoint, table, labels: table.c.content_type.in_(labels))],
    configuration=True,
    example={"content_type": "extras.secret", "filter": {}},
)


def membership_display_name(parent: str, operator: str, weight: int, group: str) -> str:
    """Returns the display name of a membership, such as ``Parent > Include (OR) (10) > Child``."""
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
class GroupDefinition:
    """A group for evaluation; ``children`` are pairs (operator, group id) in the order in which they are applied."""

    name: str
    content_type: str
    filter: Mapping[str, Any]
    children: Sequence[tuple[str, Any]]


Groups = Mapping[Any, GroupDefinition]
Children = Mapping[Any, Sequence[tuple[str, Any]]]


def groups_of(uow: UnitOfWork) -> Groups:
    """Returns all groups by id, cached per configuration version."""
    groups: Groups = uow.cached_config("dynamic groups", load)
    return groups


def load(uow: UnitOfWork) -> Groups:
    """Loads all groups by id. One statement."""
    group, membership = table_of(DynamicGroup), table_of(DynamicGroupMembership)

    def parts() -> list[Any]:
        group_columns = [group.c.id, group.c.name, group.c.content_type, group.c.filter]
        membership_columns = [
            membership.c.parent_group_id,
            membership.c.group_id,
            membership.c.operator,
            membership.c.weight,
            membership.c.id,
        ]
        return [(group_columns, group, sa.true()), (membership_columns, membership, sa.true())]

    union: Union = kept_union(uow.registry, "dynamic groups", parts)
    group_rows, memberships = union.rows(uow, {})
    names = {key: name for key, name, _, _ in group_rows}
    children: dict[Any, list[tuple[str, Any]]] = {}
    by_weight = sorted(memberships, key=lambda row: (row[3], names[row[1]], str(row[4])))
    for parent, child, operator, _, _ in by_weight:
        children.setdefault(parent, []).append((operator, child))
    return {
        key: GroupDefinition(name, label, parameters, children.get(key, ()))
        for key, name, label, parameters in group_rows
    }


@dynamic_groups.rule
def content_type_is_fixed(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The content type cannot change, because the filter and the group's memberships depend on it."""
    for draft in drafts:
        if not draft.new and draft.changed("content_type"):
            draft.reject("content_type", "Content type cannot be changed once created")


@dynamic_groups.rule
def filter_is_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A filter is an object of query parameters that the content type's list accepts; errors name the parameter."""
    changed = [draft for draft in drafts if draft.changed("filter")]
    for draft in changed:
        if not isinstance(draft["filter"], dict):
            draft.reject("filter", "Filter must be a dict")
        elif uow.registry.get(draft["content_type"]) is None:
            draft.reject("filter", f"The package of {draft['content_type']} is not installed")
    filtering = [draft for draft in changed if not draft.errors and draft["filter"]]
    filters_to_check = [(uow.registry[draft["content_type"]], draft["filter"]) for draft in filtering]
    errors = saved_filters.validation_errors(uow, filters_to_check)
    for draft, error in zip(filtering, errors, strict=True):
        for name, messages in (error.body if error is not None else {}).items():
            draft.reject(name, *messages)


@dynamic_groups.rule
def parents_have_no_filter(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A group with child groups cannot get a filter. Takes the configuration lock against concurrent memberships."""
    filtering = [draft for draft in drafts if not draft.new and draft.changed("filter") and draft["filter"]]
    if not filtering:
        return
    lock_configuration(uow)
    table = table_of(DynamicGroupMembership)
    parents = sa.select(table.c.parent_group_id).where(in_parameter(table.c.parent_group_id))
    parent_ids = set(uow.execute(parents.distinct(), {"keys": [draft.id for draft in filtering]}).scalars())
    for draft in filtering:
        if draft.id in parent_ids:
            draft.reject("filter", f"{FILTER_AND_CHILDREN} Remove its child groups and try again.")


@dynamic_groups.after_save
def longer_filters_are_bounded(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Bounds the values that the groups of a group with a longer filter compare one by one."""

    def length(draft: Draft, parameters: Any) -> int:
        return terms.filter_terms(uow, draft["content_type"], parameters)

    changed = [draft for draft in drafts if not draft.new and draft.changed("filter")]
    longer = [draft for draft in changed if length(draft, draft["filter"]) > length(draft, draft.before["filter"])]
    if not longer:
        return
    lock_configuration(uow)
    faults = terms.faults(uow, load(uow), [draft.id for draft in longer])
    for draft in longer:
        if draft.id in faults:
            draft.reject("filter", faults[draft.id])


@dynamic_groups.before_delete
def child_groups_are_protected(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """A child group can only be deleted together with its parents.

    :raises Conflict: naming the parents that the user may view
    """
    group, membership = table_of(DynamicGroup), table_of(DynamicGroupMembership)
    deleted_ids = {row["id"] for row in rows}
    parent_ids = sa.select(membership.c.parent_group_id).where(in_parameter(membership.c.group_id))
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(DynamicGroup), group)).label("visible")
    statement = sa.select(group.c.id, group.c.name, visible).where(group.c.id.in_(parent_ids)).order_by(group.c.name)
    parents = [row for row in uow.execute(statement, {"keys": list(deleted_ids)}) if row.id not in deleted_ids]
    if parents:
        raise in_use([(row.id, row.name) for row in parents if row.visible], len(parents))


@dynamic_group_memberships.rule
def groups_form_a_bounded_hierarchy(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Parent and child have the same content type, the parent has no filter, and there are no loops.

    Size and depth are bounded. Takes the configuration lock, so that concurrent writes cannot form a loop together.
    """
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
        error = _membership_error(groups, children, draft)
        if error is not None:
            draft.reject(*error)
        else:
            children[draft["parent_group_id"]].append((draft["operator"], draft["group_id"]))
    _reject_too_large(children, changed)


@dynamic_group_memberships.after_save
def new_members_are_bounded(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Bounds the values that the parent of a new member, and the groups that it is within, compare one by one."""
    parents = {draft.id: draft["parent_group_id"] for draft in drafts if draft.changed("group_id", "parent_group_id")}
    faults = terms.faults(uow, load(uow), parents.values()) if parents else {}
    for draft in drafts:
        if parents.get(draft.id) in faults:
            draft.reject("group", faults[parents[draft.id]])


def _membership_error(groups: Groups, children: Children, draft: Draft) -> tuple[str, str] | None:
    """Returns (field, message) if the group cannot be a child of the parent group, else ``None``."""
    group, parent = draft["group_id"], draft["parent_group_id"]
    for field, key in (("group", group), ("parent_group", parent)):
        if key not in groups:  # deleted concurrently
            return field, f"Related object not found using the provided ID: {key}"
    if groups[parent].filter:
        return "parent_group", f"{FILTER_AND_CHILDREN} Clear the parent filter and try again."
    if groups[group].content_type != groups[parent].content_type:
        return "group", "The group and its parent must be for the same content type"
    if group == parent:
        return "group", "Cannot add group as a child of itself"
    if parent in _descendants(children, group):
        return "group", "Cannot add a group within which the parent group is"
    return None


def _descendants(children: Children, start: Any) -> set[Any]:
    """Returns the ids of all groups below a group."""
    descendants: set[Any] = set()
    pending = [start]
    while pending:
        new = {child for _, child in children[pending.pop()]} - descendants
        descendants |= new
        pending += new
    return descendants


def _reject_too_large(children: Children, drafts: Sequence[Draft]) -> None:
    """Rejects memberships that make a group too large or too deep to evaluate.

    Each occurrence of a group counts, because each becomes a condition of its own in the SELECT.
    """
    too_large: set[Any] = set()
    extents: dict[Any, tuple[int, int]] = {}
    for key in _children_first(children):
        extents[key] = _extent(children[key], extents)
        size, depth = extents[key]
        if size > MAX_DESCENDANTS or depth > MAX_DEPTH:
            too_large |= _descendants(children, key) | {key}
    for draft in drafts:
        if not draft.errors and draft["parent_group_id"] in too_large:
            draft.reject("group", TOO_LARGE)


def _children_first(children: Children) -> Iterator[Any]:
    """Yields the groups in topological order: each one after its children. There are no loops."""
    parents: dict[Any, set[Any]] = {}
    for parent, memberships in children.items():
        for _, child in memberships:
            parents.setdefault(child, set()).add(parent)
    missing = {key: len({child for _, child in memberships}) for key, memberships in children.items()}
    ready = [key for key, count in missing.items() if not count]
    while ready:
        key = ready.pop()
        yield key
        for parent in parents.get(key, ()):
            missing[parent] -= 1
            if not missing[parent]:
                ready.append(parent)


def _extent(children: Sequence[tuple[str, Any]], extents: Mapping[Any, tuple[int, int]]) -> tuple[int, int]:
    """Returns (size, depth) of a group from those of its children.

    The size is the number of groups below it, the depth that of its condition: each change of operator adds a level.
    """
    size, depth, previous = 0, 0, None
    for operator, child in children:
        child_size, child_depth = extents[child]
        size += child_size + 1
        depth = max(depth + (operator != previous), child_depth + 1)
        previous = operator
    return size, depth
