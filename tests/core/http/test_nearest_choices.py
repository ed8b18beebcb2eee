"""Refused choices and statuses come with the ones that are meant: in problems of the API and in imports."""

from __future__ import annotations

import uuid
from typing import Any

from netinv_core import caches
from netinv_core.endpoint import Endpoint
from netinv_core.fields import Choice, Status
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.importing import preview

PROBLEM = {"Accept": "application/json; version=1.4, application/problem+json"}
LEAST = 5  # letters of a choice, of which one is left out


def choices_of(api: Api, endpoint: Endpoint) -> dict[str, str]:
    """A choice of each field with choices or statuses."""
    found: dict[str, list[str]] = {}
    for field in endpoint.writable.values():
        if isinstance(field, Status):
            listed = api.get("/api/extras/statuses/", {"content_types": endpoint.label})["results"]
            found[field.name] = [status["slug"] for status in listed]
        elif isinstance(field, Choice):
            found[field.name] = [value for value, _ in field.choices.items if isinstance(value, str)]
    long = {name: next((text for text in texts if len(text) >= LEAST), "") for name, texts in found.items()}
    return {name: text for name, text in long.items() if text}


def misspelled(text: str) -> str:
    return text[:2] + text[3:]


def test_every_field_with_choices_names_the_one_that_is_meant(service: Service, api: Api) -> None:
    silent, seen = [], 0
    for endpoint in service.registry.endpoints.values():
        choices = choices_of(api, endpoint) if "add" in endpoint.resource.writes else {}
        if not choices:
            continue
        body = {name: misspelled(text) for name, text in choices.items()}
        answer = api.send("POST", endpoint.path, body, status=400, headers=PROBLEM)
        messages = {error["pointer"]: error["message"] for error in answer.json["errors"]}
        seen += len(choices)
        silent += [
            (endpoint.label, name, messages.get(f"/{name}"))
            for name, text in choices.items()
            if "Did you mean " not in messages.get(f"/{name}", "") or text not in messages[f"/{name}"]
        ]
    assert silent == [] and seen > 30


def test_clients_of_version_1_get_the_message_they_know(api: Api) -> None:
    refused: Any = api.post("/api/dcim/racks/", {"status": "actve", "width": 20, "type": "2-post-fram"}, status=400)
    assert refused["status"] == ["Object with slug=actve does not exist."]
    assert refused["type"] == ["2-post-fram is not a valid choice."]


def test_an_import_names_the_status_and_the_choice_at_their_cells(service: Service, api: Api, unique: Unique) -> None:
    word = unique()
    rows = f"name,site,status,type\n{word},x,actve,4-post-cabinett\n"
    page = preview(Browser(service, service.admin), rows, "/dcim/racks/import/", status=422)
    assert "No status with slug actve for racks. Did you mean active?" in page.words
    assert "4-post-cabinett is not a valid choice. Did you mean 4-post-cabinet" in page.words


def test_what_is_like_no_choice_and_what_is_too_long_get_no_advice(api: Api) -> None:
    for text in ("zzzzzz", "active" * 100):
        answer = api.send("POST", "/api/dcim/racks/", {"status": text, "type": text}, status=400, headers=PROBLEM)
        assert "Did you mean" not in answer.text


def test_a_text_that_is_too_long_is_not_kept(api: Api) -> None:
    def kept() -> int:
        return dict(caches.usage())["nearest choices"].entries

    before = kept()
    text = str(uuid.uuid4())
    api.post("/api/dcim/racks/", {"type": text}, status=400)
    assert kept() == before, "clients of version 1 are told nothing of it"
    api.send("POST", "/api/dcim/racks/", {"type": text}, status=400, headers=PROBLEM)
    assert kept() == before + 1
    api.send("POST", "/api/dcim/racks/", {"type": text * 100}, status=400, headers=PROBLEM)
    assert kept() == before + 1
