"""The page that asks whether to delete an object: it says what goes along, what is cleared, and what protects it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import uow as units
from netinv_core.changelog.models import CREATE as CREATED
from netinv_core.changelog.models import DELETE as DELETED
from netinv_core.changelog.models import UPDATE as UPDATED
from netinv_core.driver.sessions import rollback
from netinv_core.errors import Conflict, Invalid, error_text
from netinv_core.http.views import key_of
from netinv_core.labels import plural_of, title_of
from netinv_core.models.columns import CASCADE, column_info
from netinv_core.read.listing import detail
from netinv_core.read.names import names_in_context, recorded_name
from netinv_core.write import delete
from netinv_core.write.dry_run import Preview, dry_run
from netinv_core.write.slugs import natural_key
from netinv_web import notices
from netinv_web.cells import list_parameter
from netinv_web.objects.details import object_values
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

DELETE = "netinv_web:templates/delete.jinja2"
MAX_NAMES = 10  # objects of each model that are named


@dataclasses.dataclass(frozen=True)
class Affected:
    """The objects of a model that a write concerns: their number, and names and paths of the first of them. The path of
    an object that the write creates is blank.

    ``path`` is that of a list with all of them, if there is one. ``notes`` are sentences on what becomes of them.
    """

    title: str
    count: int
    objects: Sequence[tuple[str, str]]
    path: str = ""
    notes: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class DeniedChanges:
    """The changes of a dry run that a guard would refuse: the reason, and the objects that the user may view."""

    reason: str
    objects: Sequence[Affected]


@dataclasses.dataclass(frozen=True)
class DeletionConsequences:
    """The outcome of a deletion: what goes along, what loses a reference, and the reason why it is not possible."""

    deleted: Sequence[Affected] = ()
    changed: Sequence[Affected] = ()
    hidden: int = 0
    error: str = ""
    protecting: Sequence[Affected] = ()
    denied: DeniedChanges | None = None


def delete_object(request: Request) -> Response:
    """Asks whether to delete an object, and deletes it."""
    endpoint, key = request.context.endpoint, key_of(request)
    representation = detail(request.uow, endpoint, key)
    values = object_values(request, endpoint, representation, None)
    if request.method != "POST":
        with trial(request) as uow:
            consequences = consequences_of(uow, endpoint, key)
        return page(request, DELETE, values | {"consequences": consequences})
    try:
        delete.delete(request.uow, endpoint, [{"id": key}], single=True)
    except (Conflict, Invalid) as error:
        refused = refusal(request.uow, error)
        return page(request, DELETE, values | {"consequences": refused}, error.status)
    text = f"{title_of(endpoint)} {values['name_in_context']} was deleted."
    notice = notices.Notice(text, undo=str(request.uow.request_id))
    return notices.add(request, see_other(page_path(endpoint)), notice)


@contextlib.contextmanager
def trial(request: Request) -> Iterator[UnitOfWork]:
    """A unit of work beside that of a GET, which only reads; it is never committed. In a change request, whose changes
    another session does not see, it is that of the request.
    """
    uow = request.uow
    if uow.aside:
        with uow.rolled_back():
            yield uow
        return
    with request.registry.netinv_sessions() as session:
        yield units.UnitOfWork(uow.registry, session, uow.identity, uow.base, writing=True)
        rollback(session)


def consequences_of(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> DeletionConsequences:
    """Deletes an object in a dry run, and returns what that leads to."""
    try:
        with dry_run(uow) as preview:
            delete.delete(uow, endpoint, [{"id": key}], single=True)
    except (Conflict, Invalid) as error:
        return refusal(uow, error)
    return consequences_in(uow, endpoint, [key], preview)


def consequences_in(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], preview: Preview) -> DeletionConsequences:
    """The changes of other objects that a dry run of the deletion of objects made."""
    own = {str(key) for key in keys}
    others = [
        change
        for change in preview.changes
        if change["object_type"] != endpoint.label or change["object_id"] not in own
    ]
    unlisted = Counter(preview.unlisted)
    unlisted[DELETED, endpoint.label] -= min(
        len(own) - (len(preview.changes) - len(others)), unlisted[DELETED, endpoint.label]
    )
    groups = {True: _find_affected(uow, endpoint, keys, others, unlisted, deleted=True)}
    groups[False] = _find_affected(uow, endpoint, keys, others, unlisted, deleted=False)
    total = preview.counts.get("changes", 0) - len(own)
    shown = sum(group.count for found in groups.values() for group in found)
    return DeletionConsequences(groups[True], groups[False], total - shown, denied=denied_changes(uow, preview))


def _find_affected(
    uow: UnitOfWork,
    endpoint: Endpoint,
    keys: Sequence[Any],
    changes: Sequence[Mapping[str, Any]],
    unlisted: Mapping[tuple[str, str], int],
    *,
    deleted: bool,
) -> list[Affected]:
    """The other objects that are deleted, or those that are changed, by model; with those that are only counted.

    :param unlisted: the numbers of changes that are not in ``changes``, by action and label
    """
    by_label: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        if (change["action"] == DELETED) == deleted:
            by_label.setdefault(change["object_type"], []).append(change)
    more: Counter[str] = Counter()
    for (action, label), count in unlisted.items():
        if (action == DELETED) == deleted and count:
            more[label] += count
    return [
        _group(uow, endpoint, keys, uow.registry[label], by_label.get(label, ()), more[label], deleted=deleted)
        for label in dict.fromkeys([*by_label, *more])
    ]


def _group(
    uow: UnitOfWork,
    endpoint: Endpoint,
    keys: Sequence[Any],
    child: Endpoint,
    changes: Sequence[Mapping[str, Any]],
    more: int,
    *,
    deleted: bool,
) -> Affected:
    """The objects of a model: what becomes of those whose references are cleared, and a link to their list. Where
    changes are only counted, all references of the model may be the cleared ones.
    """
    changed = {name for change in changes for name in change["fields"]}
    links = [
        incoming
        for incoming in endpoint.incoming_foreign_keys
        if incoming.child is child
        and (deleted == (incoming.on_delete == CASCADE))
        and (deleted or not changes or incoming.attribute.removesuffix("_id") in changed)
    ]
    path = ""
    if len(keys) == 1 and links and (parameter := list_parameter(links[0])):
        path = f"{page_path(child)}?{parameter}={keys[0]}"
    infos = [column_info(child.table.c[incoming.attribute]).foreign_key for incoming in links]
    notes = [info.when_cleared for info in infos if info is not None and info.when_cleared and not deleted]
    count = len(changes) + more
    named = [(name_of_change(uow, change), path_of_change(uow, change)) for change in changes]
    return Affected(
        title_of(child) if count == 1 else plural_of(child), count, _first(named), path, list(dict.fromkeys(notes))
    )


def denied_changes(uow: UnitOfWork, preview: Preview) -> DeniedChanges | None:
    """The changes that a guard refuses; ``None`` where there are none."""
    if preview.denied is None:
        return None
    refused = {(label, str(key)) for label, key in preview.denied.objects}
    entries = [change for change in preview.changes if (change["object_type"], change["object_id"]) in refused]
    return DeniedChanges(preview.denied.reason, by_model(uow, entries))


def refusal(uow: UnitOfWork, error: Conflict | Invalid) -> DeletionConsequences:
    """The reason against a deletion, with links to the objects that protect."""
    objects = error.objects if isinstance(error, Conflict) else ()
    names = names_in_context(uow, ((label, key) for label, key, _ in objects))
    protecting = [(label, key, names.get((label, key), name)) for label, key, name in objects]
    text = error_text(error.body).replace(" 1 dependent objects were ", " 1 dependent object was ")
    # The objects are listed below the sentence, with their names in context.
    named = [(label, name, object_path(uow.registry[label], key)) for label, key, name in protecting]
    return DeletionConsequences(
        error=f"{text.partition(': ')[0]}." if named else text, protecting=_by_model(uow, named, {})
    )


def by_model(
    uow: UnitOfWork, entries: Sequence[Mapping[str, Any]], unlisted: Mapping[str, int] | None = None
) -> list[Affected]:
    """The objects of changes of a dry run, grouped by model, with the numbers of those that it only counts."""
    named = [(entry["object_type"], name_of_change(uow, entry), path_of_change(uow, entry)) for entry in entries]
    return _by_model(uow, named, unlisted or {})


def by_action(uow: UnitOfWork, preview: Preview, action: str, without: Endpoint | None = None) -> list[Affected]:
    """The objects that a dry run creates, changes or deletes, but for those of one resource, grouped by model. All of
    them count, also those that the dry run does not list.
    """
    left_out = without.label if without is not None else ""
    unlisted = {label: count for (of, label), count in preview.unlisted.items() if of == action and label != left_out}
    entries = [change for change in preview.changes if change["action"] == action and change["object_type"] != left_out]
    return by_model(uow, entries, unlisted)


def changed_along(uow: UnitOfWork, endpoint: Endpoint, preview: Preview) -> list[Affected]:
    """The objects of other resources that a dry run writes: what is created or deleted is said to be."""
    found = by_action(uow, preview, UPDATED, endpoint)
    for action, words in ((CREATED, "created"), (DELETED, "deleted")):
        found += [
            dataclasses.replace(item, notes=[f"{'It is' if item.count == 1 else 'They are'} {words}."])
            for item in by_action(uow, preview, action, endpoint)
        ]
    return found


def path_of_change(uow: UnitOfWork, entry: Mapping[str, Any]) -> str:
    """The path of the object of a change of a dry run; blank for one that is created, as there is none yet."""
    return "" if entry["action"] == CREATED else object_path(uow.registry[entry["object_type"]], entry["object_id"])


def name_of_change(uow: UnitOfWork, entry: Mapping[str, Any]) -> str:
    """The name in context of the object of a change of a dry run, as it is named before a change."""
    endpoint, state = uow.registry.get(entry["object_type"]), entry["before"] or entry["after"]
    return recorded_name(endpoint, state, state, str(entry["display"] or entry["object_id"]))


def _first(named: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names and paths that are shown: the first ones by name, with numbers by their value."""
    return sorted(named, key=lambda item: natural_key(item[0]))[:MAX_NAMES]


def _by_model(uow: UnitOfWork, named: Sequence[tuple[str, str, str]], unlisted: Mapping[str, int]) -> list[Affected]:
    """Objects by label, name and path, grouped by model, with the numbers of others by label."""
    by_label: dict[str, list[tuple[str, str]]] = {label: [] for label, count in unlisted.items() if count}
    for label, name, path in named:
        by_label.setdefault(label, []).append((name, path))
    counts = {label: len(items) + unlisted.get(label, 0) for label, items in by_label.items()}
    return [
        Affected(title_of(endpoint) if counts[label] == 1 else plural_of(endpoint), counts[label], _first(items))
        for label, items in by_label.items()
        if (endpoint := uow.registry[label])
    ]
