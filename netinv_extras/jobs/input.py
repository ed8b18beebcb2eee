"""Values of a job's variables: validated when a run is requested, loaded when the job runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Denied, Invalid, error_text
from netinv_core.fields.schema import storage_error
from netinv_core.models.columns import SET_NULL, ForeignKeyInfo
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_core.storage.files import Upload
from netinv_core.write import references
from netinv_core.write.draft import Draft
from netinv_extras.jobs.api import Job, JobButtonReceiver
from netinv_extras.jobs.variables import NO_CHOICE, FileVar, ObjectVar, Variable

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HIDDEN = "It is about an object that does not exist any more, or that you may not view."
UNKNOWN = "Job data contained an unknown property"


def read(uow: UnitOfWork, job: type[Job], data: Any) -> dict[str, Any]:
    """Validates the values of variables; returns them as stored: JSON with ids of objects.

    Objects must be viewable by the user.

    :raises Invalid: ``{"errors": {variable: [message]}}``
    """
    if not isinstance(data, Mapping):
        raise Invalid({"errors": ["Job data needs to be a dict"]})
    variables = job.variables()
    errors = {name: [UNKNOWN] for name in data if name not in variables}
    values: dict[str, Any] = {}
    for name, variable in variables.items() if not errors else ():
        try:
            if (reason := storage_error(data.get(name))) is not None and not isinstance(data.get(name), Upload):
                raise ValueError(reason)
            values[name] = variable.validated(data.get(name))
        except ValueError as error:
            errors[name] = [str(error)]
    if not errors:
        errors |= _resolve_objects(uow, variables, values)
    if not errors and issubclass(job, JobButtonReceiver):
        errors |= _check_object(uow, values)
    if errors:
        raise Invalid({"errors": errors})
    return values


def check_visible(uow: UnitOfWork, job: type[Job], stored: Mapping[str, Any]) -> None:
    """Checks that the user may view the objects of stored values, for a run of what another user has asked for.

    :raises Denied: if not, and if one of them is gone
    """
    variables = job.variables()
    values = {name: variable.load(stored.get(name)) for name, variable in variables.items()}
    for _, variable, ids in _object_values(variables, values):
        target = uow.registry.get(variable.model)
        keys = [] if target is None else [target.parse_key(key) for key in ids]
        if target is None or set(keys) - _viewable_ids(uow, target, keys):
            raise Denied(HIDDEN)
    if issubclass(job, JobButtonReceiver) and _check_object(uow, values):
        raise Denied(HIDDEN)


def _check_object(uow: UnitOfWork, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns an error unless the user may view the object of a job button receiver."""
    endpoint = uow.registry.get(values["object_model_name"])
    if endpoint is None:
        return {"object_model_name": [f"There is no content type {values['object_model_name'][:100]}."]}
    key = endpoint.parse_key(values["object_pk"])
    if key is None or not _viewable_ids(uow, endpoint, [key]):
        return {"object_pk": [NO_CHOICE.format(values["object_pk"][:100])]}
    return {}


def _viewable_ids(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], within: Sequence[Any] = ()) -> set[Any]:
    """The ids of the objects that there are, that the user may view, and that meet further conditions."""
    table = endpoint.table
    limits = [*within, *permissions.visible(uow, endpoint, table)]
    return set(uow.execute(sa.select(table.c.id).where(table.c.id.in_(keys), *limits)).scalars())


def _object_values(
    variables: Mapping[str, Variable], values: Mapping[str, Any]
) -> Iterator[tuple[str, ObjectVar, list[Any]]]:
    """Yields name, variable and list of values for each variable that refers to objects and has a value."""
    for name, variable in variables.items():
        if isinstance(variable, ObjectVar) and values[name]:
            yield name, variable, values[name] if variable.multiple else [values[name]]


def _resolve_objects(
    uow: UnitOfWork, variables: Mapping[str, Variable], values: dict[str, Any]
) -> dict[str, list[str]]:
    """Replaces references to objects with ids, in ``values``; returns error messages by variable."""
    errors: dict[str, list[str]] = {}
    resolved: list[tuple[str, ObjectVar, Endpoint, list[Any]]] = []
    for name, variable, references_sent in _object_values(variables, values):
        target = uow.registry.get(variable.model)
        if target is None:
            errors[name] = [f"The model {variable.model} is not installed."]
            continue
        if unknown := sorted(variable.depends_on.keys() - variables.keys()):
            errors[name] = [f"Its query_params name ${unknown[0]}, which is no variable of the job."]
            continue
        ids = _ids(uow, target, variable, name, references_sent)
        if isinstance(ids, dict):
            errors |= ids
            continue
        resolved.append((name, variable, target, ids))
        values[name] = list(map(str, ids)) if variable.multiple else str(ids[0])
    for name, variable, target, ids in resolved if not errors else ():
        allowed = _allowed_ids(uow, target, variable.parameters(values), ids)
        if denied := [key for key in ids if key not in allowed]:
            errors[name] = [NO_CHOICE.format(key) for key in denied]
    return errors


def _ids(
    uow: UnitOfWork, target: Endpoint, variable: ObjectVar, name: str, references_sent: list[Any]
) -> list[Any] | dict[str, list[str]]:
    """Returns the ids of the objects that references name, or error messages by variable."""
    link = ForeignKeyInfo(variable.model, SET_NULL)
    field = fields.Reference(name=name, attribute=name, link=link, registry=uow.registry)
    drafts = [Draft(target, {}) for _ in references_sent]
    for draft, value in zip(drafts, references_sent, strict=True):
        draft.add_reference(field, value)
    references.resolve(uow, drafts)
    if messages := [error_text(draft.errors[name]) for draft in drafts if draft.errors]:
        return {name: messages}
    return [draft.values[name] for draft in drafts]


def _allowed_ids(uow: UnitOfWork, target: Endpoint, parameters: Mapping[str, list[str]], ids: list[Any]) -> set[Any]:
    """Returns the ids of objects that the user may view and that match the variable's query parameters.

    The parameters are applied as the system user: the author of the job can refer to objects that the user cannot view.
    """
    conditions = listing.conditions_of(uow.as_system(), target, target.table, list(parameters.items()), "view")
    return _viewable_ids(uow, target, ids, conditions)


def without_files(job: type[Job], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns stored values with the names of files in place of the files, for display."""
    variables = job.variables()
    return {
        name: value["name"] if value and isinstance(variables[name], FileVar) else value
        for name, value in values.items()
    }


def load(uow: UnitOfWork, job: type[Job], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the job's values of stored values, with representations of objects.

    :raises LookupError: if an object has been deleted since
    """
    variables = job.variables()
    values = {name: variable.load(stored.get(name)) for name, variable in variables.items()}
    for name, variable, ids in _object_values(variables, values):
        target = uow.registry.get(variable.model)
        keys = [target.parse_key(key) for key in ids] if target is not None else []
        representations = plan_of(target).represent(uow, keys) if target is not None else []
        if len(representations) != len(ids):
            raise LookupError(f"What was chosen for {name} is no longer there.")
        values[name] = representations if variable.multiple else representations[0]
    return values
