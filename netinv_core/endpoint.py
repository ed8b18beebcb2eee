"""Endpoint: a resource of an application in a registry."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core import fields, reverse_relations
from netinv_core.declaration_checks import check_rule
from netinv_core.fields.read_only import identity
from netinv_core.labels import without_id
from netinv_core.models.columns import CASCADE, column_info
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN, within
from netinv_core.read import ordering
from netinv_core.read.derived_filters import derived_filters
from netinv_core.records import Order
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql import relations
from netinv_core.sql.relations import Relation

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.fields import Field
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import Resource, Rule


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
        self.fields: dict[str, Field] = {}
        self.brief: list[Field] = []
        self.relations: dict[str, Relation] = {}
        self.reverse_relations: set[str] = set()
        self.filters: dict[str, Filter] = {}
        self.writable: dict[str, Field] = {}
        self.versioned_fields: list[Field] = []
        self.preparations: list[Rule] = list(resource.prepare_functions)
        self.rules: list[Rule] = list(resource.rules)
        self._plugins_of_rules: dict[int, str] = {}  # by the identity of the rule
        # The packages that gave fields, filters and relations, by the kind and the name; the others are the resource's.
        self.givers: dict[tuple[str, str], str] = {}
        self.key_type: type = self.table.c.id.type.python_type  # of ids: ``uuid.UUID`` or ``int``
        # The column that can identify an object in references and filters, besides its id: ``slug`` or ``name`` by
        # default.
        self.natural_sort: str = resource.natural or ("slug" if "slug" in self.table.c else "name")
        self.defaults = _defaults(self.table)

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

    def named_in_cell(self, text: str) -> Any:
        """The value of a reference in a body, from a cell with an id or the natural attribute."""
        attribute = self.natural_attribute
        return text if attribute is None or self.parse_key(text) is not None else {attribute: text}

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

    @property
    def row_type(self) -> Any:
        """A named tuple of the columns, for the rows of a UNION of several models."""
        return _row_type(self)

    @property
    def ordering(self) -> Order:
        """The order of lists; see :func:`netinv_core.read.ordering.own_order`."""
        return ordering.own_order(self)

    @property
    def nested_ordering(self) -> Order:
        """The order of lists within other objects."""
        return ordering.own_order(self, nested=True)

    @property
    def brief_fields(self) -> list[Field]:
        """The fields of the brief form, which is the full one if the resource has none of its own."""
        return self.brief or [field for name, field in self.fields.items() if name not in self.opt_in]

    def resource_column(self, name: str, table: Any) -> Any:
        """The column behind a field of another name, for paths."""
        field = self.fields.get(name)
        return (
            table.c[field.attribute] if field is not None and field.attribute and field.attribute in table.c else None
        )

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

    # -- building

    def build(self) -> None:
        """Builds the fields of the resource (id, display, url, columns, declared fields), and its relations."""
        function, *display = self.resource.display
        registry, columns = self.registry, self.registry.served_columns(self)
        built: dict[str, Field] = {}
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
                single = isinstance(field, fields.ToOne)
                self.relations[name] = relations.across(registry, field.to, field.pairs, single=single)
            elif isinstance(field, fields.ContentTypeList):
                self.relations[name] = relations.to_labels(field.table)
            elif isinstance(field, fields.ReverseForeignKey):
                self.relations[name] = relations.backward(registry, field.to, field.attribute_there)

    @property
    def package(self) -> str:
        """The name of its package."""
        return self.registry.packages[self.app.name]

    def claim(self, kind: str, name: str, package: str, present: Collection[str]) -> None:
        """Notes that a package gives the resource a field, filter or relation (the ``kind``).

        Built-in applications, which are released together, may replace what others of them have.

        :raises PackageError: when another package did so, or the resource has it itself
        """
        if name not in present:
            self.givers[kind, name] = package
            return
        sources = [(kind, name), *((of, base) for base in _bases(name) for of in ("relation", "field"))]
        giver = next((self.givers[source] for source in sources if source in self.givers), self.package)
        if giver != package and (self.registry.is_plugin(giver) or self.registry.is_plugin(package)):
            raise self.registry.conflict(giver, package, f"the {kind} {name!r} of {self.label}")

    def link_reverse_relations(self) -> None:
        """Adds the reverse relations and the counters of this endpoint's foreign keys to their targets."""
        reverse_relations.link(self)

    def apply_hooks(self) -> None:
        """Adds the fields, relations and rules of other packages, and what the fields give the resources that they
        refer to.

        :raises PackageError: when a package fails
        """
        registry = self.registry
        for package, factories in registry.call_each("netinv_fields", registry=registry, endpoint=self):
            with registry.failures.of(package):
                for factory in factories:
                    if factory.name not in self.resource.omit:
                        self.claim("field", factory.name, package, self.fields)
                        self.fields[factory.name] = factory.make(registry, self)
                        reverse_relations.link_list(self, self.fields[factory.name])
        for package, attached in registry.call_each("netinv_relations", registry=registry, endpoint=self):
            with registry.failures.of(package):
                for name, relation in attached.items():
                    self.claim("relation", name, package, self.relations)
                    if not isinstance(relation, Relation):
                        raise TypeError(f"netinv_relations returns {type(relation).__name__} instead of Relation")
                self.relations.update(attached)
        for package, functions in registry.call_each("netinv_preparations", registry=registry, endpoint=self):
            with registry.failures.of(package):
                self.preparations.extend(functions)
        for package, rules in registry.call_each("netinv_rules", registry=registry, endpoint=self):
            with registry.failures.of(package):
                for rule in rules:
                    check_rule(self.label, rule)
                self.rules.extend(rules)
                if registry.is_plugin(package):
                    self._plugins_of_rules.update(dict.fromkeys(map(id, rules), package))

    def plugin_of_rule(self, rule: Rule) -> str | None:
        """The plugin that gave a rule; ``None`` for one of a built-in application."""
        package = self._plugins_of_rules.get(id(rule), self.package)
        return package if self.registry.is_plugin(package) else None

    def order_fields(self) -> None:
        """Completes the order of fields and the brief form."""
        registry = self.registry
        if self.resource.only_fields:
            self.fields = {name: self.fields[name] for name in self.resource.only_fields}
        last = [name for name in ("created", "last_updated") if name in self.fields]
        self.fields |= {name: self.fields.pop(name) for name in last}
        brief_only = {factory.name: factory.make(registry, self) for factory in self.resource.brief_fields}
        names = ("display", "id", "url", *self.resource.brief) if self.resource.brief else ()
        offered = self.fields | brief_only
        self.brief = [offered[name] for name in names if name in offered]

    def describe(self) -> None:
        """Derives from the columns and fields what requests ask of them."""
        columns, named = self.table.c, self.fields.items()
        hidden = [name for name, column in columns.items() if column_info(column).confidential]
        # The columns and fields that are neither shown nor filtered by.
        self.confidential = frozenset([*hidden, *(name for name, field in named if field.confidential)])
        # Whether ``*`` in the setting ``netinv.exempt_view_permissions`` does not apply to this resource.
        self.exempt_by_name_only = (self.resource.of or self.resource).exempt_by_name_only or bool(hidden)
        self.natural_attribute = self._natural_attribute()
        # The reference whose target an object is part of, empty without one; and the name on pages that do not show it.
        self.parent = self._parent()
        self.namings = {NAME_IN_CONTEXT: self._naming()}
        self.namings[NAME_WITHIN] = self._naming_within()
        # The functions that mask values in change records, by field.
        self.masked_columns = {
            name: mask
            for name, column in columns.items()
            if name in self.fields and (mask := column_info(column).masked) is not None
        }
        # The fields that a request can leave out with ``exclude``, and those that it must name in ``include``.
        self.costly = frozenset(name for name, field in named if field.costly)
        self.opt_in = frozenset(name for name, field in named if field.opt_in)
        self.derived = frozenset(name for name, field in named if field.derived)
        # The fields whose form in older API versions depends on the configuration.
        self.versioned_fields = [field for _, field in named if type(field).downgrade is not fields.Field.downgrade]
        self.writable = {name: field for name, field in named if not field.read_only}  # those that a body may set
        self.incoming_foreign_keys = _foreign_keys_by_target(self.registry).get(self, ())

    def _naming(self) -> Field:
        """The name in context: the stated one, or the display name after that of the parent."""
        resource = self.resource.of or self.resource
        declared, names = resource.presentation.name_in_context, resource.display[1:]
        declared = declared(self.registry) if callable(declared) else declared
        if isinstance(declared, str):
            declared = (identity, declared)
        is_unique = any("." in name or (name in self.table.c and self.table.c[name].unique) for name in names)
        if declared is None and self.parent and names and not is_unique:
            declared = (within, f"{self.parent}.{NAME_IN_CONTEXT}", "display")
        function, *paths = declared or (identity, "display" if "display" in self.fields else "id")
        paths = [
            f"{path.removesuffix(NAME_IN_CONTEXT)}{NAME_WITHIN}" if path.endswith(f".{NAME_IN_CONTEXT}") else path
            for path in paths
        ]
        return fields.Computed(name=NAME_IN_CONTEXT, function=function, paths=tuple(paths))

    def _naming_within(self) -> Field:
        """The name in context where the object is part of the name of another one, which shows its nested
        representation: the display name, unless the nested representation shows all that the name is made of.
        """
        naming = self.namings[NAME_IN_CONTEXT]
        if not isinstance(naming, fields.Computed) or all(_shows_nested(self, path) for path in naming.paths):
            return naming
        return fields.Computed(name=NAME_WITHIN, function=without_id, paths=("display",))

    def _parent(self) -> str:
        """The first required reference whose target's deletion deletes the object; empty without one."""
        for attribute, column in self.registry.served_columns(self):
            link = column_info(column).foreign_key
            if link is None or link.on_delete != CASCADE or column.nullable or column_info(column).read_only:
                continue
            if self.registry.target(link) is not None:
                return attribute.removesuffix("_id")
        return ""

    def _natural_attribute(self) -> str | None:
        """The natural column, if clients may name an object by it: cells of tables do so."""
        name = self.natural_sort
        column = relations.column_of(self, name)
        is_plain = column == name and column_info(self.table.c[name]).foreign_key is None
        return name if is_plain and column_info(self.table.c[name]).kind != "json" else None

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
            with self.registry.failures.of(package):
                for item in attached:
                    self.claim("filter", item.name, package, self.filters)
                    self.filters[item.name] = item


def _bases(name: str) -> tuple[str, ...]:
    """The names of fields and relations from which a filter may be derived."""
    return name, name.removeprefix("has_"), name.removesuffix("_id")


def _words(name: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


@cached_in_registry
def _row_type(endpoint: Endpoint) -> Any:
    return collections.namedtuple(endpoint.model.__name__, endpoint.table.c.keys(), rename=True)


def _defaults(table: Any) -> list[tuple[str, Callable[[Any], Any] | None, Any]]:
    """The defaults of columns, each with a function or a value. Columns that the database numbers are left out."""
    defaults: list[tuple[str, Callable[[Any], Any] | None, Any]] = []
    for name, column in table.c.items():
        default = column.default
        if default is not None or column.autoincrement is not True:
            function = default.arg if default is not None and default.is_callable else None
            value = default.arg if default is not None and function is None else None
            defaults.append((name, function, value))
    return defaults


def _shows_nested(endpoint: Endpoint, path: str) -> bool:
    """True for the path of a value that the nested representation shows, in its display name or as a member."""
    head, _, rest = path.partition(".")
    if path in ("id", "display") or path in endpoint.resource.display[1:]:
        return True
    if head not in endpoint.resource.brief:
        return False
    field = endpoint.fields.get(head)
    target = field.target if isinstance(field, fields.Reference) else None
    return not rest or rest == NAME_WITHIN or (target is not None and _shows_nested(target, rest))


@cached_in_registry
def _foreign_keys_by_target(registry: Registry) -> dict[Endpoint, tuple[IncomingForeignKey, ...]]:
    """The foreign keys of all models, by the endpoint to which they refer."""
    found: dict[Endpoint, tuple[IncomingForeignKey, ...]] = {}
    for child in registry.stored():
        for attribute, column in child.table.c.items():
            link = column_info(column).foreign_key
            target = registry.target(link)
            if link is not None and target is not None:
                found[target] = (*found.get(target, ()), IncomingForeignKey(child, attribute, link.on_delete))
    return found
