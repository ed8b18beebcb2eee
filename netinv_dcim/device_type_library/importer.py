"""Importing the community's device-type library: its files become a dump, which is imported as every dump is.

A type is known by its manufacturer and model, a template by its type and name; nothing that is here is deleted.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.importing.dump import Dump, Fields, Source
from netinv_core.importing.mapping import DumpMapping
from netinv_core.importing.netbox import Import
from netinv_core.importing.report import REFUSED, SKIPPED, Report
from netinv_core.models.base import table_of
from netinv_core.uow import UnitOfWork
from netinv_core.write.slugs import slugify
from netinv_dcim.components.instantiation import KINDS
from netinv_dcim.device_type_library.files import LINK, Described, File, Layout, find
from netinv_dcim.device_type_library.yaml_reader import Fault
from netinv_dcim.device_types import Manufacturer

CHUNK = 100  # files at a time: what they say is held in memory
Objects = dict[str, dict[str, Fields]]


def import_library(uow: UnitOfWork, path: Path, report: Report) -> None:
    """Imports the files at a path (:func:`netinv_dcim.device_type_library.files.find`), for the context's user; nothing is committed.

    :raises ValueError: when there are none
    """
    files = find(path)
    report.expected, report.files = len(files), 0
    library = _Library(uow, report)
    for start in range(0, len(files), CHUNK):
        library.take(files[start : start + CHUNK])


class _Library:
    """One run over the library."""

    def __init__(self, uow: UnitOfWork, report: Report) -> None:
        self.uow = uow
        self.report = report
        self.layout = Layout(uow.registry)
        self.types, self.makers = self.layout.types.label, uow.registry.of_model(Manufacturer).label
        self.left_out = report.left_out = collections.Counter[tuple[str, str, str]]()
        self.described: dict[tuple[str, Any], str] = {}  # the file of each type, by manufacturer and model
        self.sources = {
            self.makers: Source(self.makers, by=("name",)),
            self.types: Source(self.types, by=("manufacturer_id", "model")),
            **{section.label: Source(section.label, by=("device_type_id", "name"), parent="device_type") for section in self.layout.sections.values()},
        }

    def take(self, files: Sequence[File]) -> None:
        """Imports some files."""
        read = [found for file in files if (found := self._read(file)) is not None]
        makers = self._makers({found.manufacturer for found in read})
        read = [found for found in read if self._is_first(found, makers[found.manufacturer]["name"])]
        for found in read:
            self.left_out.update(found.left_out)
            self.report.incomplete += [((self.types, found.file.name), reason) for reason in found.lacking]
            for (label, called), reason in found.refused.items():
                self.report.settle((label, _key(found, called)), REFUSED, reason)
        part = Report()
        dump = Dump(self._objects(read, makers))
        translation = DumpMapping(self.uow.registry, dump, self.sources, user_id=self.uow.identity.user_id, origin=None)
        Import(self.uow, translation, part).run()
        self.report.take(part)
        here = {translation.ids[self.types, found.file.name]: found for found in read if (self.types, found.file.name) in translation.here}
        self._look_beyond(here)
        self.report.files = (self.report.files or 0) + len(files)
        self.report.advance(self.types)

    def _read(self, file: File) -> Described | None:
        try:
            return self.layout.describe(file)
        except Fault as fault:
            self.report.settle((self.types, file.name), SKIPPED if file.fault == LINK else REFUSED, str(fault))
            return None

    def _is_first(self, found: Described, maker: str) -> bool:
        """Whether no other file describes the same type."""
        other = self.described.setdefault((maker, found.fields["model"]), found.file.name)
        if other != found.file.name:
            self.report.settle((self.types, found.file.name), REFUSED, f"{other} describes the same type")
        return other == found.file.name

    def _makers(self, names: Collection[str]) -> dict[str, dict[str, str]]:
        """The manufacturers of these names, as they are called here: by name, or by the slug that the name makes."""
        table, slugs = table_of(Manufacturer), {name: slugify(name) for name in names}
        rows = self.uow.execute(sa.select(table.c.name, table.c.slug).where(table.c.name.in_(names) | table.c.slug.in_(slugs.values())))
        here = [{"name": name, "slug": slug} for name, slug in rows]
        found = {maker["name"]: maker for maker in here}
        by_slug = {maker["slug"]: maker for maker in here}
        for name, slug in sorted(slugs.items()):
            if name not in found:  # a name may be all of letters that no slug has
                found[name] = by_slug.setdefault(slug, {"name": name, "slug": slug}) if slug else {"name": name}
        return found

    def _objects(self, read: Sequence[Described], makers: Mapping[str, dict[str, str]]) -> Objects:
        """The objects of a dump that says what the files say; objects of a file are called by its name and their own."""
        objects: Objects = {label: {} for label in self.sources}
        for found in read:
            maker = makers[found.manufacturer]
            objects[self.makers][maker["name"]] = maker
            objects[self.types][found.file.name] = {**found.fields, "manufacturer": maker["name"]}
            for section in self.layout.sections.values():
                for called, fields in found.parts[section.label].items():
                    joined = {name: _key(found, fields[name]) for name in section.joined if name in fields}
                    objects[section.label][_key(found, called)] = {**fields, **joined, "device_type": found.file.name}
        return objects

    def _look_beyond(self, here: Mapping[Any, Described]) -> None:
        """Names the templates of types which their files do not have; one statement."""
        registry = self.uow.registry
        tables = [table_of(kind.template) for kind in KINDS]
        union = registry.union(
            ("beyond", KINDS),
            lambda: [([table.c.device_type_id, table.c.name], table, in_parameter(registry.dialect, table.c.device_type_id)) for table in tables],
        )
        for table, rows in zip(tables, union.rows(self.uow, {"keys": list(here)}), strict=True):
            label = registry.by_table[table].label
            more = [_key(here[of], name) for of, name in rows if name not in here[of].parts[label] and (label, name) not in here[of].refused]
            if more:
                self.report.beyond.setdefault(label, []).extend(sorted(more))


def _key(found: Described, called: str) -> str:
    """How a report calls a part of a file."""
    return f"{found.file.name}: {called}"
