"""Custom links, job buttons and export templates of an object: a panel in its head, loaded after the page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_extras.content_types import has_pages
from netinv_extras.jobs.buttons import JobButton, job_button_types
from netinv_extras.templates import sandbox
from netinv_extras.templates.custom_links import CustomLink
from netinv_extras.templates.export import PARAMETER
from netinv_extras.templates.objects import ObjectLoader
from netinv_extras.templates.web import exports
from netinv_outgoing.urls import is_link, is_link_or_path
from netinv_web.extensions import Panel
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_extras:web/templates/links.jinja2"
JOB, BUTTON, LINK = "extras.job", "extras.jobbutton", "extras.customlink"
_link, _button = table_of(CustomLink), table_of(JobButton)
_Groups = dict[str, list["HeadLink"]]


@dataclasses.dataclass(frozen=True)
class HeadLink:
    """A link, or with ``posts`` a button, in the head of an object. ``error`` is the name of one that failed."""

    text: str
    path: str = ""
    kind: str = "default"
    posts: bool = False
    new_window: bool = False
    error: str = ""


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panel, for resources whose objects have pages."""
    if not has_pages(endpoint):
        return []
    return [Panel("links", "Links and jobs", panel, "head", lazy=True, template=TEMPLATE, position=100)]


def panel(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The links and buttons by group; those of a group form a menu. Texts of templates are rendered together."""
    uow, key = request.uow, representation["id"]
    links, buttons = _custom_links(uow, endpoint), _job_buttons(uow, endpoint)
    sources = [text for row in links for text in (row.text, row.target_url)] + [row.text for row in buttons]
    texts = _render_texts(uow, endpoint, key, sources)
    groups: _Groups = {}
    for number, row in enumerate(links):
        entry = _custom_link(row, *texts[2 * number : 2 * number + 2])
        if entry is not None:
            groups.setdefault(row.group_name, []).append(entry)
    for row, text in zip(buttons, texts[2 * len(links) :], strict=True):
        groups.setdefault(row.group_name, []).append(_job_button(row, text, endpoint, key))
    if own_exports := _exports(uow, endpoint, key):
        groups.setdefault("Export", []).extend(own_exports)
    return {"single": groups.pop("", []), "menus": list(groups.items())} if groups else None


def _custom_links(uow: UnitOfWork, endpoint: Endpoint) -> Sequence[Any]:
    """The links of a content type; none where the feature is disabled."""
    if uow.registry.get(LINK) is None:
        return []
    order = (_link.c.group_name, _link.c.weight, _link.c.name)
    return uow.execute(sa.select(_link).where(_link.c.content_type == endpoint.label).order_by(*order)).all()


def _job_buttons(uow: UnitOfWork, endpoint: Endpoint) -> Sequence[Any]:
    """The buttons of a content type; none for users who may run no jobs or view no buttons, and where the feature is
    disabled.
    """
    jobs, buttons = uow.registry.get(JOB), uow.registry.get(BUTTON)
    if jobs is None or buttons is None or not (may(uow, jobs, "run") and may(uow, buttons, "view")):
        return []
    of_type = sa.select(job_button_types.c.owner_id).where(job_button_types.c.label == endpoint.label)
    order = (_button.c.group_name, _button.c.weight, _button.c.name)
    return uow.execute(sa.select(_button).where(_button.c.id.in_(of_type)).order_by(*order)).all()


def _render_texts(uow: UnitOfWork, endpoint: Endpoint, key: Any, sources: Sequence[str]) -> Sequence[Any]:
    """The texts of templates for an object; a :class:`RenderError` in the place of one that fails."""
    if not sources:
        return []
    loader = ObjectLoader(uow)
    variables = {"obj": loader.add(endpoint, [key], open=True).object(key)}
    renderings = [sandbox.Rendering(source, variables) for source in sources]
    return sandbox.render(renderings, sandbox.limits_of(uow.registry), loader)


def _custom_link(row: Any, text: Any, address: Any) -> HeadLink | None:
    """A custom link; ``None`` for one whose text is blank, which is how templates hide it."""
    if not isinstance(text, str) or not isinstance(address, str):
        return HeadLink(row.name, error=row.name)
    if not text.strip():
        return None
    if not (is_link(address.strip()) or (address.strip().startswith("/") and is_link_or_path(address.strip()))):
        return HeadLink(text.strip(), error=row.name)
    return HeadLink(text.strip(), address.strip(), row.button_class, new_window=bool(row.new_window))


def _job_button(row: Any, text: Any, endpoint: Endpoint, key: Any) -> HeadLink:
    if not isinstance(text, str):
        return HeadLink(row.name, error=row.name)
    query = urlencode({"object_model_name": endpoint.label, "object_pk": key})
    path = f"/extras/job-buttons/{row.id}/run/?{query}"
    return HeadLink(text.strip() or row.name, path, row.button_class, posts=not row.confirmation)


def _exports(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> list[HeadLink]:
    """The export templates of the content type, for this object alone."""
    paths = [(name, urlencode({PARAMETER: name, "id": key})) for name in exports.template_names(uow, endpoint)]
    return [HeadLink(name, f"{endpoint.path}?{query}") for name, query in paths]
