"""The values of a job's variables: read from a body when it is asked for, and given to the job when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from netinv_core import fields as kinds
from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.errors import Invalid, words
from netinv_core.model import SET_NULL, Link
from netinv_core.read import pages
from netinv_core.registry import Endpoint
from netinv_core.write import references
from netinv_core.write.draft import Draft
from netinv_core.write.schema import unkeepable
from netinv_extras.job_variables import NO_CHOICE, ObjectVar, Variable
from netinv_extras.jobs import Job

UNKNOWN = "Job data contained an unknown property"


def read(context: Context, job: type[Job], data: Any) -> dict[str, Any]:
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
        errors |= _find_objects(context, variables, found)
    if errors:
        raise Invalid({"errors": errors})
    return found


def _named(variables: Mapping[str, Variable], values: Mapping[str, Any]) -> Iterator[tuple[str, ObjectVar, list[Any]]]:
    """The variables that name objects, with what they name."""
    for name, variable in variables.items():
        if isinstance(variable, ObjectVar) and values[name]:
            yield name, variable, values[name] if variable.several else [values[name]]


def _find_objects(context: Context, variables: Mapping[str, Variable], found: dict[str, Any]) -> dict[str, list[str]]:
    """Puts ids in place of what objects are named by; gives what is wrong."""
    errors: dict[str, list[str]] = {}
    for name, variable, given in _named(variables, found):
        target = context.registry.get(variable.model)
        if target is None:
            errors[name] = [f"The model {variable.model} is not installed."]
            continue
        field = kinds.Reference(name=name, attribute=name, link=Link(variable.model, SET_NULL), registry=context.registry)
        drafts = [Draft(target, {}) for _ in given]
        for draft, value in zip(drafts, given, strict=True):
            draft.refer(field, value)
        references.resolve(context, drafts)
        if faults := [words(draft.errors[name]) for draft in drafts if draft.errors]:
            errors[name] = faults
            continue
        ids = [draft.values[name] for draft in drafts]
        seen = _choosable(context, target, variable, ids)
        if outside := [key for key in ids if key not in seen]:
            errors[name] = [NO_CHOICE.format(key) for key in outside]
            continue
        found[name] = list(map(str, ids)) if variable.several else str(ids[0])
    return errors


def _choosable(context: Context, target: Endpoint, variable: ObjectVar, ids: list[Any]) -> set[Any]:
    """Which of these objects the user may view, and the variable lets be chosen."""
    table = target.table
    query = [(name, [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]) for name, value in variable.query_params.items()]
    chosen_from = pages.conditions_of(context.on_behalf(), target, table, query, "view")  # by the author, who may name what the user does not see
    conditions = [*chosen_from, *permits.visible(context, target, table)]
    if not conditions:
        return set(ids)
    return set(context.execute(sa.select(table.c.id).where(table.c.id.in_(ids), *conditions)).scalars())


def load(context: Context, job: type[Job], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the job gets them: objects as representations.

    :raises LookupError: for an object that has gone meanwhile
    """
    variables = job.variables()
    found = {name: variable.load(kept.get(name)) for name, variable in variables.items()}
    for name, variable, ids in _named(variables, found):
        target = context.registry.get(variable.model)
        keys = [target.parse_key(key) for key in ids] if target is not None else []
        shown = target.plan().represent(context, keys) if target is not None else []
        if len(shown) != len(ids):
            raise LookupError(f"What was chosen for {name} is no longer there.")
        found[name] = shown if variable.several else shown[0]
    return found
