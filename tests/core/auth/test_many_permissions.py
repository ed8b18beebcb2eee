"""A user with a constrained permission for each model: objects about others cost near those of one permission."""

from __future__ import annotations

import re

import pytest

from netinv_testing import Service

PATHS = {
    "extras.objectchange": "/api/extras/object-changes/",
    "extras.note": "/api/extras/notes/",
    "extras.imageattachment": "/api/extras/image-attachments/",
    "extras.relationshipassociation": "/api/extras/relationship-associations/",
}


@pytest.mark.parametrize("label", PATHS)
@pytest.mark.night
def test_the_limits_of_each_model_are_made_once(service: Service, label: str) -> None:
    """Each table has one alias, wherever its limits are: those of notes, images and associations repeat them."""
    with service.unit_of_work() as uow:
        labels = [name for name, endpoint in uow.registry.endpoints.items() if endpoint.key_type is not int]
    user = service.user(*(("view", name, {"id__isnull": False}) for name in labels))
    user.api.get(PATHS[label])
    with service.statements() as statements:
        user.api.get(PATHS[label])
    longest = max(map(str, statements), key=len)
    aliases = re.findall(r"FROM [`\"]?(\w+)[`\"]? AS [`\"]?(\w+_\d+)", longest)
    tables = {table for table, _ in aliases}
    assert len(tables) > len(labels) - 10
    assert len(aliases) == len(tables), "the limits of a model are there once"
    assert len(statements) < 8
