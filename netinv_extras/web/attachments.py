"""Panels with what users and configuration attach to objects: tags, custom and computed fields, relationships,
images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.net.urls import path_of
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.uow import UnitOfWork
from netinv_extras.custom_fields import values as value_types
from netinv_extras.custom_fields.field import NAME as CUSTOM_FIELDS
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.image_attachments import has_images
from netinv_extras.relationships.models import NAME as RELATIONSHIPS
from netinv_extras.relationships.sides import sides_of
from netinv_extras.templates import computed_fields
from netinv_web.cells import dot, object_link, text_markup, url_markup
from netinv_web.extensions import Action, Panel
from netinv_web.objects import markdown
from netinv_web.paths import object_path

TAGS, IMAGE = "tags", "extras.imageattachment"
MAX_IMAGES = 24  # thumbnails of a panel
TEMPLATES = "netinv_extras:{}/web/templates/{}.jinja2"
IMAGES = TEMPLATES.format("image_attachments", "images")
FACT_GROUPS = "netinv_extras:web/templates/fact_groups.jinja2"


def panels_of(endpoint: Endpoint) -> list[Panel]:
    """The panels of a resource's objects."""
    panels = []
    if CUSTOM_FIELDS in endpoint.fields:
        template = FACT_GROUPS
        panels.append(Panel("custom-fields", "Custom fields", custom_fields, "main", template=template, position=300))
    if TAGS in endpoint.fields:
        panels.append(Panel("tags", "Tags", tags, template=TEMPLATES.format(TAGS, TAGS), position=100))
    if RELATIONSHIPS in endpoint.fields:
        template = TEMPLATES.format(RELATIONSHIPS, RELATIONSHIPS)
        panels.append(
            Panel("relationships", "Relationships", relationships, lazy=True, template=template, position=310)
        )
    if computed_fields.NAME in endpoint.fields:
        template = FACT_GROUPS
        panels.append(Panel("computed-fields", "Computed fields", computed, lazy=True, template=template, position=320))
    if has_images(endpoint):
        panels.append(
            Panel(
                "images",
                "Images",
                images,
                lazy=True,
                template=IMAGES,
                position=330,
            )
        )
    return panels


def actions_of(endpoint: Endpoint) -> list[Action]:
    """The action that adds an image."""
    return [ADD_IMAGE] if has_images(endpoint) else []


def _image_form(endpoint: Endpoint, representation: Mapping[str, Any]) -> str:
    query = urlencode({"content_type": endpoint.label, "object_id": representation["id"]})
    return f"/extras/image-attachments/add/?{query}"


ADD_IMAGE = Action("add-image", "Add an image", _image_form, permission="change", further_permission=(IMAGE, "add"))


def tags(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tags as chips that lead to the list of objects with the tag."""
    listed: Sequence[Mapping[str, Any]] = representation.get(TAGS) or ()
    list_path = object_path(endpoint, "")[:-1]
    chips = [(dot(tag["color"]), tag["display"], f"{list_path}?{urlencode({'tag': tag['slug']})}") for tag in listed]
    return {"chips": chips} if chips else None


def custom_fields(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of custom fields in the groups of their definitions; those without a group come first."""
    values = representation.get(CUSTOM_FIELDS) or {}
    groups: dict[str, list[tuple[str, Markup]]] = {}
    for slug, field in definitions_of(request.uow, endpoint.label).items():
        value = values.get(slug)
        markup = _markup_of(request, field.type, value)
        groups.setdefault(field.grouping, []).append((field.label or field.name, markup))
    return {"groups": sorted(groups.items(), key=lambda group: group[0] != "")} if groups else None


def _markup_of(request: Request, kind: str, value: Any) -> Markup:
    """The markup of a custom field's value by its type."""
    if value in (None, "", []):
        return text_markup(None)
    if kind == value_types.MARKDOWN:
        return markdown.render(request, value)
    return url_markup(value) if kind == value_types.URL else text_markup(value)


def _member(uow: UnitOfWork, endpoint: Endpoint, name: str, key: Any) -> Any:
    """A field of an object that is read on request only."""
    plan = endpoint.plan("full", frozenset(endpoint.fields) - {name})
    return next((representation[name] for _, representation in plan.fetch(uow, [key])), {})


def computed(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The computed fields, rendered."""
    definitions = computed_fields.definitions_of(request.uow, endpoint.label)
    if not definitions:
        return None
    values = _member(request.uow, endpoint, computed_fields.NAME, representation["id"])
    facts = [(definition.label, text_markup(values.get(definition.slug))) for definition in definitions]
    return {"groups": [("", facts)]}


def relationships(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The objects at the other ends of relationships, except hidden ones."""
    uow = request.uow
    sides = [side for side in sides_of(uow, endpoint.label) if not side.hidden]
    if not sides:
        return None
    values = _member(uow, endpoint, RELATIONSHIPS, representation["id"])
    rows = []
    for side in sides:
        objects = values.get(side.slug, {}).get(side.name, {}).get("objects", ())
        links = [object_link(uow, item["url"], item["display"]) for item in objects]
        if links:
            rows.append((side.label or side.title, links))
    return {"rows": rows} if rows else None


def images(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Thumbnails of the images that the user may view."""
    uow = request.uow
    attachments = uow.registry[IMAGE]
    named = [("content_type", [endpoint.label]), ("object_id", [str(representation["id"])])]
    page = listing.list_page(uow, attachments, named, Slice(MAX_IMAGES, 0))
    thumbnails = [
        {
            "source": path_of(item["image"]),
            "name": item["name"] or item["display"],
            "path": object_path(attachments, item["id"]),
        }
        for item in page.results
    ]
    return {"thumbnails": thumbnails, "count": page.count} if thumbnails else None
