"""Validation rules as a resource: what objects of a content type must match, or which of their fields are unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped

from netinv_core.models.base import ChangeLogged
from netinv_core.models.columns import Choices, boolean, choice, column, json_document, required_text, text
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.resource import Resource
from netinv_core.sql.lookups import max_terms, python_type
from netinv_extras.content_types import has_pages, type_label
from netinv_extras.validation_rules import conditions

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

LABEL = "extras.validationrule"
REFUSE, WARN = "refuse", "warn"
SEVERITIES = Choices.of((REFUSE, "Refuse"), (WARN, "Warn"))
CONDITIONS = ("applies_to", "requires")
MAX_FIELDS = 5  # of a unique set
ONE_OF_TWO = "Give either filters that objects must match, or fields that are unique together."
NOT_NAMES = f"A list of 1 to {MAX_FIELDS} names of fields is required."
NOT_A_COLUMN = "{!r} is no field with a single value."
NOT_A_FIELD = "The content type has no such field that can be written."
NOT_INSTALLED = "The package of {} is not installed."
TYPE_IS_FIXED = "The content type of a rule stays as it is: add another rule."
TOO_MANY = "The rule compares more than {} values one by one (netinv.max_compared_values)."


class ValidationRule(ChangeLogged):
    """A rule for the objects of a content type that match ``applies_to``: they must match ``requires``, or have other
    values than each other in the fields ``unique_together``, in which null and blank are none.

    ``message`` and ``field_name`` say why, and where, a write that breaks it is refused or warned of (``severity``).
    """

    __tablename__ = "extras_validation_rule"

    name: Mapped[str] = required_text(100, unique=True)
    description: Mapped[str] = text(200)
    content_type: Mapped[str] = column(length=100, index=True)
    enabled: Mapped[bool] = boolean(True, "Writes are judged by the rule")
    severity: Mapped[str] = choice(
        SEVERITIES, default=REFUSE, help="Whether a write that breaks the rule is refused, or answered with a warning"
    )
    applies_to: Mapped[Any | None] = json_document("The objects meant, as filters of their list; all without")
    requires: Mapped[Any | None] = json_document("What they must match, as filters of their list")
    unique_together: Mapped[list[Any] | None] = json_document("Fields whose values no two of them may share")
    message: Mapped[str] = text(200, "What a refused write is told, besides the name of the rule")
    field_name: Mapped[str] = text(100, "The field that the message is shown at", label="Shown at")


validation_rules = Resource(
    ValidationRule,
    "validation-rules",
    brief=["name", "content_type", "enabled"],
    order=["content_type", "name"],
    search=["name", "description", "message", "content_type"],
    fields=[type_label("content_type", has_pages, offered=False)],
    filters=[filters.content_type("content_type", lambda endpoint, table, labels: table.c.content_type.in_(labels))],
    configuration=True,
    example={
        "content_type": "extras.secret",
        "applies_to": {"name": "only an example"},
        "requires": {"name__n": "an example"},
    },
    presentation=Presentation(
        empty="Add one to refuse objects that do not match filters: a pattern of names, fields that must be set.",
        columns=["name", "content_type", "severity", "message", "enabled"],
        facets=["severity"],
        fieldsets=[
            ("Rule", ["name", "description", "content_type", "severity", "enabled"]),
            ("Objects", ["applies_to"]),
            ("What must hold", ["requires", "unique_together"]),
            ("Refusal", ["message", "field_name"]),
        ],
    ),
)


@validation_rules.rule
def rules_make_sense(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Checks that a rule has filters that the list of its content type takes, or fields that are columns of it."""
    checked: list[tuple[Draft, str, Endpoint]] = []
    for draft in drafts:
        endpoint = uow.registry.get(draft["content_type"])
        if not draft.new and draft.changed("content_type"):
            draft.reject("content_type", TYPE_IS_FIXED)
        elif endpoint is None:
            draft.reject("content_type", NOT_INSTALLED.format(draft["content_type"]))
        else:
            for name in CONDITIONS:
                if draft[name] is not None and not isinstance(draft[name], dict):
                    draft.reject(name, conditions.NOT_AN_OBJECT)
                elif draft[name] and draft.changed(name):
                    checked.append((draft, name, endpoint))
            if not draft.errors:
                _check(uow, endpoint, draft)
    errors = conditions.validation_errors(uow, [(endpoint, draft[name]) for draft, name, endpoint in checked])
    for (draft, name, _), error in zip(checked, errors, strict=True):
        if error is not None:
            draft.reject(name, *(f"{key}: {text}" for key, texts in error.body.items() for text in texts))


def _check(uow: UnitOfWork, endpoint: Endpoint, draft: Draft) -> None:
    """Rejects a draft that makes no sense for its content type."""
    most = max_terms(uow.settings)
    if sum(conditions.terms(uow, endpoint, draft[name]) for name in CONDITIONS) > most:
        draft.reject("requires", TOO_MANY.format(most))
    names = draft["unique_together"]
    if bool(draft["requires"]) == bool(names):
        draft.reject("requires", ONE_OF_TWO)
    if names and not (isinstance(names, list) and len(names) <= MAX_FIELDS and all(isinstance(n, str) for n in names)):
        draft.reject("unique_together", NOT_NAMES)
    elif names:
        unknown = [name for name in names if column_of(endpoint, endpoint.table, name) is None]
        draft.reject("unique_together", *(NOT_A_COLUMN.format(name[:100]) for name in unknown)) if unknown else None
    if draft["field_name"] and draft["field_name"] not in endpoint.writable:
        draft.reject("field_name", NOT_A_FIELD)


def column_of(endpoint: Endpoint, table: Any, name: str) -> Any:
    """The column of a field with a single value that can be compared; ``None`` for other names."""
    if name not in endpoint.writable:
        return None
    found = table.c.get(name) if name in table.c else table.c.get(f"{name}_id")
    return None if found is None or python_type(found) in (dict, list, bytes, object) else found
