"""Custom fields of rack roles: fixtures that define them, and functions that read their values."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from netinv_testing import Api

FIELDS, CHOICES = "/api/extras/custom-fields/", "/api/extras/custom-field-choices/"
ROLES, TENANTS, CHANGES = "/api/dcim/rack-roles/", "/api/tenancy/tenants/", "/api/extras/object-changes/"
ROLE = "dcim.rackrole"


@pytest.fixture
def define(api: Api) -> Any:
    """``define(type, …)``: a new custom field of rack roles, gone after the test; ``choices`` are its choices, in
    order.
    """
    made = []

    def post(kind: str = "text", *, choices: tuple[str, ...] = (), **members: Any) -> Any:
        slug = f"f{uuid.uuid4().hex[:12]}"
        found = api.post(
            FIELDS, {"type": kind, "slug": slug, "label": slug.upper(), "content_types": [ROLE], **members}
        )
        made.append(found["url"])
        if choices:
            api.post(CHOICES, [{"field": found["id"], "value": value, "weight": n} for n, value in enumerate(choices)])
        return found

    yield post
    for url in made:
        api.delete(url, status=(204, 404))


@pytest.fixture
def role(make: Any) -> Any:
    """``role(slug=value, …)``: a new rack role with these values; without any, none is sent."""

    def post(**values: Any) -> Any:
        return make(ROLES, **({"custom_fields": values} if values else {}))

    return post


def values(api: Api, shown: Any, **options: Any) -> Any:
    """The values of an object as they are now."""
    return api.get(shown["url"], **options)["custom_fields"]


def refused(api: Api, shown: Any, slug: str, value: Any) -> str:
    """The error of a PATCH with one value that is refused, without the name of its field."""
    (message,) = api.patch(shown["url"], {"custom_fields": {slug: value}}, status=400)["__all__"]
    assert message.startswith(f"Invalid value for custom field '{slug}': ")
    return str(message.partition(": ")[2])
