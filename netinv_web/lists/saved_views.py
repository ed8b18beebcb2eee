"""Saved views: queries of lists under a name, private or shared, and the one that a bare URL of a list leads to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth.models import User
from netinv_core.errors import Invalid
from netinv_core.models.associations import unique_together
from netinv_core.models.base import ChangeLogged, table_of
from netinv_core.models.columns import CASCADE, Name, Ref, boolean, column, foreign_key, slug, text
from netinv_core.read.name_lookup import NameQuery, validation_errors
from netinv_core.read.parameters import parse_parameters
from netinv_core.resource import Resource
from netinv_web.lists.list_query import ListQuery

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MAX_QUERY = 4000  # characters


class SavedView(ChangeLogged):
    """A query of a list under a name. A private view is seen by its owner only."""

    __tablename__ = "web_saved_view"
    __table_args__ = (
        unique_together(
            "owner_id", "content_type", "slug", field="name", message="You have a view of this name already."
        ),
    )

    owner_id: Mapped[Ref] = foreign_key(User, on_delete=CASCADE, read_only=True)
    content_type: Mapped[str] = column(length=100, index=True, help="The model of the list, as app.model")
    name: Mapped[Name]
    slug: Mapped[str] = slug(unique=False)
    query: Mapped[str] = text(None, "Filters, order and columns as in the list's URL", max_length=MAX_QUERY)
    shared: Mapped[bool] = boolean(False, "Everybody who may view the list sees it")
    is_default: Mapped[bool] = boolean(False, "The owner's list without a query leads to it; the newest one counts")


saved_view_resource = Resource(
    SavedView,
    "saved-views",
    order=["content_type", "name"],
    search=["name", "content_type"],
    brief=["name", "slug"],
    recorded=False,
    configuration=True,
    exempt_by_name_only=True,
    example={"content_type": "users.user", "shared": True},
)
_views = table_of(SavedView)


@saved_view_resource.base_filter
def own_and_shared(uow: UnitOfWork, table: Any) -> Any:
    """Base filter: private views are their owners' alone."""
    return sa.or_(table.c.shared.is_(True), table.c.owner_id == uow.identity.user_id)


@saved_view_resource.prepare
def set_owner(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the owner of new views, and removes the question mark of queries."""
    for draft in drafts:
        if draft.new:
            draft["owner_id"] = uow.identity.user_id
        draft["query"] = str(draft["query"] or "").lstrip("?")


@saved_view_resource.rule
def of_a_known_list(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects views of lists that do not exist."""
    for draft in drafts:
        if draft.changed("content_type") and uow.registry.get(draft["content_type"]) is None:
            draft.reject("content_type", f"There is no list of “{draft['content_type']}”.")


@saved_view_resource.rule
def with_filters_of_its_list(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a query with a filter that the list does not have, or with a value that the filter does not take."""
    given = [
        (draft, endpoint)
        for draft in drafts
        if draft.changed("query", "content_type") and (endpoint := uow.registry.get(draft["content_type"])) is not None
    ]
    errors = query_errors(uow, [(endpoint, draft["query"]) for draft, endpoint in given])
    for (draft, _), texts in zip(given, errors, strict=True):
        if texts:
            draft.reject("query", *texts)


def query_errors(uow: UnitOfWork, queries: Sequence[tuple[Endpoint, str]]) -> list[list[str]]:
    """The errors of the filters in queries of lists, as the user sees the objects that they name.

    The number of statements depends on what the filters name, not on how many queries there are.
    """
    errors: list[list[str]] = [[] for _ in queries]
    named: list[tuple[list[str], NameQuery]] = []
    for texts, (endpoint, query) in zip(errors, queries, strict=True):
        deferring = uow.without_lookups()
        saved = ListQuery("", tuple(parse_qsl(query)))
        try:
            parse_parameters(deferring, endpoint, endpoint.table, saved.filters, strict=True)
        except Invalid as error:
            texts += _texts(error)
        else:
            deferred = deferring.deferred_lookups or ()
            named += [(texts, lookup) for lookup in deferred if isinstance(lookup, NameQuery)]
    found = validation_errors(uow, [lookup for _, lookup in named])
    for (texts, _), lookup_error in zip(named, found, strict=True):
        if lookup_error is not None:
            texts += _texts(lookup_error)
    return errors


def _texts(error: Invalid) -> list[str]:
    return [f"{name}: {' '.join(map(str, messages))}" for name, messages in error.body.items()]


def views_of(uow: UnitOfWork, endpoint: Endpoint) -> list[Any]:
    """The rows of a list's views that the user sees, by name: own ones and shared ones; from the configuration's
    cache.
    """
    rows = uow.cached_config(("web saved views", endpoint.label), lambda uow: _views_of_all(uow, endpoint.label))
    return [row for row in rows if row["shared"] or row["owner_id"] == uow.identity.user_id]


def _views_of_all(uow: UnitOfWork, label: str) -> list[Any]:
    statement = sa.select(_views).where(_views.c.content_type == label).order_by(_views.c.name, _views.c.id)
    return list(uow.execute(statement).mappings())


def default_of(views: Sequence[Any], user_id: uuid.UUID | None) -> str:
    """The query of the user's default view, the one changed last; empty without one."""
    own = [view for view in views if view["is_default"] and view["owner_id"] == user_id]
    return str(max(own, key=lambda view: view["last_updated"])["query"]) if own else ""


def own_view(uow: UnitOfWork, endpoint: Endpoint, condition: Any) -> Any:
    """The id of the user's own view of a list that meets a condition; ``None`` without one."""
    is_own = (_views.c.owner_id == uow.identity.user_id, _views.c.content_type == endpoint.label)
    return uow.execute(sa.select(_views.c.id).where(*is_own, condition)).scalar()


def has_slug(slug_text: str) -> Any:
    """The condition that a view has a slug."""
    return _views.c.slug == slug_text


def with_id(key: Any) -> Any:
    """The condition that a view has an id."""
    return _views.c.id == key
