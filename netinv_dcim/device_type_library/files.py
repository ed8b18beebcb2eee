"""Files of the community device-type library: finding them, and reading a device type and its templates from each."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.fields import Choice, Image, Reference, Value, errors_of, schema
from netinv_core.storage.files import Upload
from netinv_core.write.draft import Draft
from netinv_dcim.components.kinds import KINDS
from netinv_dcim.device_type_library import TYPES, yaml_reader
from netinv_dcim.device_type_library.pictures import Pictures, stems_of
from netinv_dcim.device_type_library.yaml_reader import Block, YamlFault
from netinv_dcim.device_types import DeviceType
from netinv_dcim.netbox_folds import whole
from netinv_import.mapping import NO_FIELD
from netinv_import.preparation import OTHER

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

SUFFIXES = (".yaml", ".yml")
NO_IMAGE = "the library has no such file"
LINK = "a link to a folder is not followed"
MAX_OTHERS = 100  # names of values without a field here that one import keeps
MAX_NAME = 100  # characters of such a name
OTHERS, TOO_MANY = "other keys", f"more than {MAX_OTHERS} names, or longer ones, have no field here"
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
            if name.lower().endswith(SUFFIXES):
                add(Path(folder) / name)
    if not any(not file.fault for file in files):
        expected = f"files that end in {' or '.join(SUFFIXES)}, in a folder for each manufacturer"
        raise ValueError(f"{path} holds no device types: {expected}")
    return sorted(files, key=lambda file: file.name)


@dataclasses.dataclass
class Described:
    """The content of a file as API fields: ``fields`` of the device type, and ``parts``, the fields of its templates.

    Values without a field here, and unknown choices, are among them as the file has them: the import keeps or counts
    them, as it does those of a NetBox. ``parts`` is keyed by the label of the template model and the template's name.
    ``refused`` holds the error of each invalid template, by label and name. ``lacking`` holds the errors of images.
    ``left_out`` holds the keys of the file that are not imported: label, key, reason. ``lines`` has the lines of the
    templates by label and name, and those of the fields by the label of the type and their names.
    """

    file: File
    manufacturer: str
    fields: dict[str, Any]
    parts: dict[str, dict[str, dict[str, Any]]] = dataclasses.field(default_factory=dict)
    refused: dict[Key, str] = dataclasses.field(default_factory=dict)
    lacking: list[str] = dataclasses.field(default_factory=list)
    left_out: set[tuple[str, str, str]] = dataclasses.field(default_factory=set)
    lines: dict[Key, int] = dataclasses.field(default_factory=dict)

    @property
    def picture_bytes(self) -> int:
        """The size of the pictures."""
        return sum(len(value.content) for value in self.fields.values() if isinstance(value, Upload))


@dataclasses.dataclass(frozen=True)
class FileSection:
    """A list of templates in a file, such as ``front-ports``: the template model's label and its plain fields.

    ``joined`` maps each field that names another template of the file to that template model's label. ``writable`` are
    the names of all fields that templates have here. ``unsaid`` has the values of the fields that an item of the file
    may leave out, where it does; it is empty if they stay as they are.
    """

    label: str
    fields: Mapping[str, Value]
    joined: Mapping[str, str]
    writable: frozenset[str]
    unsaid: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class FileLayout:
    """The keys that a file may have: API fields of the type, images, and a section named after each component path.

    With ``exact``, what a file does not say of a template is its default.
    """

    def __init__(self, registry: Registry, *, exact: bool = False) -> None:
        self.types = registry.of_model(DeviceType)
        self.pictures = Pictures()
        self._others: set[tuple[str, str]] = set()
        self.fields = _plain_fields(self.types)
        self.images = {name: field for name, field in self.types.writable.items() if isinstance(field, Image)}
        templates = {kind: registry.of_model(kind.template) for kind in KINDS}
        labels = {template.label for template in templates.values()}
        self.sections: dict[str, FileSection] = {}
        for kind, template in templates.items():
            fields = template.writable.items()
            references = {name: field.target for name, field in fields if isinstance(field, Reference)}
            joined = {
                name: target.label
                for name, target in references.items()
                if target is not None and target.label in labels
            }
            plain = _plain_fields(template)
            section = registry.of_model(kind.component).resource.name
            self.sections[section] = FileSection(
                template.label,
                plain,
                joined,
                frozenset(template.writable),
                _defaults(template, [*plain, *joined]) if exact else {},
            )

    def describe(self, file: File) -> Described:
        """Reads a file.

        :raises Fault: when it cannot be read or is not the description of a device type
        """
        if file.fault:
            raise YamlFault(file.fault)
        document = yaml_reader.read(file.path)
        if not isinstance(document, Block):
            raise YamlFault("a mapping is expected")
        for name in ("manufacturer", "model"):
            if not isinstance(document.get(name), str) or not document[name].strip():
                reason = schema.REQUIRED if document.get(name) is None else "a name is expected"
                raise YamlFault(f"{_at(document, name)}{name}: {reason}")
        stated = _in_whole_units(document)
        fields = dict(_parse_fields(self.fields, stated, document))
        described = Described(file, document["manufacturer"].strip(), fields)
        described.lines = {(self.types.label, name): line for name, line in document.lines.items()}
        for name, section in self.sections.items():
            self._add_parts(described, section, name, document)
        for name in self.images:
            self._add_image(described, name, document.get(name))
        known = {"manufacturer", *self.fields, *self.sections, *self.images}
        described.left_out |= self._add_others(self.types.label, fields, stated, known, frozenset(self.types.writable))
        return described

    def _add_parts(self, described: Described, section: FileSection, name: str, document: Block) -> None:
        """Adds the templates of a section to ``described``. Invalid ones are recorded as refused."""
        parts, items = described.parts.setdefault(section.label, {}), document.get(name)
        if not isinstance(items, list | None):
            raise YamlFault(f"{_at(document, name)}{name}: a list is expected")
        for number, item in enumerate(items or (), 1):
            part_name = item.get("name") if isinstance(item, Block) else None
            key = f"{name} {number}{f', line {item.line}' if isinstance(item, Block) else ''}"
            if not isinstance(part_name, str) or not part_name.strip():
                described.refused[section.label, key] = "a mapping with a name is expected"
            elif part_name.strip() in parts:
                described.refused[section.label, key] = f"{part_name.strip()} is there twice"
            else:
                self._add_part(described, section, part_name.strip(), item)

    def _add_part(self, described: Described, section: FileSection, part_name: str, item: Block) -> None:
        """Adds a template of the name ``part_name`` to ``described``, or its error to ``described.refused``."""
        known = {*section.fields, *section.joined}
        described.lines[section.label, part_name] = item.line
        try:
            fields = {**section.unsaid, **dict(_parse_fields(section.fields, item, item))}
            for name, label in section.joined.items():
                if item.get(name) is not None:
                    fields[name] = other = str(item[name]).strip()
                    if other not in described.parts[label]:
                        reason = "was refused" if (label, other) in described.refused else "is not in the file"
                        raise YamlFault(f"{_at(item, name)}{name}: {other} {reason}")
            described.left_out |= self._add_others(section.label, fields, item, known, section.writable)
            described.parts[section.label][part_name] = fields
        except YamlFault as fault:
            described.refused[section.label, part_name] = str(fault)

    def _add_others(
        self, label: str, fields: dict[str, Any], block: Mapping[str, Any], known: set[str], writable: frozenset[str]
    ) -> set[tuple[str, str, str]]:
        """Adds the values that have no field here; returns what is not imported: what a file cannot state, such as
        custom fields, and what has more names than an import keeps.
        """
        left_out = set()
        for name, value in block.items():
            if name in known or value in (None, [], {}, ""):
                continue
            key = label, name
            if name in writable:
                left_out.add((label, name, NO_FIELD))
            elif key not in self._others and (len(self._others) >= MAX_OTHERS or len(name) > MAX_NAME):
                left_out.add((label, OTHERS, TOO_MANY))
            else:
                self._others.add(key)
                fields[name] = value
        return left_out

    def _add_image(self, described: Described, name: str, value: Any) -> None:
        """Adds the image of a type: a picture of the library that has its name, unless the value is ``false``."""
        stated = str(value or "").lower()
        if stated not in ("", "true"):
            return
        path, side = described.file.path, name.removesuffix("_image")
        stems = stems_of(described.manufacturer, described.fields["model"], described.fields.get("slug", ""), path)
        try:
            image = self.pictures.find(path, stems, side)
            if image is None:
                raise FileNotFoundError(side)
            upload = Upload(image.name, image.read_bytes())
            self.images[name].accept(Draft(self.types, {}), upload)
            described.fields[name] = upload
        except OSError:
            if stated:
                described.left_out.add((self.types.label, name, NO_IMAGE))
        except colander.Invalid as error:
            described.lacking.append(f"{name}: {' '.join(errors_of(error))}")


def _in_whole_units(document: Block) -> Mapping[str, Any]:
    """A device type whose height is a whole number of units, as an import from NetBox rounds it up."""
    try:
        rounded = whole(document, "u_height", up=True)
    except (TypeError, ValueError, OverflowError):
        return document
    height = rounded.get("u_height")
    return {**rounded, "u_height": str(height)} if isinstance(height, int) else document


def _plain_fields(endpoint: Endpoint) -> dict[str, Value]:
    """The writable fields that hold a plain value of the column of the same name."""
    return {
        name: field for name, field in endpoint.writable.items() if isinstance(field, Value) and field.attribute == name
    }


def _defaults(endpoint: Endpoint, names: Iterable[str]) -> dict[str, Any]:
    """The defaults of the fields with a value or a reference that need not be given."""
    defaults: dict[str, Any] = {}
    for name in names:
        field = endpoint.writable[name]
        if not field.required:
            default = endpoint.table.c[field.attribute].default if isinstance(field, Value) else None
            defaults[name] = None if default is None else default.arg
    return defaults


def _at(block: Block, name: str) -> str:
    """The line of a key, as errors begin with it; nothing where the key is missing."""
    return f"line {block.lines[name]}: " if name in block.lines else ""


def _parse_fields(fields: Mapping[str, Value], values: Mapping[str, Any], block: Block) -> Iterator[tuple[str, Any]]:
    """The names and parsed values of the fields that a block contains, from its ``values``.

    :raises Fault: when a value is invalid, with the line of its key
    """
    for name, field in fields.items():
        value = values.get(name)
        if value is None:
            continue
        at = _at(block, name)
        if not isinstance(value, str):
            raise YamlFault(f"{at}{name}: a single value is expected")
        if isinstance(field, Choice) and OTHER in field.choices.labels and value not in field.choices.labels:
            yield name, value  # the import makes it "other"
            continue
        try:
            yield name, schema.parse(field.node, value)
        except colander.Invalid as error:
            reason, excerpt = " ".join(errors_of(error)), value if len(value) <= LONG else f"{value[:LONG]}…"
            raise YamlFault(
                f"{at}{name}: {reason}" if value in reason else f"{at}{name} is {excerpt}: {reason}"
            ) from None
