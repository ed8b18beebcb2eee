"""Device types from a Git repository in the layout of the public library: ``device-types/<manufacturer>/<model>.yaml``.

Types that a sync created are recorded, so that those without a file are deleted when nothing uses them.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import TooLarge, error_text
from netinv_core.models.base import Base, table_of
from netinv_core.write import delete
from netinv_dcim.device_type_library import MAX_REPOSITORY_PARTS, TYPES
from netinv_dcim.device_type_library.pictures import IMAGES
from netinv_dcim.device_types import DeviceType, Manufacturer
from netinv_dcim.devices import Device
from netinv_extras.git.client import GitError
from netinv_extras.git.sync import CREATED, DELETED, ContentKind, Files, Sync

if TYPE_CHECKING:
    from netinv_dcim.device_type_library.importer import ImportedType
    from netinv_import.report import ImportReport

LABEL = "dcim.devicetype"
IN_USE = "It has no file any more, and stays because it is used."
# Types that a sync of a repository created.
provided_types = sa.Table(
    "dcim_git_device_type",
    Base.metadata,
    sa.Column("device_type_id", sa.Uuid(), sa.ForeignKey("dcim_device_type.id", ondelete="CASCADE"), primary_key=True),
    sa.Column(
        "repository_id",
        sa.Uuid(),
        sa.ForeignKey("extras_git_repository.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
)


def import_types(sync: Sync, files: Files) -> None:
    """Imports the device types of a repository. A file with an error is refused altogether, with the line.

    Types that are in no file any more are deleted, unless they are used or a file was refused, which may be theirs.
    """
    refused = sync.report.refused_count
    described = _import_files(sync, files) if files else {}
    if sync.report.refused_count == refused:
        _remove_others(sync, {item.id for item in described.values()})


CONTENT_KIND = ContentKind("device types", TYPES, import_types, attachments=IMAGES)


def _import_files(sync: Sync, files: Files) -> Mapping[str, ImportedType]:
    """Imports the files and reports their outcomes; returns the types by file.

    :raises GitError: when the types have too many components together
    """
    from netinv_dcim.device_type_library import archives, importer  # local import: only a sync needs them
    from netinv_import.report import ImportReport

    with tempfile.TemporaryDirectory() as folder:
        unpacked = archives.Unpacked(Path(folder), max_bytes=None)
        unpacked.add_from(files)
        for name, reason in unpacked.skipped:
            if reason not in (archives.NO_TYPE, archives.NO_MODULES):
                sync.report.refuse(name, reason)
        if not any(place.startswith(f"{TYPES}/") for place in unpacked.names):
            return {}
        report = ImportReport()
        try:
            types = importer.import_library(sync.uow, Path(folder), report, MAX_REPOSITORY_PARTS, whole=True).types
        except TooLarge as error:
            raise GitError(error_text(error.body)) from None
    _report(sync, report, unpacked.names, types)
    _record(sync, [item.id for place, item in types.items() if report.outcomes[LABEL, place] == CREATED])
    return types


def _report(sync: Sync, report: ImportReport, names: Mapping[str, str], types: Mapping[str, ImportedType]) -> None:
    """Reports the outcome of each type, with its components as parts of it, and the new manufacturers."""
    from netinv_dcim.device_type_library.outcomes import FileOutcomes

    outcomes, makers = FileOutcomes(sync.uow.registry, report), sync.uow.registry.of_model(Manufacturer).label
    for (label, key), outcome in report.outcomes.items():
        if label == makers and outcome == CREATED:
            sync.report.record(label, str(key), CREATED)
    for place, name in names.items():
        if place in types:
            sync.report.record(LABEL, types[place].name, outcomes.outcome(place))
        elif place.startswith(f"{TYPES}/"):
            sync.report.refuse(name, outcomes.reason(place))
    for place, notes in outcomes.notes().items():
        for note in notes if place in types else ():
            sync.report.note(names[place], note)
    for place, note in outcomes.beyond().items():
        sync.report.note(names[place], note)
    for note in outcomes.general_notes():
        sync.report.note("", note)


def _record(sync: Sync, keys: Sequence[Any]) -> None:
    """Records the repository as the source of new types."""
    if keys:
        rows = [{"device_type_id": key, "repository_id": sync.repository["id"]} for key in keys]
        sync.uow.execute(sa.insert(provided_types), rows)


def _remove_others(sync: Sync, described: Collection[Any]) -> None:
    """Deletes the types that the repository created and describes no more, except for those that are used."""
    types, makers, devices = table_of(DeviceType), table_of(Manufacturer), table_of(Device)
    is_used = sa.exists().where(devices.c.device_type_id == types.c.id)
    name = makers.c.name + " " + types.c.model
    statement = (
        sa.select(types.c.id, name.label("name"), is_used.label("used"))
        .join_from(provided_types, types, types.c.id == provided_types.c.device_type_id)
        .join(makers, makers.c.id == types.c.manufacturer_id)
        .where(provided_types.c.repository_id == sync.repository["id"])
        .order_by(types.c.id)
    )
    others = [row for row in sync.uow.execute(statement).all() if row.id not in described]
    unused = [row for row in others if not row.used]
    batches = [unused] if _is_deleted(sync, unused) else [[row] for row in unused if _is_deleted(sync, [row])]
    deleted = {row.id for batch in batches for row in batch}
    for row in others:
        if row.id in deleted:
            sync.report.record(LABEL, row.name, DELETED)
        else:
            sync.report.note(row.name, IN_USE)


def _is_deleted(sync: Sync, rows: Sequence[Any]) -> bool:
    """Deletes types; False when an object protects one of them."""
    bodies = [{"id": row.id} for row in rows]
    endpoint = sync.uow.registry[LABEL]
    return not rows or sync.attempt(functools.partial(delete.delete, sync.uow, endpoint, bodies)) is None
