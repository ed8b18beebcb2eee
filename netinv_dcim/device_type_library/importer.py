"""Import of the community device-type library: its files are converted to a dump and imported as every dump is.

Existing objects are matched by manufacturer and model (types) and by type and name (templates). Nothing is deleted,
unless types are to have exactly the templates of their files.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied, RequestError, TooLarge, error_text
from netinv_core.importing.dump import Declaration, Dump, Fields, Source
from netinv_core.models.base import table_of
from netinv_core.sql.union import kept_union
from netinv_core.write import delete
from netinv_core.write.slugs import slugify
from netinv_dcim.components.kinds import KINDS
from netinv_dcim.device_type_library import UNLIMITED
from netinv_dcim.device_type_library.files import LINK, Described, File, FileLayout, find
from netinv_dcim.device_type_library.yaml_reader import YamlFault
from netinv_dcim.device_types import Manufacturer
from netinv_extras.netbox import FIELD
from netinv_import.mapping import DumpMapping
from netinv_import.netbox import Import, declarations
from netinv_import.report import DELETED, REFUSED, SKIPPED, ImportReport

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CHUNK = 100  # files held in memory at a time
CHUNK_BYTES = 1 << 24  # of their pictures, and those of one more file
ORIGIN = "library"  # custom fields of values without a field here are called library_airflow …
Objects = dict[str, dict[str, Fields]]


@dataclasses.dataclass(frozen=True)
class ImportedType:
    """A device type that a file describes: its id, and its name with that of its manufacturer."""

    id: Any
    name: str


@dataclasses.dataclass(frozen=True)
class ImportedLibrary:
    """Result of an import: the pictures that types have, and the types by the name of their file."""

    pictures: Collection[Path]
    types: Mapping[str, ImportedType]


class _IncompleteFiles(Exception):
    """Rolls back an import of files of which parts were refused; ``reasons`` has these by file."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(reasons)
        self.reasons = reasons


def import_library(
    uow: UnitOfWork,
    path: Path,
    report: ImportReport,
    max_parts: int | None = None,
    *,
    whole: bool = False,
    exact: bool = False,
) -> ImportedLibrary:
    """Imports the files at a path (:func:`netinv_dcim.device_type_library.files.find`) as the user of the unit of work.

    Does not commit; the results are added to ``report``. With ``whole``, a file with an error in one of its templates
    is refused altogether; else the rest of it is imported. With ``exact``, templates get the defaults of the values
    that their file does not say, and templates that it does not have are deleted.

    :raises ValueError: when there are no files
    :raises TooLarge: when the types have more than ``max_parts`` templates together
    """
    files = find(path)
    report.expected, report.files = len(files), 0
    library = _Library(uow, report, max_parts, whole=whole, exact=exact)
    for start in range(0, len(files), CHUNK):
        library.take(files[start : start + CHUNK])
    return ImportedLibrary(library.layout.pictures.used, library.imported)


class _Library:
    """One import of the library: the manufacturers, sources and types that its chunks of files share."""

    def __init__(
        self, uow: UnitOfWork, report: ImportReport, max_parts: int | None, *, whole: bool, exact: bool
    ) -> None:
        self.max_parts, self.parts, self.whole, self.exact = max_parts, 0, whole, exact
        self.imported: dict[str, ImportedType] = {}
        self.uow = uow
        self.report = report
        self.layout = FileLayout(uow.registry, exact=exact)
        self.types, self.makers = self.layout.types.label, uow.registry.of_model(Manufacturer).label
        self.left_out = report.left_out = collections.Counter[tuple[str, str, str]]()
        self.described: dict[tuple[str, Any], str] = {}  # file names of types by manufacturer and model
        self.sources: dict[str, Declaration] = {
            **declarations(uow.registry),
            self.makers: Source(self.makers, by=("name",)),
            self.types: Source(self.types, by=("manufacturer_id", "model")),
            **{
                section.label: Source(
                    section.label, by=("device_type_id", "name"), parent="device_type", usual={"enabled": "true"}
                )
                for section in self.layout.sections.values()
            },
        }

    def take(self, files: Sequence[File]) -> None:
        """Imports a chunk of files; in several parts where their pictures are large."""
        part: list[Described] = []
        size = 0
        for file in files:
            if (described := self._read(file)) is not None:
                part.append(described)
                size += described.picture_bytes
            if size > CHUNK_BYTES:
                self._take(part)
                part, size = [], 0
        self._take(part)
        self.report.files = (self.report.files or 0) + len(files)
        self.report.advance(self.types)

    def _take(self, read: list[Described]) -> None:
        """Imports what files describe."""
        self._count(read)
        makers = self._makers({described.manufacturer for described in read})
        read = [described for described in read if self._is_first(described, makers[described.manufacturer]["name"])]
        if self.whole:
            read = self._without(read, {item.file.name: _first_refused(item) for item in read if item.refused})
        for described in read:
            self.left_out.update(described.left_out)
            self.report.incomplete += [((self.types, described.file.name), reason) for reason in described.lacking]
            for (label, part_name), reason in described.refused.items():
                self.report.settle((label, _key(described, part_name)), REFUSED, reason)
        self._write(read, makers)

    def _write(self, read: Sequence[Described], makers: Mapping[str, dict[str, str]]) -> None:
        """Writes the objects of files. With ``whole``, those of files with errors are rolled back and left out."""
        while True:
            part = ImportReport()
            try:
                with self.uow.savepoint() if self.whole else contextlib.nullcontext():
                    translation = self._import(read, makers, part)
                    reasons = _file_reasons(part, {item.file.name for item in read}) if self.whole else {}
                    if reasons:
                        raise _IncompleteFiles(reasons)
                break
            except _IncompleteFiles as incomplete:
                read = self._without(read, incomplete.reasons)
        self.report.take(part)
        self.left_out.update(translation.left_out)
        imported = {}
        for described in read:
            if (self.types, described.file.name) in translation.here:
                key = translation.ids[self.types, described.file.name]
                name = f"{makers[described.manufacturer]['name']} {described.fields['model']}"
                imported[key] = described
                self.imported[described.file.name] = ImportedType(key, name)
        self._settle_other_templates(imported)

    def _import(
        self, read: Sequence[Described], makers: Mapping[str, dict[str, str]], report: ImportReport
    ) -> DumpMapping:
        """Imports the objects of files; reasons of the report begin with the lines that they are about."""
        translation = DumpMapping(
            self.uow.registry,
            Dump(self._objects(read, makers)),
            self.sources,
            user_id=self.uow.identity.user_id,
            origin=ORIGIN,
            new_ids=True,
            complete=self._complete,
        )
        Import(self.uow, translation, report).run()
        by_file = {described.file.name: described for described in read}
        for (label, key), reason in report.reasons.items():
            file_name, _, part_name = str(key).partition(": ")
            name = part_name or reason.partition(": ")[0]
            line = by_file[file_name].lines.get((label, name)) if file_name in by_file else None
            if line is not None and report.outcomes[label, key] == REFUSED:
                report.reasons[label, key] = f"line {line}: {reason}"
        return translation

    def _without(self, read: Sequence[Described], reasons: Mapping[str, str]) -> list[Described]:
        """The files without those that have reasons, which are refused."""
        for file_name, reason in reasons.items():
            self.report.settle((self.types, file_name), REFUSED, reason)
        return [described for described in read if described.file.name not in reasons]

    def _count(self, read: Sequence[Described]) -> None:
        """Counts the templates of types, those that were refused among them."""
        self.parts += sum(len(described.refused) + sum(map(len, described.parts.values())) for described in read)
        if self.max_parts is not None and self.parts > self.max_parts:
            raise TooLarge(f"The device types have more than {self.max_parts:,} components. {UNLIMITED}")

    def _complete(self, mapping: DumpMapping) -> None:
        """Keeps values without a field here in custom fields, where the user may define these."""
        fields = self.uow.registry.get(FIELD)
        if fields is None:
            return
        try:
            for action in ("view", "add", "change"):
                permissions.check(self.uow, fields, action)
        except Denied:
            return
        self.uow.registry.hooks.netinv_complete_import(uow=self.uow, mapping=mapping)

    def _read(self, file: File) -> Described | None:
        """The content of a file; reports a file that cannot be read and returns ``None``."""
        try:
            return self.layout.describe(file)
        except YamlFault as fault:
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
        labels = [self.makers, self.types, *(section.label for section in self.layout.sections.values())]
        objects: Objects = {label: {} for label in labels}
        for described in read:
            maker, file_name = makers[described.manufacturer], described.file.name
            objects[self.makers][maker["name"]] = maker
            objects[self.types][file_name] = {**described.fields, "manufacturer": maker["name"]}
            for section in self.layout.sections.values():
                for part_name, fields in described.parts[section.label].items():
                    joined = {name: _key(described, fields[name]) for name in section.joined if fields.get(name)}
                    part = {**fields, **joined, "device_type": file_name}
                    objects[section.label][_key(described, part_name)] = part
        return objects

    def _settle_other_templates(self, imported: Mapping[Any, Described]) -> None:
        """Reports the templates of types (by id) that their files do not contain, or deletes them where types are to be
        exact; found by one UNION ALL statement.
        """
        registry = self.uow.registry
        tables = [table_of(kind.template) for kind in KINDS]
        union = kept_union(
            registry,
            ("beyond", KINDS),
            lambda: [
                (
                    [table.c.device_type_id, table.c.name, table.c.id],
                    table,
                    in_parameter(table.c.device_type_id),
                )
                for table in tables
            ],
        )
        found = zip(tables, union.rows(self.uow, {"keys": list(imported)}), strict=True)
        for table, rows in reversed(list(found)):  # what refers to other templates first
            endpoint = registry.by_table[table]
            more = {
                _key(imported[type_id], name): key
                for type_id, name, key in rows
                if name not in imported[type_id].parts[endpoint.label]
                and (endpoint.label, name) not in imported[type_id].refused
            }
            if self.exact:
                self._delete(endpoint, more)
            elif more:
                self.report.beyond.setdefault(endpoint.label, []).extend(sorted(more))

    def _delete(self, endpoint: Endpoint, templates: Mapping[str, Any]) -> None:
        """Deletes templates by their keys in the report, all or none."""
        if not templates:
            return
        try:
            with self.uow.savepoint():
                delete.delete(self.uow, endpoint, [{"id": key} for key in templates.values()])
            outcome, reason = DELETED, ""
        except RequestError as error:
            outcome, reason = REFUSED, f"not deleted: {error_text(error)}"
        for name in sorted(templates):
            self.report.settle((endpoint.label, name), outcome, reason)


def _first_refused(described: Described) -> str:
    """The error of the first refused template of a file, and the number of others."""
    (_, part_name), reason = next(iter(described.refused.items()))
    others = len(described.refused) - 1
    return f"{part_name}: {reason}{f'; and {others} more' if others else ''}"


def _file_reasons(report: ImportReport, names: Collection[str]) -> dict[str, str]:
    """The reasons why files are not imported whole: that of the type, else that of its first refused template."""
    reasons: dict[str, str] = {}
    for key, outcome in report.outcomes.items():
        file_name, _, part_name = str(key[1]).partition(": ")
        if outcome in (REFUSED, SKIPPED) and file_name in names:
            reason = report.reasons.get(key, outcome)
            if not part_name:
                reasons[file_name] = reason
            elif outcome == REFUSED:
                reasons.setdefault(file_name, f"{part_name}: {reason}")
    return reasons


def _key(described: Described, part_name: str) -> str:
    """The key of a template in dumps and reports: the name of its file, and its own name."""
    return f"{described.file.name}: {part_name}"
