"""Endpoint: a resource of an application in a registry."""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.app import App
from netinv_core.changelog.object_data import ObjectDataLayout, object_data_layout
from netinv_core.models.columns import column_info
from netinv_core.packages import errors_of
from netinv_core.read import filters, ordering, relations, search_stages
from netinv_core.read.derived_filters import derived_filters
from netinv_core.read.list_selects import ListSelects
from netinv_core.read.ordering import Order, Ordering
from netinv_core.read.plan import JoinedTable, Plan
from netinv_core.resource import Resource, count_of, counter

if TYPE_CHECKING:
    from netinv_core.http.list_formats import ListFormat
    from netinv_core.registry import Registry


class IncomingForeignKey(NamedTuple):
    """A foreign key that refers to an endpoint's model: the column ``attribute`` of ``child``, and its policy."""

    child: Endpoint
    attribute: str
    on_delete: str


class Endpoint:
    """A resource of an application in a registry: its path, fields, relations, filters and plans."""

    def __init__(self, registry: Registry, app: App, resource: Resource) -> None:
        self.registry = registry
        self.app = app
        self.resource = resource
        self.model = resource.model
        self.table: Any = resource.model.__table__
        self.path = f"{app.path}{resource.name}/"
        self.label = resource.label or f"{app.name}.{resource.model.__name__.lower()}"
        self.fields: dict[str, fields.Field] = {}
        self.brief: list[fields.Field] = []
        self.relations: dict[str, relations.Relation] = {}
        self.reverse_relations: set[str] = set()
        self.filters: dict[str, filters.Filter] = {}
        self.rules = list(resource.rules)
        self._plans: dict[str, Plan] = {}
        self.list_selects = ListSelects(self)

    # -- names

    @property
    def canonical_path(self) -> str:
        """The path below which its objects are: that of the main resource, if this one is a further list of it
        (``Resource.of``).
        """
        return self.registry.of_model(self.model).path

    @property
    def title(self) -> str:
        """The model's name in the singular, lower case unless it is an abbreviation."""
        return self.resource.title or _words(self.model.__name__)

    @property
    def plural(self) -> str:
        """The model's name in the plural."""
        return self.resource.plural or f"{self.title}s"

    @property
    def model_name(self) -> str:
        """The model's name in messages about relationships and filters, such as ``dcim.Site``."""
        return f"{self.app.name}.{self.model.__name__}"

    @property
    def schema_name(self) -> str:
        """The name of its OpenAPI schema, such as ``Site``. That of a plugin has the plugin's name as a prefix."""
        name = (
            self.model.__name__
            if self.resource.of is None
            else "".join(part.capitalize() for part in self.resource.name.split("-"))
        )
        prefix = (
            "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]", self.app.name)) if self.app.plugin else ""
        )
        return f"{prefix}{name}"

    @functools.cached_property
    def natural_sort(self) -> str:
        """The column that can identify an object in references and filters, besides its id: ``slug`` or ``name`` by
        default.
        """
        return self.resource.natural or ("slug" if "slug" in self.table.c else "name")

    @functools.cached_property
    def natural_attribute(self) -> str | None:
        """The natural column, if clients may name an object by it: cells of tables do so."""
        name = self.natural_sort
        column = relations.column_of(self, name)
        is_plain = column == name and column_info(self.table.c[name]).foreign_key is None
        return name if is_plain and column_info(self.table.c[name]).kind != "json" else None

    def named_in_cell(self, text: str) -> Any:
        """The value of a reference in a body, from a cell with an id or the natural attribute."""
        attribute = self.natural_attribute
        return text if attribute is None or self.parse_key(text) is not None else {attribute: text}

    @functools.cached_property
    def key_type(self) -> type:
        """The type of ids: ``uuid.UUID`` or ``int``."""
        python_type: type = self.table.c.id.type.python_type
        return python_type

    def parse_key(self, text: str) -> Any:
        """Parses an id of a path; ``None`` for text that is no id."""
        if self.key_type is int:
            most = 2**63 if isinstance(self.table.c.id.type, sa.BigInteger) else 2**31
            return number if text.isdecimal() and len(text) < 20 and (number := int(text)) < most else None
        try:
            return self.key_type(text)
        except ValueError:
            return None

    # -- reading

    @functools.cached_property
    def exempt_by_name_only(self) -> bool:
        """True when ``*`` in the setting ``netinv.exempt_view_permissions`` does not apply to this resource.

        That is so if the resource is declared so, or has confidential columns.
        """
        resource = self.resource if self.resource.of is None else self.resource.of
        return resource.exempt_by_name_only or any(column_info(column).confidential for column in self.table.c)

    @functools.cached_property
    def confidential(self) -> frozenset[str]:
        """The columns and fields that are neither shown nor filtered by
        (:class:`netinv_core.models.columns.ColumnInfo`).
        """
        columns = [name for name, column in self.table.c.items() if column_info(column).confidential]
        return frozenset([*columns, *(name for name, field in self.fields.items() if field.confidential)])

    @functools.cached_property
    def searched_name(self) -> search_stages.SearchedName | None:
        """The column with the names of objects, for the search; ``None`` without one."""
        return search_stages.name_of(self)

    @functools.cached_property
    def ordering(self) -> Order:
        """The order of lists; see :func:`netinv_core.read.ordering.own_order`."""
        return ordering.own_order(self)

    @functools.cached_property
    def orderings(self) -> dict[str, Ordering]:
        """The names that clients may order the list by.

        Names of custom fields (``cf_<slug>``) and dotted names across references are valid besides.
        """
        return ordering.orderings_of(self)

    def plan(self, shape: str = "full", without: frozenset[str] = frozenset()) -> Plan:
        """The plan for ``full``, ``brief``, ``nested`` or ``assigned``; ``without`` names fields of the full form to
        leave out.
        """
        if without:
            return self.registry.custom_plans.get_or_make((self, without), lambda: self._new_plan("full", without))
        if shape not in self._plans:
            self._plans[shape] = self._new_plan(shape)
        return self._plans[shape]

    def _new_plan(self, shape: str, without: frozenset[str] = frozenset()) -> Plan:
        plan = Plan(self.registry, self)
        if shape == "nested":
            return plan.finish_nested()
        if shape == "assigned":
            return plan.finish_nested(beside=[item.make(self.registry, self) for item in self.resource.assigned_fields])
        if shape == "brief":
            return plan.finish(self.brief_fields, brief=bool(self.brief))
        return plan.finish([field for name, field in self.fields.items() if name not in without], without=without)

    @property
    def brief_fields(self) -> list[fields.Field]:
        """The fields of the brief form, which is the full one if the resource has none of its own."""
        return self.brief or [field for name, field in self.fields.items() if name not in self.opt_in]

    def custom_plan(self, key: Any, build: Callable[[Plan, JoinedTable], Any]) -> Plan:
        """The plan that ``build`` completes (:meth:`Plan.finish_with`), from the cache by ``key``."""
        return self.registry.custom_plans.get_or_make((self, key), lambda: Plan(self.registry, self).finish_with(build))

    def resource_column(self, name: str, table: Any) -> Any:
        """The column behind a field of another name, for paths."""
        field = self.fields.get(name)
        return (
            table.c[field.attribute] if field is not None and field.attribute and field.attribute in table.c else None
        )

    @functools.cached_property
    def incoming_foreign_keys(self) -> tuple[IncomingForeignKey, ...]:
        """The foreign keys of all models that refer to this one; complete once the registry is."""
        keys = []
        for child in self.registry.stored():
            for attribute, column in child.table.c.items():
                link = column_info(column).foreign_key
                if link is not None and self.registry.target(link) is self:
                    keys.append(IncomingForeignKey(child, attribute, link.on_delete))
        return tuple(keys)

    @functools.cached_property
    def row_type(self) -> Any:
        """A named tuple of the columns, for the rows of a UNION of several models."""
        return collections.namedtuple(self.model.__name__, self.table.c.keys(), rename=True)

    @functools.cached_property
    def masked_columns(self) -> dict[str, Callable[[Any], Any]]:
        """The functions that mask values in change records, by field."""
        return {
            name: mask
            for name, column in self.table.c.items()
            if name in self.fields and (mask := column_info(column).masked) is not None
        }

    @functools.cached_property
    def object_data_layout(self) -> ObjectDataLayout:
        """The columns and fields of the flat form of its objects in change records."""
        return object_data_layout(self)

    @functools.cached_property
    def defaults(self) -> list[tuple[str, Callable[[Any], Any] | None, Any]]:
        """The defaults of columns, each with a function or a value. Columns that the database numbers are left out."""
        defaults: list[tuple[str, Callable[[Any], Any] | None, Any]] = []
        for name, column in self.table.c.items():
            default = column.default
            if default is not None or column.autoincrement is not True:
                function = default.arg if default is not None and default.is_callable else None
                value = default.arg if default is not None and function is None else None
                defaults.append((name, function, value))
        return defaults

    @functools.cached_property
    def costly(self) -> frozenset[str]:
        """The fields that a request can leave out with ``exclude``."""
        return frozenset(name for name, field in self.fields.items() if field.costly)

    def fields_depending_on(self, columns: Collection[str]) -> set[str]:
        """The fields whose values depend on these columns or lists of an object, directly or by other fields."""

        def concerned(name: str) -> bool:
            if name in columns:
                return True
            if name in self.table.c or f"{name}_id" in self.table.c:
                return name in columns or f"{name}_id" in columns
            sources = self.fields[name].sources() if name in self.fields else None
            return sources is None or any(map(concerned, sources))

        return {
            name
            for name, field in self.fields.items()
            if (sources := field.sources()) is None or any(map(concerned, sources))
        }

    @functools.cached_property
    def list_formats(self) -> dict[str, ListFormat]:
        """The further formats of its list, by query parameter. A filter of the same name takes precedence."""
        every = self.registry.list_formats if self.resource.of is None else {}
        return {
            name: list_format
            for name, list_format in every.items()
            if name not in self.filters and list_format.applies(self)
        }

    @functools.cached_property
    def opt_in(self) -> frozenset[str]:
        """The fields that are read only when a request names them in ``include``."""
        return frozenset(name for name, field in self.fields.items() if field.opt_in)

    @functools.cached_property
    def versioned_fields(self) -> list[fields.Field]:
        """The fields whose form in older API versions depends on the configuration."""
        return [field for field in self.fields.values() if type(field).downgrade is not fields.Field.downgrade]

    @functools.cached_property
    def writable(self) -> dict[str, fields.Field]:
        """The fields that a body may set."""
        return {name: field for name, field in self.fields.items() if not field.read_only}

    @functools.cached_property
    def uploads(self) -> dict[str, fields.Image]:
        """The fields that take a file of a form."""
        return {name: field for name, field in self.writable.items() if isinstance(field, fields.Image)}

    # -- building

    def build(self) -> None:
        """Builds the fields of the resource (id, display, url, columns, declared fields), and its relations."""
        function, *display = self.resource.display
        registry, columns = self.registry, self.registry.served_columns(self)
        built: dict[str, fields.Field] = {}
        read_only = dataclasses.replace(column_info(self.table.c.id), read_only=True)
        key = fields.from_column(registry, "id", self.table.c.id, read_only)
        assert key is not None
        built["id"] = key
        if function is not None:
            built["display"] = fields.Computed(
                name="display", function=function, paths=tuple(display), openapi={"type": "string"}
            )
        built["url"] = fields.SubresourceUrl(name="url", endpoint=self)
        for attribute, column in columns:
            field = fields.from_column(registry, attribute, column, column_info(column))
            if field is not None and field.name not in built:
                built[field.name] = field
        for factory in self.resource.field_factories:
            built[factory.name] = factory.make(registry, self)
        self.fields = {name: field for name, field in built.items() if name not in self.resource.omit}
        for attribute, column in columns:
            link = column_info(column).foreign_key
            if link is not None:
                self.relations[attribute.removesuffix("_id")] = relations.forward(registry, attribute, link)
        for name, field in self.fields.items():
            if isinstance(field, fields.ToMany):
                self.relations[name] = relations.across(registry, field.to, field.pairs)
            elif isinstance(field, fields.ContentTypeList):
                self.relations[name] = relations.to_labels(field.table)
            elif isinstance(field, fields.ReverseForeignKey):
                self.relations[name] = relations.backward(registry, field.to, field.attribute_there)

    def link_reverse_relations(self) -> None:
        """Adds the reverse relations and the counters of this endpoint's foreign keys to their targets."""
        for attribute, column in self.table.c.items():
            link = column_info(column).foreign_key
            target = self.registry.target(link)
            if link is None or target is None:
                continue
            if link.related_name:
                target.relations[link.related_name] = relations.backward(self.registry, self.label, attribute)
                target.reverse_relations.add(link.related_name)
            if link.count_field:
                factory = count_of(link.count_field, counter(self.table, attribute))
                target.fields.setdefault(link.count_field, factory.make(self.registry, target))
        for field in list(self.fields.values()):
            if isinstance(field, fields.ToMany) and field.related_name and field.target is not None:
                field.target.relations[field.related_name] = relations.across(
                    self.registry, self.label, field.pairs, "target_id", "owner_id"
                )
                field.target.reverse_relations.add(field.related_name)

    def apply_hooks(self) -> None:
        """Adds the fields, relations and rules of other packages, then completes the order of fields and the brief
        form.

        :raises PackageError: when a package fails
        """
        registry = self.registry
        for package, factories in registry.call_each("netinv_fields", registry=registry, endpoint=self):
            with errors_of(package):
                for factory in factories:
                    if factory.name not in self.resource.omit:
                        self.fields[factory.name] = factory.make(registry, self)
        for package, attached in registry.call_each("netinv_relations", registry=registry, endpoint=self):
            with errors_of(package):
                self.relations.update(attached)
        for package, rules in registry.call_each("netinv_rules", registry=registry, endpoint=self):
            with errors_of(package):
                self.rules.extend(rules)
        if self.resource.only_fields:
            self.fields = {name: self.fields[name] for name in self.resource.only_fields}
        last = [name for name in ("created", "last_updated") if name in self.fields]
        self.fields |= {name: self.fields.pop(name) for name in last}
        brief_only = {factory.name: factory.make(registry, self) for factory in self.resource.brief_fields}
        names = ("display", "id", "url", *self.resource.brief) if self.resource.brief else ()
        offered = self.fields | brief_only
        self.brief = [offered[name] for name in names if name in offered]

    def build_filters(self) -> None:
        """Completes the query parameters: those derived from columns, the resource's own, and those of other packages.

        :raises PackageError: when a package fails
        """
        self.filters = derived_filters(self) if self.resource.of is None else {}
        for item in self.resource.filters:
            self.filters[item.name] = item
        if self.resource.of is not None:
            return
        for package, attached in self.registry.call_each("netinv_filters", registry=self.registry, endpoint=self):
            with errors_of(package):
                self.filters.update((item.name, item) for item in attached)


def _words(name: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
