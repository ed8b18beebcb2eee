"""Panel with the images of an object, and the action that adds one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_extras.image_attachments import has_images
from netinv_outgoing.urls import path_of
from netinv_web.extensions import Action, Panel
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

IMAGE = "extras.imageattachment"
MAX_IMAGES = 24  # thumbnails of a panel
TEMPLATE = "netinv_extras:image_attachments/web/templates/images.jinja2"


def _image_form(endpoint: Endpoint, representation: Mapping[str, Any]) -> str:
    query = urlencode({"content_type": endpoint.label, "object_id": representation["id"]})
    return f"/extras/image-attachments/add/?{query}"


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


ADD_IMAGE = Action("add-image", "Add an image", _image_form, permission="change", further_permission=(IMAGE, "add"))
PANEL = Panel("images", "Images", images, lazy=True, template=TEMPLATE, position=330)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The images of an object."""
    return [PANEL] if has_images(endpoint) else []


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """Adding an image to an object."""
    return [ADD_IMAGE] if has_images(endpoint) else []
