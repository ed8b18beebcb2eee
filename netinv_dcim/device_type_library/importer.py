"""Import of the community device-type library: its files are converted to a dump and imported as every dump is.

Existing objects are matched by manufacturer and model (types) and by type and name (templates). Nothing is deleted.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.importing.dump import Dump, Fields, Source
from netinv_core.models.base import table_of
from netinv_core.read.union import kept_union
from netinv_core.types import UnitOfWork
from netinv_core.write.slugs import slugify
from netinv_dcim.components.instantiation import KINDS
from netinv_dcim.device_type_library.files import LINK, Described, File, Layout, find
from netinv_dcim.device_type_library.yaml_reader import Fault
from netinv_dcim.device_types import Manufacturer
from netinv_import.mapping import DumpMapping
from netinv_import.netbox import Import
from netinv_import.report import REFUSED, SKIPPED, Report

CHUNK = 100  # files held in memory at a time
Objects = dict[str, dict[str, Fields]]


def import_library(uow: UnitOfWork, path: Path, report: Report) -> None:
    """Imports the files at a path (:func:`netinv_dcim.device_type_library.files.find`) as the user of the unit of work.

    Does not commit; the results are added to ``report``.

    :raises ValueError: when there are no files
    """
    files = find(path)
    report.expected, report.files = len(files), 0
    library = _Library(uow, report)
    for start in range(0, len(files), CHUNK):
        library.take(files[start : start + CHUNK])


class _Library:
    """One import of the library: the manufacturers, sources and types that its chunks of files share."""

    def __init__(self, uow: UnitOfWork, report: Report) -> None:
        self.uow = uow
        self.report = report
        self.layout = Layout(uow.registry)
        self.types, self.makers = self.layout.types.label, uow.registry.of_model(Manufacturer).label
        self.left_out = report.left_out = collections.Counter[tuple[str, str, str]]()
        self.described: dict[tuple[str, Any], str] = {}  # file names of types by manufacturer and model
        self.sources = {
            self.makers: Source(self.makers, by=("name",)),
            self.types: Source(self.types, by=("manufacturer_id", "model")),
            **{
                section.label: Source(section.label, by=("device_type_id", "name"), parent="device_type")
                for section in self.layout.sections.values()
            },
        }

    def take(self, files: Sequence[File]) -> None:
        """Imports a chunk of files."""
        read = [described for file in files if (described := self._read(file)) is not None]
        makers = self._makers({described.manufacturer for described in read})
        read = [described for described in read if self._is_first(described, makers[described.manufacturer]["name"])]
        for described in read:
            self.left_out.update(described.left_out)
            self.report.incomplete += [((self.types, described.file.name), reason) for reason in described.lacking]
            for (label, part_name), reason in described.refused.items():
                self.report.settle((label, _key(described, part_name)), REFUSED, reason)
        part = Report()
        dump = Dump(self._objects(read, makers))
        translation = DumpMapping(self.uow.registry, dump, self.sources, user_id=self.uow.identity.user_id, origin=None)
        Import(self.uow, translation, part).run()
        self.report.take(part)
        imported = {
            translation.ids[self.types, described.file.name]: described
            for described in read
            if (self.types, described.file.name) in translation.here
        }
        self._report_other_templates(imported)
        self.report.files = (self.report.files or 0) + len(files)
        self.report.advance(self.types)

    def _read(self, file: File) -> Described | None:
        """The content of a file; reports a file that cannot be read and returns ``None``."""
        try:
            return self.layout.describe(file)
        except Fault as fault:
            self.report.settle((self.types, file.name), SKIPPED if file.fault == LINK else REFUSED, str(fault))
            return None

    def _is_first(self, described: Described, maker: str) -> bool:
        """True when no earlier file describes the same type; reports the file as refused otherwise."""
        other = self.described.setdefault((maker, described.fields["model"]), described.file.name)
        if other != described.file.name:
            self.report.settle((self.types, described.file.name), REFUSED, f"{other} describes the same type")
        return other == described.file.name

    def _makers(self, names: Collection[str]) -> dict[str, dict[str, str]]:
        """Name and slug of each manufacturer, by its name in the files; existing ones are matched by name or slug."""
        table, slugs = table_of(Manufacturer), {name: slugify(name) for name in names}
        matching = table.c.name.in_(names) | table.c.slug.in_(slugs.values())
        rows = self.uow.execute(sa.select(table.c.name, table.c.slug).where(matching))
        existing = [{"name": name, "slug": slug} for name, slug in rows]
        by_name = {maker["name"]: maker for maker in existing}
        by_slug = {maker["slug"]: maker for maker in existing}
        for name, slug in sorted(slugs.items()):
            if name not in by_name:
                by_name[name] = by_slug.setdefault(slug, {"name": name, "slug": slug})
        return by_name

    def _objects(self, read: Sequence[Described], makers: Mapping[str, dict[str, str]]) -> Objects:
        """The objects of the dump, by label and key: types have their file names, templates those of :func:`_key`."""
        objects: Objects = {label: {} for label in self.sources}
        for described in read:
            maker, file_name = makers[described.manufacturer], described.file.name
            objects[self.makers][maker["name"]] = maker
            objects[self.types][file_name] = {**described.fields, "manufacturer": maker["name"]}
            for section in self.layout.sections.values():
                for part_name, fields in described.parts[section.label].items():
                    joined = {name: _key(described, fields[name]) for name in section.joined if name in fields}
                    part = {**fields, **joined, "device_type": file_name}
                    objects[section.label][_key(described, part_name)] = part
        return objects

    def _report_other_templates(self, imported: Mapping[Any, Described]) -> None:
        """Reports the templates of types (by id) that their files do not contain; one UNION ALL statement."""
        registry = self.uow.registry
        tables = [table_of(kind.template) for kind in KINDS]
        union = kept_union(
            registry,
            ("beyond", KINDS),
            lambda: [
                (
                    [table.c.device_type_id, table.c.name],
                    table,
                    in_parameter(registry.dialect, table.c.device_type_id),
                )
                for table in tables
            ],
        )
        for table, rows in zip(tables, union.rows(self.uow, {"keys": list(imported)}), strict=True):
            label = registry.by_table[table].label
            more = [
                _key(imported[type_id], name)
                for type_id, name in rows
                if name not in imported[type_id].parts[label] and (label, name) not in imported[type_id].refused
            ]
            if more:
                self.report.beyond.setdefault(label, []).extend(sorted(more))


def _key(described: Described, part_name: str) -> str:
    """The key of a template in dumps and reports: the name of its file, and its own name."""
    return f"{described.file.name}: {part_name}"
