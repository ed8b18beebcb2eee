"""Secrets say where values are, and the values stay there; schemas say what context data looks like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_core.contract import Api

SECRETS = "/api/extras/secrets/"
SCHEMAS = "/api/extras/config-context-schemas/"
DEVICES = "/api/dcim/devices/"
HIDDEN = "open sesame"


def checked(api: Api, provider: str, parameters: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new secret, and the answer to whether its value can be had."""
    secret = api.post(SECRETS, {"name": name, "provider": provider, "parameters": parameters})
    return secret, api.get(f"{SECRETS}{secret['id']}/check/")


def test_a_value_is_found_and_not_told(api: Api, unique: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "secret.txt"
    place.write_text(HIDDEN)
    monkeypatch.setenv("NETINV_TEST_SECRET", HIDDEN)
    for provider, parameters in [("environment-variable", {"variable": "NETINV_TEST_SECRET"}), ("text-file", {"path": str(place)})]:
        secret, answer = checked(api, provider, parameters, unique())
        assert answer == {"result": True, "message": "Passed"}
        assert HIDDEN not in str(secret) + str(api.get("/api/extras/object-changes/", {"changed_object_id": secret["id"]}))


def test_a_value_that_is_not_there_is_missed_with_a_reason(api: Api, unique: Any, tmp_path: Path) -> None:
    for provider, parameters, reason in [
        ("environment-variable", {"variable": "NETINV_NO_SUCH"}, "SecretValueNotFoundError"),
        ("environment-variable", {"path": "NETINV_NO_SUCH"}, "SecretParametersError"),
        ("text-file", {"path": str(tmp_path / "none")}, "SecretValueNotFoundError"),
        ("text-file", {"path": str(tmp_path)}, "SecretValueNotFoundError"),
    ]:
        name = unique()
        _, answer = checked(api, provider, parameters, name)
        assert answer["result"] is False
        assert answer["message"].startswith(f'{reason}: Secret "{name}" (provider "'), answer


def test_only_those_who_may_see_a_secret_may_check_it(api: Api, unique: Any, make_user: Any) -> None:
    secret, _ = checked(api, "text-file", {"path": "/nowhere"}, unique())
    make_user(("view", "extras.secretsgroup")).api.get(f"{SECRETS}{secret['id']}/check/", status=403)


@pytest.fixture(scope="module")
def device(service: Any) -> Iterator[dict[str, Any]]:
    """A device without context data of its own."""
    api, word = service.api, service.unique()
    maker = api.post("/api/dcim/manufacturers/", {"name": word})
    yield api.post(
        DEVICES,
        {
            "device_type": api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word})["id"],
            "device_role": api.post("/api/dcim/device-roles/", {"name": word})["id"],
            "site": api.post("/api/dcim/sites/", {"name": word, "status": "active"})["id"],
            "status": "active",
        },
    )


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"properties": {"vlan": {"type": "integer"}}}, "'x' is not of type 'integer'"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "The schema refers to something outside of it: http://127.0.0.1:9/schema.json"),
        ({"$ref": "#"}, "The schema refers to itself without end."),
    ],
)
def test_context_data_fits_its_schema(api: Api, unique: Any, device: Any, schema: Any, wrong: str) -> None:
    made = api.post(SCHEMAS, {"name": unique(), "data_schema": schema})
    body = {"local_context_schema": made["id"], "local_context_data": {"vlan": "x"}}
    answer = api.patch(f"{DEVICES}{device['id']}/", body, status=400)
    assert answer == {"local_context_data": [f"Validation using the JSON Schema {made['name']} failed.", wrong]}


def test_a_schema_is_called_after_its_owner_when_it_has_one(api: Api, unique: Any, device: Any) -> None:
    name, site = unique(), device["site"]
    body = {"name": name, "data_schema": {}}
    assert api.post(SCHEMAS, body)["display"] == name
    owned = api.post(SCHEMAS, {**body, "owner_content_type": "dcim.site", "owner_object_id": site["id"]})
    assert (owned["display"], owned["owner"]["id"]) == (f"[{site['display']}] {name}", site["id"])
    assert api.post(SCHEMAS, body, status=400) == {"name": ["A ConfigContextSchema with this name already exists."]}
