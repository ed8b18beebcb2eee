"""Outputs with the stored values of an object beside list, object page and files: GraphQL, search, forms, change log,
webhook messages.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netinv_core.labels import title_of
from netinv_web.paths import page_path
from netinv_web.testing import hostile_values
from netinv_web.testing.browser import Browser

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_testing import Service

CHANGES, WEBHOOKS, UNDO = "/api/extras/object-changes/", "/api/extras/webhooks/", "/extras/undo/"
BODY = "{{ data | tojson }} {{ data }} {{ snapshots | tojson }}"
OF_ANSWERS = (200, 303, 409, 422)  # of a form: a page, a change, a conflict, refused values
ROOTS = "{__schema{queryType{fields{name type{kind ofType{name}}}}}}"
MEMBERS = '{__type(name:"%s"){fields{name type{kind}}}}'


@contextlib.contextmanager
def webhooks_about(service: Service, label: str) -> Iterator[list[str]]:
    """Webhooks about objects of a type, one with the default body and one with a template: the ids, until the end."""
    common = {"content_types": [label], "type_create": True, "type_update": True, "enabled": False}
    made: list[str] = []
    try:
        for template in ("", BODY):
            name = service.unique()
            own = {"name": name, "payload_url": f"https://receiver.example.com/{name}", "body_template": template}
            made.append(service.api.post(WEBHOOKS, {**common, **own})["id"])
        yield made
    finally:
        for key in made:
            service.api.delete(f"{WEBHOOKS}{key}/")


def read_outputs(service: Service, browser: Browser, endpoint: Endpoint, item: dict[str, Any]) -> None:
    """Reads all outputs: none fails, and none shows a value as markup."""
    _ask_graphql(service, endpoint, item)
    included = sorted({"config_context", "computed_fields", "relationships"} & endpoint.opt_in)
    service.api.get(endpoint.path, [("id", item["id"]), *(("include", name) for name in included)])
    hostile_values.open_everything(browser, [f"{endpoint.path}?id={item['id']}"])
    _search(service, browser, item)
    _fill_forms(browser, endpoint, item)
    if endpoint.resource.recorded:
        _read_changes(service, browser, endpoint, item)


def _ask_graphql(service: Service, endpoint: Endpoint, item: dict[str, Any]) -> None:
    """Asks for all scalars of the type."""
    name = f"{endpoint.schema_name}Type"
    roots = service.api.post("/api/graphql/", {"query": ROOTS}, status=200)["data"]["__schema"]["queryType"]["fields"]
    lists = [
        root["name"] for root in roots if root["type"]["kind"] == "LIST" and root["type"]["ofType"]["name"] == name
    ]
    if not lists:
        return
    members = service.api.post("/api/graphql/", {"query": MEMBERS % name}, status=200)["data"]["__type"]["fields"]
    scalars = " ".join(member["name"] for member in members if member["type"]["kind"] == "SCALAR")
    query = f"{{{lists[0]}(id:[{json.dumps(item['id'])}]){{{scalars}}}}}"
    answer = service.api.post("/api/graphql/", {"query": query}, status=200)
    assert "errors" not in answer, answer
    assert len(answer["data"][lists[0]]) == 1, answer


def _search(service: Service, browser: Browser, item: dict[str, Any]) -> None:
    """Searches for what the object is called, and for markup."""
    for text in {str(item.get("display", ""))[:100], hostile_values.MARKUP}:
        service.api.send("GET", "/api/search/", query={"q": text})
        page = browser.get("/search/", {"q": text}, status=(200, 303))
        hostile_values.check_page(page)
        assert "This part failed" not in page.text, text


def _fill_forms(browser: Browser, endpoint: Endpoint, item: dict[str, Any]) -> None:
    """Posts the forms of one object, of several and of the grid as they are, and shows what would change."""
    if "change" not in endpoint.resource.writes:
        return
    path = page_path(endpoint)
    grid = f"{path}grid/?id={item['id']}&_columns={','.join(endpoint.fields)}"
    pages = [browser.post(f"{path}edit/", [("pk", item["id"])], status=OF_ANSWERS)]
    texts = hostile_values.targets_of(endpoint)[0]
    changes = [(name, hostile_values.MARKUP) for name in texts]
    steps = [("_keys", item["id"]), ("_step", "preview"), *changes]
    pages.append(browser.post(f"{path}edit/?_fields={','.join(texts)}", steps, status=OF_ANSWERS))
    pages.append(browser.get(grid, status=OF_ANSWERS))
    if pages[-1].html.select_one("form[data-grid]"):
        pages.append(pages[-1].form().submit("_step", status=OF_ANSWERS))
    pages.append(browser.get(f"{path}{item['id']}/edit/").form().submit(status=OF_ANSWERS))
    for page in pages:
        hostile_values.check_page(page)
        assert "This part failed" not in page.text, page.request.path_qs


def _read_changes(service: Service, browser: Browser, endpoint: Endpoint, item: dict[str, Any]) -> None:
    """Reads the change log of the object and the webhook messages about it, and undoes its last update."""
    of_object = {"changed_object_id": item["id"], "limit": 3}
    changes = service.api.get(CHANGES, of_object)["results"]
    for media_type in ("csv", "yaml"):
        service.api.send("GET", CHANGES, query={**of_object, "format": media_type})
    service.api.get(f"{CHANGES}feed/", {"limit": 5})
    service.api.send("GET", f"{endpoint.path}{item['id']}/history/")
    newest = f"/extras/object-changes/{changes[0]['id']}/"
    hostile_values.open_everything(browser, [f"/extras/object-changes/?changed_object_id={item['id']}", newest])
    with webhooks_about(service, endpoint.label) as webhooks:
        paths = [f"/extras/webhooks/{key}/message/" for key in webhooks]
        hostile_values.open_everything(browser, paths)
        for path in paths:
            assert f"change that matches: {title_of(endpoint)} " in browser.get(path).words, path
    if changes[0]["action"]["value"] == "update":
        hostile_values.check_page(browser.post(UNDO, {"change": changes[0]["id"], "next": "/"}, status=OF_ANSWERS))
