"""The values of a job's variables: read from a body when it is asked for, and given to the job when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, error_text
from netinv_core.models.columns import SET_NULL, ForeignKeyInfo
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_core.write import references
from netinv_core.write.draft import Draft
from netinv_core.write.schema import unkeepable
from netinv_extras.jobs.api import Job
from netinv_extras.jobs.variables import NO_CHOICE, ObjectVar, Variable

UNKNOWN = "Job data contained an unknown property"


def read(uow: UnitOfWork, job: type[Job], data: Any) -> dict[str, Any]:
    """The values as they are kept: JSON, objects as ids; the user may name those that they may view.

    :raises Invalid: ``{"errors": …}`` with what is wrong, by variable
    """
    if not isinstance(data, Mapping):
        raise Invalid({"errors": ["Job data needs to be a dict"]})
    variables = job.variables()
    errors = {name: [UNKNOWN] for name in data if name not in variables}
    found: dict[str, Any] = {}
    for name, variable in variables.items() if not errors else ():
        try:
            if (reason := unkeepable(data.get(name))) is not None:
                raise ValueError(reason)
            found[name] = variable.checked(data.get(name))
        except ValueError as error:
            errors[name] = [str(error)]
    if not errors:
        errors |= _find_objects(uow, variables, found)
    if errors:
        raise Invalid({"errors": errors})
    return found


def _named(variables: Mapping[str, Variable], values: Mapping[str, Any]) -> Iterator[tuple[str, ObjectVar, list[Any]]]:
    """The variables that name objects, with what they name."""
    for name, variable in variables.items():
        if isinstance(variable, ObjectVar) and values[name]:
            yield name, variable, values[name] if variable.several else [values[name]]


def _find_objects(uow: UnitOfWork, variables: Mapping[str, Variable], found: dict[str, Any]) -> dict[str, list[str]]:
    """Puts ids in place of what objects are named by; gives what is wrong."""
    errors: dict[str, list[str]] = {}
    for name, variable, given in _named(variables, found):
        target = uow.registry.get(variable.model)
        if target is None:
            errors[name] = [f"The model {variable.model} is not installed."]
            continue
        field = fields.Reference(name=name, attribute=name, link=ForeignKeyInfo(variable.model, SET_NULL), registry=uow.registry)
        drafts = [Draft(target, {}) for _ in given]
        for draft, value in zip(drafts, given, strict=True):
            draft.add_reference(field, value)
        references.resolve(uow, drafts)
        if faults := [error_text(draft.errors[name]) for draft in drafts if draft.errors]:
            errors[name] = faults
            continue
        ids = [draft.values[name] for draft in drafts]
        seen = _choosable(uow, target, variable, ids)
        if outside := [key for key in ids if key not in seen]:
            errors[name] = [NO_CHOICE.format(key) for key in outside]
            continue
        found[name] = list(map(str, ids)) if variable.several else str(ids[0])
    return errors


def _choosable(uow: UnitOfWork, target: Endpoint, variable: ObjectVar, ids: list[Any]) -> set[Any]:
    """Which of these objects the user may view, and the variable lets be chosen."""
    table = target.table
    query = [(name, [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]) for name, value in variable.query_params.items()]
    chosen_from = listing.conditions_of(uow.as_system(), target, table, query, "view")  # by the author, who may name what the user does not see
    conditions = [*chosen_from, *permissions.visible(uow, target, table)]
    if not conditions:
        return set(ids)
    return set(uow.execute(sa.select(table.c.id).where(table.c.id.in_(ids), *conditions)).scalars())


def load(uow: UnitOfWork, job: type[Job], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the job gets them: objects as representations.

    :raises LookupError: for an object that has gone meanwhile
    """
    variables = job.variables()
    found = {name: variable.load(kept.get(name)) for name, variable in variables.items()}
    for name, variable, ids in _named(variables, found):
        target = uow.registry.get(variable.model)
        keys = [target.parse_key(key) for key in ids] if target is not None else []
        shown = target.plan().represent(uow, keys) if target is not None else []
        if len(shown) != len(ids):
            raise LookupError(f"What was chosen for {name} is no longer there.")
        found[name] = shown if variable.several else shown[0]
    return found
