"""netinv's engine: it serves any model of any package from one declaration, and imports no application.

The public API, what plugins may import (docs/plugins.md, "Public API"), is listed here once: as imports for type
checkers. When the core runs, a name is imported from its module when it is used (PEP 562), so that processes that need
little of the core load little of it.
"""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.app import App as App
    from netinv_core.app import Feature as Feature
    from netinv_core.auth import permissions as permissions
    from netinv_core.auth.models import User as User
    from netinv_core.auth.providers import ExternalUser as ExternalUser
    from netinv_core.auth.providers import IdentityProvider as IdentityProvider
    from netinv_core.changelog.change_set import Change as Change
    from netinv_core.changelog.guards import ChangeGuard as ChangeGuard
    from netinv_core.changelog.models import ObjectChange as ObjectChange
    from netinv_core.changelog.recorder import RelatedInsert as RelatedInsert
    from netinv_core.changelog.states import record_columns as record_columns
    from netinv_core.db.engine import lock_rows as lock_rows
    from netinv_core.db.expressions import in_parameter as in_parameter
    from netinv_core.db.locks import lock_for as lock_for
    from netinv_core.endpoint import Endpoint as Endpoint
    from netinv_core.errors import Conflict as Conflict
    from netinv_core.errors import Denied as Denied
    from netinv_core.errors import Gone as Gone
    from netinv_core.errors import Invalid as Invalid
    from netinv_core.errors import NotFound as NotFound
    from netinv_core.errors import RequestError as RequestError
    from netinv_core.errors import Unavailable as Unavailable
    from netinv_core.findings import Finding as Finding
    from netinv_core.hookspecs import hookimpl as hookimpl
    from netinv_core.hookspecs import hookspec as hookspec
    from netinv_core.http import allocating as allocating
    from netinv_core.http import views as views
    from netinv_core.http.actions import BodyOf as BodyOf
    from netinv_core.http.actions import documented as documented
    from netinv_core.http.list_formats import ListFormat as ListFormat
    from netinv_core.http.metrics import Sample as Sample
    from netinv_core.http.mount import url_of as url_of
    from netinv_core.http.query_parameters import query as query
    from netinv_core.http.root_views import root as root
    from netinv_core.http.security_policy import API_ACCESS as API_ACCESS
    from netinv_core.http.security_policy import AUTHENTICATED as AUTHENTICATED
    from netinv_core.importing.dump import Derived as Derived
    from netinv_core.importing.dump import Part as Part
    from netinv_core.importing.dump import Source as Source
    from netinv_core.models.associations import content_type_table as content_type_table
    from netinv_core.models.associations import many_to_many as many_to_many
    from netinv_core.models.associations import unique_set as unique_set
    from netinv_core.models.associations import unique_together as unique_together
    from netinv_core.models.base import Base as Base
    from netinv_core.models.base import ChangeLogged as ChangeLogged
    from netinv_core.models.base import Customizable as Customizable
    from netinv_core.models.base import Model as Model
    from netinv_core.models.base import Organizational as Organizational
    from netinv_core.models.base import Primary as Primary
    from netinv_core.models.base import Tree as Tree
    from netinv_core.models.base import now as now
    from netinv_core.models.base import table_of as table_of
    from netinv_core.models.columns import CASCADE as CASCADE
    from netinv_core.models.columns import PROTECT as PROTECT
    from netinv_core.models.columns import SELF as SELF
    from netinv_core.models.columns import SET_NULL as SET_NULL
    from netinv_core.models.columns import Choices as Choices
    from netinv_core.models.columns import ColumnInfo as ColumnInfo
    from netinv_core.models.columns import Comments as Comments
    from netinv_core.models.columns import Description as Description
    from netinv_core.models.columns import Name as Name
    from netinv_core.models.columns import Ref as Ref
    from netinv_core.models.columns import Slug as Slug
    from netinv_core.models.columns import boolean as boolean
    from netinv_core.models.columns import choice as choice
    from netinv_core.models.columns import color as color
    from netinv_core.models.columns import column as column
    from netinv_core.models.columns import decimal_number as decimal_number
    from netinv_core.models.columns import email as email
    from netinv_core.models.columns import encrypted_text as encrypted_text
    from netinv_core.models.columns import foreign_key as foreign_key
    from netinv_core.models.columns import image as image
    from netinv_core.models.columns import integer as integer
    from netinv_core.models.columns import json_document as json_document
    from netinv_core.models.columns import natural_sort_key as natural_sort_key
    from netinv_core.models.columns import optional_text as optional_text
    from netinv_core.models.columns import required_text as required_text
    from netinv_core.models.columns import slug as slug
    from netinv_core.models.columns import text as text
    from netinv_core.models.columns import unique_copy as unique_copy
    from netinv_core.models.columns import url as url
    from netinv_core.presentation import MenuEntry as MenuEntry
    from netinv_core.presentation import MenuSection as MenuSection
    from netinv_core.presentation import Presentation as Presentation
    from netinv_core.read import filters as filters
    from netinv_core.read import listing as listing
    from netinv_core.read.filters import Filter as Filter
    from netinv_core.read.recognisers import Match as Match
    from netinv_core.read.recognisers import SearchProvider as SearchProvider
    from netinv_core.registry import Registry as Registry
    from netinv_core.resource import FieldFactory as FieldFactory
    from netinv_core.resource import Resource as Resource
    from netinv_core.resource import Rule as Rule
    from netinv_core.resource import VersionChange as VersionChange
    from netinv_core.resource import batch_loaded as batch_loaded
    from netinv_core.resource import coalesce as coalesce
    from netinv_core.resource import computed as computed
    from netinv_core.resource import computed_choice as computed_choice
    from netinv_core.resource import content_type_list as content_type_list
    from netinv_core.resource import count_of as count_of
    from netinv_core.resource import counter as counter
    from netinv_core.resource import generic_fk as generic_fk
    from netinv_core.resource import reverse_fk as reverse_fk
    from netinv_core.resource import to_many as to_many
    from netinv_core.resource import utilization as utilization
    from netinv_core.single_references import to_one as to_one
    from netinv_core.sql import lookups as lookups
    from netinv_core.sql import relations as relations
    from netinv_core.sql.lookups import convert as convert
    from netinv_core.sql.relations import Relation as Relation
    from netinv_core.tasks.queue import Task as Task
    from netinv_core.tasks.queue import notify_worker as notify_worker
    from netinv_core.tasks.retention import Retention as Retention
    from netinv_core.tasks.retention import older_than as older_than
    from netinv_core.uow import UnitOfWork as UnitOfWork
    from netinv_core.write import save as save
    from netinv_core.write.delete import GenericCascade as GenericCascade
    from netinv_core.write.delete import in_use as in_use
    from netinv_core.write.draft import ALL as ALL
    from netinv_core.write.draft import Draft as Draft
    from netinv_core.write.dry_run import Effects as Effects
    from netinv_core.write.dry_run import Preview as Preview
    from netinv_core.write.dry_run import dry_run as dry_run
    from netinv_core.write.referring_rules import ReadingRule as ReadingRule
    from netinv_core.write.referring_rules import related_by as related_by
    from netinv_core.write.referring_rules import through as through
    from netinv_core.write.slugs import natural_key as natural_key
    from netinv_core.write.slugs import slugify as slugify
    from netinv_core.write.system_update import system_update as system_update
    from netinv_core.write.table_rows import JoinedColumns as JoinedColumns

_IMPORT = re.compile(r"^    from (\S+) import (\w+) as \2$", flags=re.MULTILINE)
_MODULES = {name: module for module, name in _IMPORT.findall(Path(__file__).read_text(encoding="utf-8"))}

if not TYPE_CHECKING:  # a type checker refuses names that are not in the API
    __all__ = list(_MODULES)

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = pkgutil.resolve_name(f"{_MODULES[name]}.{name}")
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
