"""Review rules as a resource: which objects and fields need how many approvals, from members of which groups."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.resource import Resource, content_type_list, to_many
from netinv_core.tasks.queue import notify_worker
from netinv_extras.change_requests.models import (
    MATCH_RULES,
    ReviewRule,
    required_table,
    rule_groups,
    rule_types,
)
from netinv_extras.change_requests.proposals import is_offered

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

BYPASS = "bypass"
NOT_NAMES = "A list of names of fields is required."
NOT_A_FIELD = "None of the models has a field {!r} that can be written."
NOT_LOOKUPS = "An object of field lookups, or a list of them, is required."
OF_A_USER = "A rule holds for every user: $user cannot be part of it."
WRONG = "Invalid constraints for {}: {}"


def _is_proposable(registry: Registry, label: str) -> bool:
    """True for models whose objects change requests may change, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or is_offered(endpoint)


review_rules = Resource(
    ReviewRule,
    "review-rules",
    brief=["name", "enabled"],
    search=["name", "description"],
    fields=[
        content_type_list("content_types", rule_types, required=True, allowed=_is_proposable),
        to_many("groups", rule_groups, "auth.group", default=[], brief_name="name", plain=True),
    ],
    filters=[
        filters.related("group_id", "groups", by=()),
        filters.related("group", "groups", by="name", ids=False),
    ],
    actions=[BYPASS],
    configuration=True,
    example={"content_types": ["extras.secretsgroup"], "constraints": {"name": "Only an example"}},
    exempt_by_name_only=True,
    presentation=Presentation(
        empty="Add one to have changes of certain objects approved by others before they are made.",
        columns=["name", "content_types", "approvals", "groups", "enabled"],
        fieldsets=[
            ("Rule", ["name", "description", "enabled"]),
            ("Objects and fields", ["content_types", "constraints", "field_names"]),
            ("Approvals", ["approvals", "groups", "limited"]),
        ],
    ),
)


@review_rules.prepare
def note_groups(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Notes which rules are limited to groups, so that one whose groups are deleted does not open to everyone."""
    for draft in drafts:
        if "groups" in draft.many:
            draft["limited"] = bool(draft.many["groups"])


@review_rules.rule
def constraints_make_sense(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Checks that constraints are filters of every model of the rule, and that its fields are fields of one."""
    models = _models_of(uow, drafts)
    for draft in drafts:
        constraints, names = draft["constraints"], draft["field_names"]
        options = constraints if isinstance(constraints, list) else [constraints or {}]
        if not all(isinstance(option, dict) for option in options):
            draft.reject("constraints", NOT_LOOKUPS)
        elif permissions.with_user(constraints, uuid.UUID(int=0)) != constraints:
            draft.reject("constraints", OF_A_USER)
        elif constraints:
            faults = {model.label: permissions.constraint_error(uow, model, constraints) for model in models[draft.id]}
            texts = [WRONG.format(label, fault) for label, fault in sorted(faults.items()) if fault is not None]
            draft.reject("constraints", *texts[:10]) if texts else None
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            draft.reject("field_names", NOT_NAMES)
        else:
            known = {name for model in models[draft.id] for name in model.writable}
            unknown = [name for name in names or () if name.partition(".")[0] not in known]
            if unknown and models[draft.id]:
                draft.reject("field_names", *(NOT_A_FIELD.format(name[:100]) for name in unknown[:10]))


def _models_of(uow: UnitOfWork, drafts: Sequence[Draft]) -> dict[Any, list[Endpoint]]:
    """The installed models of rules, by the ids of these; one statement, none where all of them were sent."""
    labels: dict[Any, list[str]] = {draft.id: list(draft.many.get("content_types", ())) for draft in drafts}
    stored = [draft.id for draft in drafts if "content_types" not in draft.many]
    if stored:
        clause = in_parameter(rule_types.c.owner_id)
        for key, label in uow.execute(sa.select(rule_types).where(clause), {"keys": stored}).tuples():
            labels[key].append(label)
    find = uow.registry.get
    return {key: [model for label in found if (model := find(label)) is not None] for key, found in labels.items()}


@review_rules.after_save
def match_change_requests(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Has the worker match the change requests in review again."""
    notify_worker(uow, MATCH_RULES)


@review_rules.before_delete
def forget_requirements(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Deletes what change requests need by the rules, and has the worker match those in review again."""
    notify_worker(uow, MATCH_RULES)
    clause = in_parameter(required_table.c.rule_id)
    uow.execute(sa.delete(required_table).where(clause), {"keys": [row["id"] for row in rows]})
