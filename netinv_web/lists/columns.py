"""Columns of lists: which fields a list shows, in what order; chosen in the URL, by the user, or derived.

Values of custom fields are columns too, named like their filters: ``cf_<slug>``. Packages add columns of other facts by
the hook ``netinv_web_columns``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Denied
from netinv_core.labels import label_of, label_of_name, title_of
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.packages import errors_of
from netinv_core.presentation import Presentation, merged
from netinv_core.read.filters import dynamic_filters
from netinv_core.read.ordering import orderings_of
from netinv_core.read.ranked import is_ranked
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, ReadPlan
    from netinv_core.uow import UnitOfWork

MAX_DERIVED = 7
MAX_COLUMNS = 40
NEVER = frozenset({"id", "display", "url"})
NUMBERS = (int, float)
CUSTOM_FIELDS = "custom_fields"
# Fields with values that people copy, compare and search for: they are useless when a part is missing.
COPYABLE_NAMES = frozenset(
    {"serial", "asset_tag", "mac_address", "address", "prefix", "host", "cid", "asn", "rd", "id"}
)


@dataclasses.dataclass(frozen=True)
class ListColumn:
    """A column of a package: ``cell(plan, place)`` returns the reader of its cells, a
    :data:`netinv_web.cells.CellReader`. What is beside the rows it loads for all of them (``plan.batch``).

    One with the name of a field takes the place of its column, and is sorted and edited as that. ``permission`` is a
    further permission, as a pair of a label and an action. The text of a column that ``wraps`` takes several lines
    where the window is narrow; others are cut. On a phone, a ``labelled`` one has its label before each value.
    """

    name: str
    label: str
    cell: Callable[[ReadPlan, JoinedTable], Any]
    permission: tuple[str, str] | None = None
    wraps: bool = False
    labelled: bool = False


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a list. It shows a field, the ``member`` of its value, or what a package shows (``extra``).
    A ``whole`` one takes the width that it needs; others are cut.

    ``ordering`` is the name by which the list is ordered by the column; empty when it cannot be.
    """

    field: Field | None
    label: str
    ordering: str = ""
    numeric: bool = False
    member: str = ""
    extra: ListColumn | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        """The name in queries."""
        if self.member:
            return f"{CUSTOM_FIELD_PREFIX}{self.member}"
        return self.extra.name if self.extra is not None else self.field.name if self.field is not None else ""

    @property
    def style(self) -> str:
        """The class of its cells in style sheets, if any."""
        if self.extra is not None and (self.extra.wraps or self.field is None):
            return "wrap" if self.extra.wraps else ""
        if self.whole:
            return "uncut"
        is_long = isinstance(self.field, fields.GenericForeignKey)  # a name with that of a parent
        return "number" if self.numeric else "long" if is_long else ""

    @property
    def labelled(self) -> bool:
        """True if each value has the label before it on a phone: numbers, and references that are not called as what
        they lead to, such as the untagged VLAN.
        """
        if self.extra is not None:
            return self.extra.labelled
        if not isinstance(self.field, fields.Reference) or self.field.target is None:
            return self.numeric
        return not title_of(self.field.target).casefold().endswith(self.label.casefold())

    @property
    def start_tag(self) -> Markup:
        """The start tag of its cells."""
        style = Markup(' class="%s"') % self.style if self.style else ""
        label = Markup(' data-label="%s"') % self.label if self.labelled else ""
        return Markup("<td%s%s>") % (style, label)


@cached_in_registry
def extra_columns(endpoint: Endpoint) -> Mapping[str, ListColumn]:
    """The columns of packages, by name."""
    columns: dict[str, ListColumn] = {}
    for package, items in endpoint.registry.call_each(
        "netinv_web_columns", registry=endpoint.registry, endpoint=endpoint
    ):
        with errors_of(package):
            columns |= {item.name: item for item in items}
    return columns


def _shown_columns(uow: UnitOfWork, endpoint: Endpoint) -> tuple[list[Field], dict[str, ListColumn]]:
    """The fields that can be columns, and the columns of packages by name, both as far as the user may view them."""
    extras = {name: item for name, item in extra_columns(endpoint).items() if _is_permitted(uow, item)}
    hidden = extra_columns(endpoint).keys() - extras.keys()
    return [field for field in available(endpoint) if field.name not in hidden], extras


def _is_permitted(uow: UnitOfWork, column: ListColumn) -> bool:
    if column.permission is None:
        return True
    label, action = column.permission
    endpoint = uow.registry.get(label)
    if endpoint is None:
        return False
    try:
        permissions.check(uow, endpoint, action)
    except Denied:
        return False
    return True


@cached_in_registry
def presentation_of(endpoint: Endpoint) -> Presentation:
    """The presentation of a resource: what it states, then what packages state about it."""
    resource = endpoint.resource if endpoint.resource.of is None else endpoint.resource.of
    presentation = resource.presentation
    registry = endpoint.registry
    for package, other in registry.call_each("netinv_web_presentation", registry=registry, endpoint=endpoint):
        with errors_of(package):
            presentation = merged(presentation, other) if other is not None else presentation
    return presentation


def available(endpoint: Endpoint) -> list[Field]:
    """The fields that can be columns."""
    naming = naming_field(endpoint)
    return [
        field
        for name, field in endpoint.fields.items()
        if name not in NEVER and name != naming and not (field.write_only or field.confidential)
    ]


def naming_field(endpoint: Endpoint) -> str:
    """The field that the column with the object's name shows already: the one its display consists of."""
    paths = endpoint.resource.display[1:]
    return paths[0] if len(paths) == 1 and paths[0] in endpoint.fields else ""


def default_columns(endpoint: Endpoint) -> list[str]:
    """The columns that the presentation states, or those that follow from the fields.

    Status first, then references and choices, then plain values; counters and the description last. The name is shown
    in the first column already.
    """
    shown = [field for field in available(endpoint) if field.name != "name"]
    names = {field.name for field in shown} | extra_columns(endpoint).keys()
    stated = [name for name in presentation_of(endpoint).columns if name in names]
    if stated:
        return stated
    ranked = sorted(
        (rank, place, field.name) for place, field in enumerate(shown) if (rank := _rank(field)) is not None
    )
    derived = [name for _, _, name in ranked[:MAX_DERIVED]]
    order = {name: place for place, name in enumerate(["status", *endpoint.fields])}
    derived.sort(key=lambda name: (name == "description", order[name]))
    return derived


def _rank(field: Field) -> int | None:
    """The rank of a field among those that could be columns; ``None`` for those that are not, unless asked for."""
    if field.costly or field.opt_in or field.name in ("slug", "comments", "created", "last_updated", "notes_url"):
        return None
    if isinstance(field, fields.Status):
        return 0
    if isinstance(field, fields.Reference):
        return 1
    if isinstance(field, fields.Choice) or field.name in ("description", "enabled"):
        return 2
    if isinstance(field, fields.Count):
        return 3
    if isinstance(field, fields.Value) and field.info.kind not in ("json", "image", "opaque"):
        return 2 if field.required else 4
    return None


def all_columns(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Column]:
    """The columns that a list can have, by name; those of custom fields last."""
    shown, extras = _shown_columns(uow, endpoint)
    columns = {
        field.name: column_of(endpoint, field, extras.pop(field.name, None))
        for field in shown
        if field.name != CUSTOM_FIELDS
    }
    further = {name: Column(None, item.label, extra=item) for name, item in extras.items()}
    return {**columns, **further, **_custom_columns(uow, endpoint)}


def _custom_columns(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Column]:
    field = endpoint.fields.get(CUSTOM_FIELDS)
    if field is None:
        return {}
    columns: dict[str, Column] = {}
    for name, item in dynamic_filters(uow, endpoint).items():
        if name.startswith(CUSTOM_FIELD_PREFIX):
            slug = name.removeprefix(CUSTOM_FIELD_PREFIX)
            columns[name] = Column(field, label_of_name(slug), name if item.sort_by else "", member=slug)
    return columns


def columns_of(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> list[Column]:
    """The columns of these names, in order; names that are no columns are left out."""
    shown, extras = _shown_columns(uow, endpoint)
    known = {field.name: field for field in shown}
    custom: Mapping[str, Column] = {}
    if any(name.startswith(CUSTOM_FIELD_PREFIX) for name in names):
        custom = _custom_columns(uow, endpoint)
    columns: list[Column] = []
    for name in dict.fromkeys(names):
        if name in known:
            columns.append(column_of(endpoint, known[name], extras.get(name)))
        elif name in extras:
            columns.append(Column(None, extras[name].label, extra=extras[name]))
        elif name in custom:
            columns.append(custom[name])
    return columns[:MAX_COLUMNS]


def column_of(endpoint: Endpoint, field: Field, extra: ListColumn | None = None) -> Column:
    """The column of a field, or that of a package in its place."""
    numeric = isinstance(field, fields.Count) or (
        isinstance(field, fields.Value) and not isinstance(field, fields.Choice) and field.python_type in NUMBERS
    )
    is_sortable = field.name in orderings_of(endpoint) or is_ranked(endpoint, field.name)
    ordering = field.name if is_sortable else ""
    if extra is not None:
        return Column(field, extra.label, ordering, extra=extra)
    return Column(field, label_of(field), ordering, numeric, whole=field.name in _whole_columns(endpoint))


@cached_in_registry
def _whole_columns(endpoint: Endpoint) -> frozenset[str]:
    """The references to objects that are named by a value that people copy, such as an address."""
    named = endpoint.fields.items()
    names = {
        name
        for name, field in named
        if isinstance(field, fields.Reference)
        and field.target is not None
        and naming_field(field.target) in COPYABLE_NAMES
    }
    first = {name for name, field in named if isinstance(field, fields.Coalesce) and names.issuperset(field.references)}
    return frozenset(names | first)
