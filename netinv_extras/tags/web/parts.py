"""Tags of an object: its panel, their control in forms, and the short form for selected objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_extras.tags import Tags
from netinv_web.bulk.selection import FIELDS
from netinv_web.extensions import Action, Panel
from netinv_web.forms.controls import Control, ControlFactory, FactoryKey
from netinv_web.lists.selection import SELECTION
from netinv_web.markup import dot
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

NAME = "tags"


def _tags(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tags as chips that lead to the list of objects with the tag."""
    listed: Sequence[Mapping[str, Any]] = representation.get(NAME) or ()
    list_path = object_path(endpoint, "")[:-1]
    chips = [(dot(tag["color"]), tag["display"], f"{list_path}?{urlencode({'tag': tag['slug']})}") for tag in listed]
    return {"chips": chips} if chips else None


PANEL = Panel("tags", "Tags", _tags, template="netinv_extras:tags/web/templates/tags.jinja2", position=100)


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The short form that adds tags to selected objects."""
    if not isinstance(endpoint.writable.get(NAME), Tags) or "change" not in endpoint.resource.writes:
        return []
    return [
        Action(
            "tags", "Tags", lambda owner, item: f"{page_path(owner)}edit/?{FIELDS}=tags", SELECTION, "POST", "change"
        )
    ]


def _control(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    """A picker of the tags that objects of the content type may have."""
    assert isinstance(field, Tags)
    parameters = {"content_types": endpoint.label}
    return Control(field.name, "Tags", "picker", multiple=True, target=field.target, parameters=parameters, field=field)


CONTROLS: dict[FactoryKey, ControlFactory] = {Tags: _control}


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The tags of an object."""
    return [PANEL] if NAME in endpoint.fields else []


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """A picker of tags."""
    return CONTROLS
