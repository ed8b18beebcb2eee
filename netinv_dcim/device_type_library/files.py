"""Files of the community's device-type library: where they lie, and what each says of a type and of what its devices have."""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import colander

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Image, Reference, Value, errors_of
from netinv_core.importing.mapping import NO_FIELD
from netinv_core.registry import Registry
from netinv_core.storage.files import Upload
from netinv_core.write import schema
from netinv_core.write.draft import Draft
from netinv_dcim.components.instantiation import KINDS
from netinv_dcim.device_type_library import yaml_reader
from netinv_dcim.device_type_library.yaml_reader import Block, Fault
from netinv_dcim.device_types import DeviceType

TYPES, IMAGES = "device-types", "elevation-images"
SUFFIXES = (".yaml", ".yml")
NO_IMAGE = "the library has no such file"
LINK = "a link to a folder is not followed"
LONG = 60  # characters of a value that a reason shows
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the library: how it is called within it, and why it is not read, if it is not."""

    path: Path
    name: str
    fault: str = ""


def find(path: Path) -> list[File]:
    """The files at a path: the root of the library, a folder of it, or one file; in order.

    :raises ValueError: when there is none
    """
    if not path.is_dir():
        return [File(path, path.name)]
    inside = path / TYPES if (path / TYPES).is_dir() else path
    found: list[File] = []

    def add(file: Path, fault: str = "") -> None:
        found.append(File(file, os.fsencode(file.relative_to(path)).decode(errors="backslashreplace"), fault))

    for folder, folders, names in os.walk(inside, onerror=lambda error: add(Path(error.filename), f"it cannot be read: {error.strerror}")):
        for name in folders:
            if (Path(folder) / name).is_symlink():
                add(Path(folder) / name, LINK)
        for name in names:
            if name.endswith(SUFFIXES):
                add(Path(folder) / name)
    if not any(not file.fault for file in found):
        raise ValueError(f"{path} holds no device types: files that end in {' or '.join(SUFFIXES)}, in a folder for each manufacturer")
    return sorted(found, key=lambda file: file.name)


@dataclasses.dataclass
class Described:
    """What a file says, in the terms of resources: ``fields`` of the type; ``parts``, the templates' fields by label and name.

    ``refused`` holds what is wrong with parts, ``lacking`` what is wrong with images, ``left_out`` the keys that have no place
    here, each with its label and reason.
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
    """A list of a file: the templates it holds, and which of their fields name another template, each with that one's label."""

    label: str
    fields: Mapping[str, Value]
    joined: Mapping[str, str]


class Layout:
    """What a file may say: names are those of the API, sections are called as the paths of the components."""

    def __init__(self, registry: Registry) -> None:
        self.types = registry.of_model(DeviceType)
        self.fields = _plain(self.types)
        self.images = {name: field for name, field in self.types.writable.items() if isinstance(field, Image)}
        templates = {kind: registry.of_model(kind.template) for kind in KINDS}
        labels = {template.label for template in templates.values()}
        self.sections: dict[str, Section] = {}
        for kind, template in templates.items():
            references = {name: field.target for name, field in template.writable.items() if isinstance(field, Reference)}
            joined = {name: target.label for name, target in references.items() if target is not None and target.label in labels}
            self.sections[registry.of_model(kind.component).resource.name] = Section(template.label, _plain(template), joined)

    def describe(self, file: File) -> Described:
        """What a file says.

        :raises Fault: when it cannot be read, or says nothing that could be a device type
        """
        if file.fault:
            raise Fault(file.fault)
        document = yaml_reader.read(file.path)
        if not isinstance(document, Block):
            raise Fault("a mapping is expected")
        for name in ("manufacturer", "model"):
            if not isinstance(document.get(name), str) or not document[name].strip():
                raise Fault(f"{name}: {schema.REQUIRED}" if document.get(name) is None else f"{name}: a name is expected")
        fields = dict(_taken(self.fields, document))
        found = Described(file, document["manufacturer"].strip(), fields)
        for name, section in self.sections.items():
            self._add_parts(found, section, name, document.get(name))
        for name in self.images:
            self._add_image(found, name, document.get(name))
        known = {"manufacturer", *self.fields, *self.sections, *self.images}
        found.left_out |= {(self.types.label, name, NO_FIELD) for name, value in document.items() if name not in known and value not in (None, [])}
        return found

    def _add_parts(self, found: Described, section: Section, name: str, items: Any) -> None:
        """The templates of a section; what is wrong with one does not concern the others."""
        parts = found.parts.setdefault(section.label, {})
        if not isinstance(items, list | None):
            raise Fault(f"{name}: a list is expected")
        for number, item in enumerate(items or (), 1):
            called = item.get("name") if isinstance(item, Block) else None
            key = f"{name} {number}{f', line {item.line}' if isinstance(item, Block) else ''}"
            if not isinstance(called, str) or not called.strip():
                found.refused[section.label, key] = "a mapping with a name is expected"
            elif called.strip() in parts:
                found.refused[section.label, key] = f"{called.strip()} is there twice"
            else:
                self._add_part(found, section, called.strip(), item)

    def _add_part(self, found: Described, section: Section, called: str, item: Block) -> None:
        unknown = [name for name, value in item.items() if name not in section.fields and name not in section.joined and value is not None]
        found.left_out |= {(section.label, name, NO_FIELD) for name in unknown}
        try:
            fields = dict(_taken(section.fields, item))
            for name, label in section.joined.items():
                if item.get(name) is not None:
                    fields[name] = other = str(item[name]).strip()
                    if other not in found.parts[label]:
                        raise Fault(f"{name}: {other} {'was refused' if (label, other) in found.refused else 'is not in the file'}")
            found.parts[section.label][called] = fields
        except Fault as fault:
            found.refused[section.label, called] = str(fault)

    def _add_image(self, found: Described, name: str, value: Any) -> None:
        """An image lies beside the types, under the type's slug: what the file says is only that there is one."""
        if not isinstance(value, str) or value.lower() != "true":
            return
        path = found.file.path.absolute()
        called = glob.escape(f"{found.fields.get('slug') or path.stem}.{name.removesuffix('_image')}")
        try:
            image = min((path.parent.parent.parent / IMAGES / path.parent.name).glob(f"{called}.*"))
            upload = Upload(image.name, image.read_bytes())
            self.images[name].accept(Draft(self.types, {}), upload)
            found.fields[name] = upload
        except (ValueError, OSError):  # of none there is no first
            found.left_out.add((self.types.label, name, NO_IMAGE))
        except colander.Invalid as error:
            found.lacking.append(f"{name}: {' '.join(errors_of(error))}")


def _plain(endpoint: Endpoint) -> dict[str, Value]:
    """The fields that are a value by themselves."""
    return {name: field for name, field in endpoint.writable.items() if isinstance(field, Value) and field.attribute == name}


def _taken(fields: Mapping[str, Value], block: Block) -> Iterator[tuple[str, Any]]:
    """The values that a block has for fields, as the fields understand them.

    :raises Fault: for one that a field does not take
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
            reason, shown = " ".join(errors_of(error)), value if len(value) <= LONG else f"{value[:LONG]}…"
            raise Fault(f"{name}: {reason}" if value in reason else f"{name} is {shown}: {reason}") from None
