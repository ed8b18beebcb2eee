"""Fields: the one abstraction. Everything the service does with a resource is a fold over its fields.

A field selects itself into a plan and turns a row into JSON (:meth:`Field.reader`), takes what a client sent
(:meth:`Field.accept`), and describes itself for OPTIONS and OpenAPI.
"""

from netinv_core.fields.base import NONE, Field, cell_items, errors_of, from_json, last_text, refused_items
from netinv_core.fields.from_column import from_column
from netinv_core.fields.images import Image
from netinv_core.fields.read_only import BatchLoaded, Computed, Count, SubresourceUrl
from netinv_core.fields.references import (
    Coalesce,
    GenericForeignKey,
    Reference,
    Status,
    ThroughOneToOne,
    generic_pairs,
    named_schema,
    nested_schema,
)
from netinv_core.fields.shares import Share, Shares, Utilization
from netinv_core.fields.to_many import (
    ContentTypeList,
    ReverseForeignKey,
    ToMany,
    collect,
    keys_of,
    refused_list,
    replace_rows,
)
from netinv_core.fields.to_one import ToOne
from netinv_core.fields.values import Choice, ListValue, Value, is_slug

__all__ = [
    "NONE",
    "BatchLoaded",
    "Choice",
    "Coalesce",
    "Computed",
    "ContentTypeList",
    "Count",
    "Field",
    "GenericForeignKey",
    "Image",
    "ListValue",
    "Reference",
    "ReverseForeignKey",
    "Share",
    "Shares",
    "Status",
    "SubresourceUrl",
    "ThroughOneToOne",
    "ToMany",
    "ToOne",
    "Utilization",
    "Value",
    "cell_items",
    "collect",
    "errors_of",
    "from_column",
    "from_json",
    "generic_pairs",
    "is_slug",
    "keys_of",
    "last_text",
    "named_schema",
    "nested_schema",
    "refused_items",
    "refused_list",
    "replace_rows",
]
