"""Feature ``templates``: computed fields, custom links and export templates, rendered in child processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.http.list_formats import ListFormat
from netinv_core.models.base import Customizable, Organizational
from netinv_core.presentation import MenuSection
from netinv_extras.git.sync import ContentKind
from netinv_extras.templates import computed_fields, custom_links, export, export_templates

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory


def memory(text: str) -> int:
    """A number of bytes; less than 64 MiB is not enough for an interpreter.

    :raises ValueError: for less, and for text that is no number
    """
    if settings.size(text) < 64 * 2**20:
        raise ValueError(text)
    return settings.size(text)


feature = Feature(
    "templates",
    "Computed fields, custom links and export templates",
    [custom_links.custom_links, computed_fields.computed_fields, export_templates.export_templates],
    web=[
        "netinv_extras.templates.web.panel",
        "netinv_extras.templates.web.trial",
        "netinv_extras.templates.web.form_part",
        "netinv_extras.templates.web.exports",
    ],
    settings={
        "export_timeout": (settings.seconds, 10.0),
        "template_timeout": (settings.seconds, 2.0),
        "template_total_timeout": (settings.seconds, 10.0),
        "template_memory": (memory, 256 * 2**20),
        "template_processes": (int, 2),
        "template_max_size": (int, 100_000),
        "template_max_output": (int, 1_000_000),
        "template_pause": (settings.seconds, 60.0),
    },
    menu=[
        MenuSection(
            "Customization",
            ["computed-fields", "custom-links", "export-templates"],
            icon="adjustments-horizontal",
            position=712,
        )
    ],
)


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``computed_fields`` on customizable resources."""
    return [computed_fields.field] if issubclass(endpoint.model, Organizational | Customizable) else []


@hookimpl
def netinv_list_formats(registry: Registry) -> Iterable[ListFormat]:
    """``export``: a list rendered by an export template."""
    return [export.list_format]


@hookimpl
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Export templates."""
    from netinv_extras.git import content_kinds

    return content_kinds.EXPORT_TEMPLATES
