"""netinv's engine: it serves any model of any package from one declaration, and imports no application.

``__all__`` is the public API: what plugins may import (docs/plugins.md, "Public API"). Names are imported from their
modules when they are used (PEP 562), so that processes that need little of the core load little of it.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.app import App, Feature
    from netinv_core.auth import permissions
    from netinv_core.auth.models import User
    from netinv_core.auth.providers import ExternalUser, IdentityProvider
    from netinv_core.changelog.change_set import Change
    from netinv_core.changelog.guards import ChangeGuard
    from netinv_core.changelog.models import ObjectChange
    from netinv_core.changelog.recorder import RelatedInsert
    from netinv_core.changelog.states import record_columns
    from netinv_core.db.engine import lock_rows
    from netinv_core.db.expressions import in_parameter
    from netinv_core.db.locks import lock_for
    from netinv_core.endpoint import Endpoint
    from netinv_core.errors import Conflict, Denied, Gone, Invalid, NotFound, RequestError, Unavailable
    from netinv_core.findings import Finding
    from netinv_core.hookspecs import hookimpl, hookspec
    from netinv_core.http import allocating, views
    from netinv_core.http.actions import BodyOf, documented
    from netinv_core.http.list_formats import ListFormat
    from netinv_core.http.metrics import Sample
    from netinv_core.http.mount import url_of
    from netinv_core.http.query_parameters import query
    from netinv_core.http.root_views import root
    from netinv_core.http.security_policy import API_ACCESS, AUTHENTICATED
    from netinv_core.importing.dump import Derived, Part, Source
    from netinv_core.models.associations import content_type_table, many_to_many, unique_set, unique_together
    from netinv_core.models.base import (
        Base,
        ChangeLogged,
        Customizable,
        Model,
        Organizational,
        Primary,
        Tree,
        now,
        table_of,
    )
    from netinv_core.models.columns import (
        CASCADE,
        PROTECT,
        SELF,
        SET_NULL,
        Choices,
        ColumnInfo,
        Comments,
        Description,
        Name,
        Ref,
        Slug,
        boolean,
        choice,
        color,
        column,
        decimal_number,
        email,
        encrypted_text,
        foreign_key,
        image,
        integer,
        json_document,
        natural_sort_key,
        optional_text,
        required_text,
        slug,
        text,
        unique_copy,
        url,
    )
    from netinv_core.presentation import MenuEntry, MenuSection, Presentation
    from netinv_core.read import filters, listing
    from netinv_core.read.filters import Filter
    from netinv_core.read.recognisers import Match, SearchProvider
    from netinv_core.registry import Registry
    from netinv_core.resource import (
        FieldFactory,
        Resource,
        Rule,
        VersionChange,
        batch_loaded,
        coalesce,
        computed,
        computed_choice,
        content_type_list,
        count_of,
        counter,
        generic_fk,
        reverse_fk,
        to_many,
        utilization,
    )
    from netinv_core.single_references import to_one
    from netinv_core.sql import lookups, relations
    from netinv_core.sql.lookups import convert
    from netinv_core.sql.relations import Relation
    from netinv_core.tasks.queue import Task, notify_worker
    from netinv_core.tasks.retention import Retention, older_than
    from netinv_core.uow import UnitOfWork
    from netinv_core.write import save
    from netinv_core.write.delete import GenericCascade, in_use
    from netinv_core.write.draft import ALL, Draft
    from netinv_core.write.dry_run import Effects, Preview, dry_run
    from netinv_core.write.referring_rules import ReadingRule, related_by, through
    from netinv_core.write.slugs import natural_key, slugify
    from netinv_core.write.system_update import system_update
    from netinv_core.write.table_rows import JoinedColumns

__all__ = [
    "ALL",
    "API_ACCESS",
    "AUTHENTICATED",
    "CASCADE",
    "PROTECT",
    "SELF",
    "SET_NULL",
    "App",
    "Base",
    "BodyOf",
    "Change",
    "ChangeGuard",
    "ChangeLogged",
    "Choices",
    "ColumnInfo",
    "Comments",
    "Conflict",
    "Customizable",
    "Denied",
    "Derived",
    "Description",
    "Draft",
    "Effects",
    "Endpoint",
    "ExternalUser",
    "Feature",
    "FieldFactory",
    "Filter",
    "Finding",
    "GenericCascade",
    "Gone",
    "IdentityProvider",
    "Invalid",
    "JoinedColumns",
    "ListFormat",
    "Match",
    "MenuEntry",
    "MenuSection",
    "Model",
    "Name",
    "NotFound",
    "ObjectChange",
    "Organizational",
    "Part",
    "Presentation",
    "Preview",
    "Primary",
    "ReadingRule",
    "Ref",
    "Registry",
    "RelatedInsert",
    "Relation",
    "RequestError",
    "Resource",
    "Retention",
    "Rule",
    "Sample",
    "SearchProvider",
    "Slug",
    "Source",
    "Task",
    "Tree",
    "Unavailable",
    "UnitOfWork",
    "User",
    "VersionChange",
    "allocating",
    "batch_loaded",
    "boolean",
    "choice",
    "coalesce",
    "color",
    "column",
    "computed",
    "computed_choice",
    "content_type_list",
    "content_type_table",
    "convert",
    "count_of",
    "counter",
    "decimal_number",
    "documented",
    "dry_run",
    "email",
    "encrypted_text",
    "filters",
    "foreign_key",
    "generic_fk",
    "hookimpl",
    "hookspec",
    "image",
    "in_parameter",
    "in_use",
    "integer",
    "json_document",
    "listing",
    "lock_for",
    "lock_rows",
    "lookups",
    "many_to_many",
    "natural_key",
    "natural_sort_key",
    "notify_worker",
    "now",
    "older_than",
    "optional_text",
    "permissions",
    "query",
    "record_columns",
    "related_by",
    "relations",
    "required_text",
    "reverse_fk",
    "root",
    "save",
    "slug",
    "slugify",
    "system_update",
    "table_of",
    "text",
    "through",
    "to_many",
    "to_one",
    "unique_copy",
    "unique_set",
    "unique_together",
    "url",
    "url_of",
    "utilization",
    "views",
]

_NAMES = {
    "netinv_core.app": "App Feature",
    "netinv_core.auth": "permissions",
    "netinv_core.auth.models": "User",
    "netinv_core.auth.providers": "ExternalUser IdentityProvider",
    "netinv_core.http.security_policy": "API_ACCESS AUTHENTICATED",
    "netinv_core.changelog.change_set": "Change",
    "netinv_core.changelog.guards": "ChangeGuard",
    "netinv_core.changelog.models": "ObjectChange",
    "netinv_core.changelog.recorder": "RelatedInsert",
    "netinv_core.changelog.states": "record_columns",
    "netinv_core.db.engine": "lock_rows",
    "netinv_core.db.expressions": "in_parameter",
    "netinv_core.db.locks": "lock_for",
    "netinv_core.endpoint": "Endpoint",
    "netinv_core.errors": "Conflict Denied Gone Invalid NotFound RequestError Unavailable",
    "netinv_core.hookspecs": "hookimpl hookspec",
    "netinv_core.http": "allocating views",
    "netinv_core.http.actions": "BodyOf documented",
    "netinv_core.http.list_formats": "ListFormat",
    "netinv_core.http.metrics": "Sample",
    "netinv_core.http.mount": "url_of",
    "netinv_core.http.query_parameters": "query",
    "netinv_core.http.root_views": "root",
    "netinv_core.importing.dump": "Derived Part Source",
    "netinv_core.findings": "Finding",
    "netinv_core.tasks.retention": "Retention older_than",
    "netinv_core.models.associations": "content_type_table many_to_many unique_set unique_together",
    "netinv_core.models.base": "Base ChangeLogged Customizable Model Organizational Primary Tree now table_of",
    "netinv_core.models.columns": (
        "CASCADE PROTECT SELF SET_NULL Choices ColumnInfo Comments Description Name Ref Slug boolean choice color "
        "column decimal_number email encrypted_text foreign_key image integer json_document natural_sort_key "
        "optional_text required_text slug text unique_copy url"
    ),
    "netinv_core.presentation": "MenuEntry MenuSection Presentation",
    "netinv_core.read": "filters listing",
    "netinv_core.read.filters": "Filter",
    "netinv_core.sql": "lookups relations",
    "netinv_core.sql.lookups": "convert",
    "netinv_core.read.recognisers": "Match SearchProvider",
    "netinv_core.sql.relations": "Relation",
    "netinv_core.registry": "Registry",
    "netinv_core.resource": (
        "FieldFactory Resource Rule VersionChange batch_loaded coalesce computed computed_choice "
        "content_type_list count_of counter generic_fk reverse_fk to_many utilization"
    ),
    "netinv_core.single_references": "to_one",
    "netinv_core.tasks.queue": "Task notify_worker",
    "netinv_core.uow": "UnitOfWork",
    "netinv_core.write": "save",
    "netinv_core.write.delete": "GenericCascade in_use",
    "netinv_core.write.draft": "ALL Draft",
    "netinv_core.write.dry_run": "Effects Preview dry_run",
    "netinv_core.write.referring_rules": "ReadingRule related_by through",
    "netinv_core.write.slugs": "natural_key slugify",
    "netinv_core.write.system_update": "system_update",
    "netinv_core.write.table_rows": "JoinedColumns",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker refuses names that are not in the API

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = pkgutil.resolve_name(f"{_MODULES[name]}.{name}")
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
