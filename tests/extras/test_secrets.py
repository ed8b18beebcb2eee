"""Secrets say where values are, and the values stay there; schemas say what context data looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_core import settings
from netinv_extras import app as extras
from netinv_testing import Api, Service

pytestmark = pytest.mark.any_database  # providers of secrets

SECRETS = "/api/extras/secrets/"
SCHEMAS = "/api/extras/config-context-schemas/"
DEVICES = "/api/dcim/devices/"
HIDDEN = "open sesame"


def checked(api: Api, provider: str, parameters: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new secret, and the answer to whether its value can be had."""
    secret = api.post(SECRETS, {"name": name, "provider": provider, "parameters": parameters})
    return secret, api.get(f"{SECRETS}{secret['id']}/check/")


@pytest.fixture
def folder(service: Service, tmp_path: Path) -> Iterator[Path]:
    """A folder that secrets may be in, beside what they may not read; variables that begin with ``NETINV_TEST_`` may
    hold them too.
    """
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "allowed-not").mkdir()
    for place in (tmp_path, allowed, tmp_path / "allowed-not"):
        (place / "secret.txt").write_text(HIDDEN)
    with service.configured(secrets_file_folders=(str(allowed),), secrets_env_prefixes=("NETINV_TEST_",)):
        yield allowed


def test_a_value_is_found_and_not_told(api: Api, unique: Any, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("NETINV_TEST_SECRET", HIDDEN)
    for provider, parameters in [
        ("environment-variable", {"variable": "NETINV_TEST_SECRET"}),
        ("text-file", {"path": str(folder / "secret.txt")}),
    ]:
        secret, answer = checked(api, provider, parameters, unique())
        assert answer == {"result": True, "message": "Passed"}
        assert HIDDEN not in str(secret) + str(
            api.get("/api/extras/object-changes/", {"changed_object_id": secret["id"]})
        )


def test_a_value_that_is_not_there_is_missed_with_a_reason(api: Api, unique: Any, folder: Path) -> None:
    (folder / "binary").write_bytes(b"\xff\xfe")
    for provider, parameters, reason in [
        ("environment-variable", {"variable": "NETINV_TEST_NO_SUCH"}, "SecretValueNotFoundError"),
        ("environment-variable", {"path": "NETINV_TEST_NO_SUCH"}, "SecretParametersError"),
        ("text-file", {"path": str(folder / "none")}, "SecretValueNotFoundError"),
        ("text-file", {"path": str(folder / "none" / "none")}, "SecretValueNotFoundError"),
        ("text-file", {"path": str(folder / ("x" * 300))}, "SecretProviderError"),
        ("text-file", {"path": str(folder / "binary")}, "SecretProviderError"),
    ]:
        name = unique()
        _, answer = checked(api, provider, parameters, name)
        assert answer["result"] is False
        assert answer["message"].startswith(f'{reason}: Secret "{name}" (provider "'), answer


@pytest.mark.parametrize(
    "path",
    [
        "{}/../secret.txt",
        "{}/./../allowed-not/secret.txt",
        "{}-not/secret.txt",
        "{}-not/none.txt",
        "{}",
        "{}/",
        "{}/link",
        "{}/link-to-nothing",
        "{}/folder/secret.txt",
        "{}/folder/none.txt",
        "/etc/passwd",
        "/none",
        "/proc/self/environ",
    ],
)
def test_files_outside_of_the_folders_are_not_read_and_nothing_is_told_of_them(
    api: Api, unique: Any, folder: Path, path: str
) -> None:
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    (folder / "link-to-nothing").symlink_to(folder.parent / "nothing")
    (folder / "folder").symlink_to(folder.parent / "allowed-not")
    name = unique()
    _, answer = checked(api, "text-file", {"path": path.format(folder)}, name)
    words = "The setting netinv.secrets_file_folders does not allow this file."
    assert answer == {
        "result": False,
        "message": f'SecretProviderError: Secret "{name}" (provider "TextFileSecretsProvider"): {words}',
    }


@pytest.mark.parametrize("variable", ["PATH", "NO_SUCH_VARIABLE", "netinv_test_secret", "XNETINV_TEST_SECRET"])
def test_other_variables_are_not_read_and_nothing_is_told_of_them(
    api: Api, unique: Any, folder: Path, variable: str
) -> None:
    name = unique()
    _, answer = checked(api, "environment-variable", {"variable": variable}, name)
    words = "The setting netinv.secrets_env_prefixes does not allow this variable."
    assert answer == {
        "result": False,
        "message": f'SecretProviderError: Secret "{name}" (provider "EnvironmentVariableSecretsProvider"): {words}',
    }


def test_without_settings_nothing_is_read(
    api: Api, unique: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETINV_TEST_SECRET", HIDDEN)
    (tmp_path / "secret.txt").write_text(HIDDEN)
    for provider, parameters in [
        ("environment-variable", {"variable": "NETINV_TEST_SECRET"}),
        ("text-file", {"path": str(tmp_path / "secret.txt")}),
    ]:
        _, answer = checked(api, provider, parameters, unique())
        assert answer["result"] is False and "does not allow this" in answer["message"]


def test_the_secret_of_netinv_is_never_read(service: Service, unique: Any, folder: Path) -> None:
    own = folder / "netinv"
    own.write_text("the secret of netinv")
    (folder / "link").symlink_to(own)
    (folder / "hard").hardlink_to(own)
    for name in ("netinv", "link", "hard", "sub/../netinv"):
        with service.configured(secret_file=str(own)):
            _, answer = checked(service.api, "text-file", {"path": str(folder / name)}, unique())
        assert answer["result"] is False and answer["message"].endswith(
            "netinv.secrets_file_folders does not allow this file."
        )


@pytest.mark.parametrize("text", ["relative", "/", "//", "/etc/..", "/etc/netinv relative"])
def test_folders_are_absolute_paths_and_not_everything(text: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape("the setting netinv.secrets_file_folders has a value that cannot be read")
    ):
        settings.read(
            {"netinv.secret": "for tests only, of more than 32 characters", "netinv.secrets_file_folders": text},
            {"extras": extras.without(())},
        )
    good = {"netinv.secret": "for tests only, of more than 32 characters", "netinv.secrets_file_folders": "/etc/a/ /b"}
    assert settings.read(good, {"extras": extras.without(())})["secrets_file_folders"] == ("/etc/a", "/b")


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
        (
            {"$ref": "http://127.0.0.1:9/schema.json"},
            "The schema refers to something outside of it: http://127.0.0.1:9/schema.json",
        ),
        ({"$ref": "#"}, "The schema refers to itself without end."),
    ],
)
def test_context_data_fits_its_schema(api: Api, unique: Any, device: Any, schema: Any, wrong: str) -> None:
    made = api.post(SCHEMAS, {"name": unique(), "data_schema": {"type": "object", "properties": {}, **schema}})
    body = {"local_context_schema": made["id"], "local_context_data": {"vlan": "x"}}
    answer = api.patch(f"{DEVICES}{device['id']}/", body, status=400)
    assert answer == {"local_context_data": [f"Validation using the JSON Schema {made['name']} failed.", wrong]}


def test_a_schema_is_called_after_its_owner_when_it_has_one(api: Api, unique: Any, device: Any) -> None:
    name, site = unique(), device["site"]
    body = {"name": name, "data_schema": {"type": "object", "properties": {}}}
    assert api.post(SCHEMAS, body)["display"] == name
    owned = api.post(SCHEMAS, {**body, "owner_content_type": "dcim.site", "owner_object_id": site["id"]})
    assert (owned["display"], owned["owner"]["id"]) == (f"[{site['display']}] {name}", site["id"])
    assert api.post(SCHEMAS, body, status=400) == {"name": ["A ConfigContextSchema with this name already exists."]}
