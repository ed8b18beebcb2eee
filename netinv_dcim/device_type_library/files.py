"""Files of the community device-type library: finding them, and reading a device type and its templates from each."""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import colander

from netinv_core.fields import Image, Reference, Value, errors_of
from netinv_core.storage.files import Upload
from netinv_core.types import Endpoint, Registry
from netinv_core.write import schema
from netinv_core.write.draft import Draft
from netinv_dcim.components.instantiation import KINDS
from netinv_dcim.device_type_library import yaml_reader
from netinv_dcim.device_type_library.yaml_reader import Block, Fault
from netinv_dcim.device_types import DeviceType
from netinv_import.mapping import NO_FIELD

TYPES, IMAGES = "device-types", "elevation-images"
SUFFIXES = (".yaml", ".yml")
NO_IMAGE = "the library has no such file"
LINK = "a link to a folder is not followed"
LONG = 60  # characters of a value that an error message shows
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the library: its path, its name within the library, and the reason not to read it (``fault``)."""

    path: Path
    name: str
    fault: str = ""


def find(path: Path) -> list[File]:
    """The files at a path, sorted by name; the path is the root of the library, a folder of it, or one file.

    :raises ValueError: when there is no readable file of a device type
    """
    if not path.is_dir():
        return [File(path, path.name)]
    inside = path / TYPES if (path / TYPES).is_dir() else path
    files: list[File] = []

    def add(file: Path, fault: str = "") -> None:
        name = os.fsencode(file.relative_to(path)).decode(errors="backslashreplace")
        files.append(File(file, name, fault))

    def add_unreadable(error: OSError) -> None:
        add(Path(error.filename), f"it cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(inside, onerror=add_unreadable):
        for name in folders:
            if (Path(folder) / name).is_symlink():
                add(Path(folder) / name, LINK)
        for name in names:
            if name.endswith(SUFFIXES):
                add(Path(folder) / name)
    if not any(not file.fault for file in files):
        expected = f"files that end in {' or '.join(SUFFIXES)}, in a folder for each manufacturer"
        raise ValueError(f"{path} holds no device types: {expected}")
    return sorted(files, key=lambda file: file.name)


@dataclasses.dataclass
class Described:
    """The content of a file as API fields: ``fields`` of the device type, and ``parts``, the fields of its templates.

    ``parts`` is keyed by the label of the template model and the template's name. ``refused`` holds the error of each
    invalid template, by label and name. ``lacking`` holds the errors of images. ``left_out`` holds the keys of the file
    that are not imported: label, key, reason.
    """

    file: File
    manufacturer: str
    fields: dict[str, Any]
    parts: dict[str, dict[str, dict[str, Any]]] = dataclasses.field(default_factory=dict)
    refused: dict[Key, str] = dataclasses.field(default_factory=dict)
    lacking: list[str] = dataclasses.field(default_factory=list)
    left_out: set[tuple[str, str, str]] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True)
class Section:
    """A list of templates in a file, such as ``front-ports``: the template model's label and its plain fields.

    ``joined`` maps each field that names another template of the file to that template model's label.
    """

    label: str
    fields: Mapping[str, Value]
    joined: Mapping[str, str]


class Layout:
    """The keys that a file may have: API fields of the type, images, and a section named after each component path."""

    def __init__(self, registry: Registry) -> None:
        self.types = registry.of_model(DeviceType)
        self.fields = _plain_fields(self.types)
        self.images = {name: field for name, field in self.types.writable.items() if isinstance(field, Image)}
        templates = {kind: registry.of_model(kind.template) for kind in KINDS}
        labels = {template.label for template in templates.values()}
        self.sections: dict[str, Section] = {}
        for kind, template in templates.items():
            fields = template.writable.items()
            references = {name: field.target for name, field in fields if isinstance(field, Reference)}
            joined = {
                name: target.label
                for name, target in references.items()
                if target is not None and target.label in labels
            }
            section = registry.of_model(kind.component).resource.name
            self.sections[section] = Section(template.label, _plain_fields(template), joined)

    def describe(self, file: File) -> Described:
        """Reads a file.

        :raises Fault: when it cannot be read or is not the description of a device type
        """
        if file.fault:
            raise Fault(file.fault)
        document = yaml_reader.read(file.path)
        if not isinstance(document, Block):
            raise Fault("a mapping is expected")
        for name in ("manufacturer", "model"):
            if not isinstance(document.get(name), str) or not document[name].strip():
                reason = schema.REQUIRED if document.get(name) is None else "a name is expected"
                raise Fault(f"{name}: {reason}")
        fields = dict(_parsed(self.fields, document))
        described = Described(file, document["manufacturer"].strip(), fields)
        for name, section in self.sections.items():
            self._add_parts(described, section, name, document.get(name))
        for name in self.images:
            self._add_image(described, name, document.get(name))
        known_names = {"manufacturer", *self.fields, *self.sections, *self.images}
        unknown = [name for name, value in document.items() if name not in known_names and value not in (None, [])]
        described.left_out |= {(self.types.label, name, NO_FIELD) for name in unknown}
        return described

    def _add_parts(self, described: Described, section: Section, name: str, items: Any) -> None:
        """Adds the templates of a section to ``described``. Invalid ones are recorded as refused."""
        parts = described.parts.setdefault(section.label, {})
        if not isinstance(items, list | None):
            raise Fault(f"{name}: a list is expected")
        for number, item in enumerate(items or (), 1):
            part_name = item.get("name") if isinstance(item, Block) else None
            key = f"{name} {number}{f', line {item.line}' if isinstance(item, Block) else ''}"
            if not isinstance(part_name, str) or not part_name.strip():
                described.refused[section.label, key] = "a mapping with a name is expected"
            elif part_name.strip() in parts:
                described.refused[section.label, key] = f"{part_name.strip()} is there twice"
            else:
                self._add_part(described, section, part_name.strip(), item)

    def _add_part(self, described: Described, section: Section, part_name: str, item: Block) -> None:
        """Adds a template of the name ``part_name`` to ``described``, or its error to ``described.refused``."""
        known_names = {*section.fields, *section.joined}
        unknown = [name for name, value in item.items() if name not in known_names and value is not None]
        described.left_out |= {(section.label, name, NO_FIELD) for name in unknown}
        try:
            fields = dict(_parsed(section.fields, item))
            for name, label in section.joined.items():
                if item.get(name) is not None:
                    fields[name] = other = str(item[name]).strip()
                    if other not in described.parts[label]:
                        reason = "was refused" if (label, other) in described.refused else "is not in the file"
                        raise Fault(f"{name}: {other} {reason}")
            described.parts[section.label][part_name] = fields
        except Fault as fault:
            described.refused[section.label, part_name] = str(fault)

    def _add_image(self, described: Described, name: str, value: Any) -> None:
        """Adds the image of a type. The value is only ``true``; the image is a file of the library named by the slug.

        Example: ``elevation-images/Cisco/cisco-c9300.front.png``.
        """
        if not isinstance(value, str) or value.lower() != "true":
            return
        path = described.file.path.absolute()
        stem = glob.escape(f"{described.fields.get('slug') or path.stem}.{name.removesuffix('_image')}")
        try:
            image = min((path.parent.parent.parent / IMAGES / path.parent.name).glob(f"{stem}.*"))
            upload = Upload(image.name, image.read_bytes())
            self.images[name].accept(Draft(self.types, {}), upload)
            described.fields[name] = upload
        except (ValueError, OSError):  # ValueError: min() of no file
            described.left_out.add((self.types.label, name, NO_IMAGE))
        except colander.Invalid as error:
            described.lacking.append(f"{name}: {' '.join(errors_of(error))}")


def _plain_fields(endpoint: Endpoint) -> dict[str, Value]:
    """The writable fields that hold a plain value of the column of the same name."""
    return {
        name: field for name, field in endpoint.writable.items() if isinstance(field, Value) and field.attribute == name
    }


def _parsed(fields: Mapping[str, Value], block: Block) -> Iterator[tuple[str, Any]]:
    """The names and parsed values of the fields that a block contains.

    :raises Fault: when a value is invalid
    """
    for name, field in fields.items():
        value = block.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise Fault(f"{name}: a single value is expected")
        try:
            yield name, schema.parse(field.node, value)
        except colander.Invalid as error:
            reason, excerpt = " ".join(errors_of(error)), value if len(value) <= LONG else f"{value[:LONG]}…"
            raise Fault(f"{name}: {reason}" if value in reason else f"{name} is {excerpt}: {reason}") from None
