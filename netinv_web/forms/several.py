"""Several objects from one form: texts that are patterns (:mod:`netinv_web.forms.patterns`) are expanded in parallel.

A form with patterns is first answered with a preview of all objects. That creates them in a dry run, so it has the
errors of each.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid, RequestError
from netinv_core.write import save
from netinv_core.write.dry_run import dry_run
from netinv_web.extensions import Spread, extensions_of
from netinv_web.forms.control_values import is_upload
from netinv_web.forms.form import Submission, readable
from netinv_web.forms.patterns import expand, is_pattern

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

ANSWER = "_several"  # member of the form: what to do with patterns
ALL, ONE = "all", "one"


@dataclasses.dataclass(frozen=True)
class SeveralRow:
    """An object of the preview: the texts that differ between objects, and its errors."""

    texts: Sequence[str]
    error: str


def spread(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """The bodies with the places that packages give to several objects.

    :raises Invalid: when there are too few places
    """
    for item in _spreads(endpoint):
        bodies = item.spread(uow, bodies)
    return bodies


def _spreads(endpoint: Endpoint) -> list[Spread]:
    registry = endpoint.registry
    return extensions_of(registry.hooks.netinv_web_spreads, endpoint, registry=registry)


@dataclasses.dataclass(frozen=True)
class SeveralPreview:
    """The objects that a form would create. ``fields`` are its members, for the form that creates them."""

    labels: Sequence[str]
    rows: Sequence[SeveralRow]
    error: str
    fields: Sequence[tuple[str, str]]

    @property
    def faulty(self) -> bool:
        """True when any object has an error."""
        return bool(self.error) or any(row.error for row in self.rows)


def patterns_in(submission: Submission, body: Mapping[str, Any]) -> list[str]:
    """The names of the text controls that hold patterns, unless the user said that they are no patterns."""
    if submission.text(ANSWER) == ONE:
        return []
    texts = {name: body.get(name) for name, control in submission.changed.items() if control.kind == "text"}
    return [name for name, text in texts.items() if isinstance(text, str) and is_pattern(text)]


def expand_patterns(body: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The bodies that a body with patterns stands for.

    :raises Invalid: for a pattern that cannot be expanded, or that stands for another number of texts than the first
    """
    texts: dict[str, list[str]] = {}
    errors: dict[str, list[str]] = {}
    for name in names:
        try:
            texts[name] = expand(body[name])
        except ValueError as error:
            errors[name] = [str(error)]
    counts = [len(items) for items in texts.values()]
    for name, items in texts.items():
        if len(items) != counts[0]:
            errors[name] = [f"This stands for {len(items)} texts, and the first pattern for {counts[0]}."]
    if errors:
        raise Invalid(errors)
    return [{**body, **dict(zip(texts, row, strict=True))} for row in zip(*texts.values(), strict=True)]


def refusal(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]]) -> RequestError | None:
    """Creates the objects in a dry run; returns the error that the creation would end in."""
    try:
        with dry_run(uow):
            save.create(uow, endpoint, bodies)
    except RequestError as error:
        return error
    return None


def preview(
    uow: UnitOfWork,
    endpoint: Endpoint,
    submission: Submission,
    bodies: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    error: RequestError | None,
) -> SeveralPreview:
    """The objects with their errors, for the page that asks whether to create them."""
    errors: Sequence[Any] = error.body if error is not None and isinstance(error.body, list) else []
    general = readable(error.body) if error is not None and not errors else ""
    if any(is_upload(value) for values in submission.members.values() for value in values):
        general = "Files cannot be given to several objects at once."
    spreads = _spreads(endpoint)
    texts = [[str(body[name]) for name in names] for body in bodies]
    for item in spreads:
        texts = [[*row, *more] for row, more in zip(texts, item.shown(uow, bodies), strict=True)]
    rows = [
        SeveralRow(row, readable(reasons))
        for row, reasons in zip(texts, itertools.chain(errors, itertools.repeat({})), strict=False)
    ]
    labels = {control.name: control.label for control in submission.form.controls}
    members = [(name, text) for name, values in submission.members.items() for text in values if isinstance(text, str)]
    columns = [labels[name] for name in [*names, *(name for item in spreads for name in item.fields)]]
    return SeveralPreview(columns, rows, general, [pair for pair in members if pair[0] != ANSWER])
