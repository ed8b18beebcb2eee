"""Names of changes on pages: no name of any resource's change has a content type in the form of the API, such as
``extras | secret``.
"""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import table_of
from netinv_core.read.names import names_in_context
from netinv_extras.changelog.resource import readable_name
from netinv_extras.content_types import name_of
from netinv_testing import Api, Service, Unique

TEMPLATES = "/api/extras/export-templates/"


def names_of(service: Service) -> dict[tuple[str, str], str]:
    """The names of the newest changes of each resource and action, by these."""
    change = table_of(ObjectChange)
    with service.unit_of_work() as uow:
        statement = sa.select(change.c.id, change.c.changed_object_type, change.c.action).order_by(change.c.time)
        newest = {(label, action): key for key, label, action in uow.execute(statement)}
        names = names_in_context(uow, [("extras.objectchange", key) for key in newest.values()])
    return {of: names["extras.objectchange", key] for of, key in newest.items()}


@pytest.mark.night
def test_names_of_changes_show_no_content_types_of_the_api(
    service: Service, api: Api, make: Any, unique: Unique
) -> None:
    """Of existing objects of every resource, and of deleted ones of those whose display name has a content type."""
    for endpoint in service.registry.endpoints.values():
        if endpoint.resource.recorded and endpoint.resource.writable:
            service.population.objects(endpoint)
    name, other = unique(), unique()
    gone = make(TEMPLATES, name=other, content_type="dcim.site", template_code="x")
    api.delete(gone["url"])
    kept = make(TEMPLATES, name=name, content_type="dcim.site", template_code="x")
    names = names_of(service)
    types = [name_of(service.registry, label) for label in service.registry.content_types]
    assert len(names) > 40
    assert {of: text for of, text in names.items() if any(shown in text for shown in types)} == {}
    readable = "[Lisbon] Sites as text · Site"
    assert readable_name(service.registry, "extras.exporttemplate", "[Lisbon] dcim | site: Sites as text") == readable
    assert readable_name(service.registry, "dcim.site", "dcim | site: Sites as text") == "dcim | site: Sites as text"
    assert f"{name} · Site created by" in names["extras.exporttemplate", "create"]
    assert f"{other} · Site deleted by" in names["extras.exporttemplate", "delete"]
    assert kept["display"] == f"dcim | site: {name}"  # as the API has it
