"""Statements of conditions and keys: ``If-Match`` and ``Idempotency-Key`` add at most one each to every action."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.action_requests import WRITES, sample

ON_LISTS = {"change-requests/propose POST", "webhook-deliveries/retry POST"}
BY_PATH = {"jobs/{source}/{module_name}/{job_class_name}/run POST"}  # its path does not name the object


def statements(service: Service, path: str, body: Any, headers: dict[str, str]) -> list[str]:
    """The statements of a POST that succeeds."""
    with service.statements() as found:
        service.api.send("POST", path, body, headers=headers, status=(200, 201, 204))
    return list(found)


def tag_of(service: Service, path: str) -> str:
    """The ETag of the object that an action is of."""
    own_path = f"{path.removesuffix('/').rpartition('/')[0]}/"
    tag: str = service.api.send("GET", own_path, status=200).headers["ETag"]
    return tag


@pytest.mark.parametrize("name", sorted(WRITES.keys() - ON_LISTS - BY_PATH))
def test_a_condition_of_an_action_takes_at_most_one_statement(service: Service, name: str) -> None:
    WRITES[name](service)
    statements(service, *WRITES[name](service), {})  # what the process caches is cached
    plain = statements(service, *WRITES[name](service), {})
    path, body = WRITES[name](service)
    service.api.send("POST", path, body, headers={"If-Match": '"0-0"'}, status=412)
    conditional = statements(service, path, body, {"If-Match": tag_of(service, path)})
    assert len(conditional) <= len(plain) + 1, "\n".join([*plain, "", *conditional])


@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_key_of_an_action_takes_at_most_one_statement(service: Service, name: str) -> None:
    statements(service, *WRITES[name](service), {})
    plain = statements(service, *WRITES[name](service), {})
    with_key = statements(service, *WRITES[name](service), {"Idempotency-Key": secrets.token_hex()})
    assert len(with_key) <= len(plain) + 1, "\n".join([*plain, "", *with_key])


@pytest.mark.parametrize("label", ["dcim.device", "ipam.ipaddress", "extras.webhook", "circuits.circuit"])
def test_a_condition_of_a_note_takes_at_most_one_statement(service: Service, label: str) -> None:
    path = f"{sample(service, label)['url']}notes/"
    plain = statements(service, path, {"note": "x"}, {})
    conditional = statements(service, path, {"note": "x"}, {"If-Match": tag_of(service, path)})
    assert len(conditional) <= len(plain) + 1, "\n".join([*plain, "", *conditional])
