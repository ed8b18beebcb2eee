"""Fields: the one abstraction. Everything the service does with a resource is a fold over its fields.

A field selects itself into a plan and turns a row into JSON (:meth:`Field.reader`), takes what a client sent
(:meth:`Field.accept`), and describes itself for OPTIONS and OpenAPI.
"""

from netinv_core.fields.columns import from_column
from netinv_core.fields.derived import Address, Batched, Computed, Count
from netinv_core.fields.field import NONE, Field, errors_of
from netinv_core.fields.images import Image
from netinv_core.fields.lists import Back, Labels, Many, collect, grouped, keys_of, refused_items, refused_list, replace_rows
from netinv_core.fields.references import FirstOf, Holder, ObjectOf, Reference, Status, named_schema, nested_schema
from netinv_core.fields.values import Choice, Value

__all__ = [
    "NONE",
    "Address",
    "Back",
    "Batched",
    "Choice",
    "Computed",
    "Count",
    "Field",
    "FirstOf",
    "Holder",
    "Image",
    "Labels",
    "Many",
    "ObjectOf",
    "Reference",
    "Status",
    "Value",
    "collect",
    "errors_of",
    "from_column",
    "grouped",
    "keys_of",
    "named_schema",
    "nested_schema",
    "refused_items",
    "refused_list",
    "replace_rows",
]
