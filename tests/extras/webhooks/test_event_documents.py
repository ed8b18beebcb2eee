"""The description of the messages of webhooks: valid, and true of what is sent about every model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from netinv_extras.webhooks.event_documents import PATH
from netinv_testing import Api, Service
from netinv_testing.cases import Case
from tests.support.receivers import Receiver
from tests.support.webhook_workers import WEBHOOKS, deliver, service

pytestmark = pytest.mark.any_database
__all__ = ["service"]


def test_the_document_is_one_of_openapi_3_1(api: Api) -> None:
    document = api.get(PATH)
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0" and {"dcim.device", "ipam.ipaddress"} <= document["webhooks"].keys()
    names = {parameter["name"] for parameter in document["webhooks"]["dcim.site"]["post"]["parameters"]}
    assert {"webhook-id", "webhook-timestamp", "webhook-signature"} <= names


def test_a_schema_is_downloaded_for_a_model(api: Api) -> None:
    answer = api.send("GET", PATH, query={"model": "dcim.site"}, status=200)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="dcim.site.schema.json"'
    Draft202012Validator.check_schema(answer.json)
    assert api.get(PATH, {"model": "dcim.zz"}, status=400) == {"model": ["There are no messages about 'dcim.zz'."]}
    assert api.get(PATH, {"zz": "1"}, status=400) == {"zz": ["Unknown parameter"]}


def test_what_is_sent_about_every_model_is_as_its_schema_says(service: Service) -> None:
    labels = sorted(service.api.get(PATH)["webhooks"])
    events = {"type_create": True, "type_update": True, "type_delete": True}
    with Receiver() as receiver:
        body = {"name": service.unique(), "content_types": labels, "payload_url": receiver.url, **events}
        webhook = service.api.post(WEBHOOKS, body)
        for case in (Case(service, label) for label in labels):
            if "add" not in case.endpoint.resource.writes:
                continue
            made = service.api.send("POST", case.path, case.body(), status=(201, 400))  # buttons need an installed job
            if made.status_int == 201:
                item = case.filled()
                service.api.delete(case.at(item), status=(204, 400, 403, 409))
        deliver(service)
        service.api.delete(webhook["url"])
        messages = [json.loads(message.body) for message in receiver.received]
    assert_described(service, messages)


def assert_described(service: Service, messages: list[Any]) -> None:
    """Validates messages by the schemas of their models, and that most models are among them."""
    by_model = {label.rpartition(".")[2]: label for label in service.api.get(PATH)["webhooks"]}
    validators: dict[str, Any] = {}
    errors = []
    for message in messages:
        label = by_model[message["model"]]
        if label not in validators:
            validators[label] = Draft202012Validator(service.api.send("GET", PATH, query={"model": label}).json)
        errors += [
            f"{label} {error.json_path}: {error.message[:200]}" for error in validators[label].iter_errors(message)
        ]
    assert not errors, "\n".join(sorted(set(errors)))
    assert len(validators) > 60 and {message["event"] for message in messages} == {"created", "updated", "deleted"}
