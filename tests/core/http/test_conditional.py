"""Conditional requests over HTTP: who read the last state writes, the others are told; what is known is not sent."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from netinv_testing import Samples, Service
from netinv_testing.checks.conditions import ETAG, INCLUDED
from tests.support.http_server import served
from tests.support.threads import at_once

SITES, TAGS, DEVICES, PREFIXES = "/api/dcim/sites/", "/api/extras/tags/", "/api/dcim/devices/", "/api/ipam/prefixes/"
CLIENTS = 32


def tag_of(service: Service, path: str, **query: Any) -> str:
    """The ETag of an object."""
    tag: str = service.api.send("GET", path, query=query, status=200).headers["ETag"]
    return tag


def sample(service: Service, label: str, **members: Any) -> dict[str, Any]:
    """A new object."""
    return Samples(service).make(service.registry[label], **members)


@pytest.mark.night
@pytest.mark.slow
def test_of_many_who_write_with_one_tag_one_writes(service: Service) -> None:
    """32 clients have read the same site: each method is carried out for one of them."""
    headers = {"Authorization": f"Token {service.api.token}"}
    site = sample(service, "dcim.site")
    with served(service.app) as address:
        url = f"{address}{SITES}{site['id']}/"
        for method in ("PATCH", "list", "DELETE"):
            tag = requests.get(url, headers=headers, timeout=60).headers["ETag"]

            def write(number: int, method: str = method, tag: str = tag) -> requests.Response:
                body = {"comments": f"{method} {number}"}
                if method == "list":
                    items = [{"id": site["id"], ETAG: tag, **body}]
                    return requests.patch(f"{address}{SITES}", json=items, headers=headers, timeout=60)
                conditional = {**headers, "If-Match": tag}
                return requests.request(method, url, json=body, headers=conditional, timeout=60)

            answers = at_once(write, CLIENTS)
            lost = 404 if method == "DELETE" else 412
            won = [number for number, answer in enumerate(answers) if answer.ok]
            assert len(won) == 1 and {answer.status_code for answer in answers if not answer.ok} == {lost}
            if lost == 412:
                assert requests.get(url, headers=headers, timeout=60).json()["comments"] == f"{method} {won[0]}"


def test_two_editors(service: Service) -> None:
    """The second one gets the object as the first one left it, and writes with its tag."""
    site = sample(service, "dcim.site")
    tag = tag_of(service, site["url"])
    first = service.api.send("PATCH", site["url"], {"facility": "A"}, headers={"If-Match": tag}, status=200)
    refused = service.api.send("PATCH", site["url"], {"comments": "B"}, headers={"If-Match": tag}, status=412)
    assert refused.json["current"] == service.api.get(site["url"]) and refused.json["current"]["facility"] == "A"
    assert refused.headers["ETag"] == first.headers["ETag"]
    again = {"If-Match": f'"other", {refused.headers["ETag"]}'}
    service.api.patch(site["url"], {"comments": "B"}, headers=again)
    found = service.api.get(site["url"])
    assert (found["facility"], found["comments"]) == ("A", "B")
    problem = service.api.send(
        "DELETE", site["url"], headers={"If-Match": tag, "Accept": "application/problem+json"}, status=412
    )
    assert (problem.json["code"], problem.json["errors"]) == ("precondition_failed", [])
    assert problem.json["current"] == found


def test_each_change_of_own_data_gives_another_tag(service: Service) -> None:
    """Also tags, custom fields and further lists; changes of others change only what GET compares."""
    custom_field = sample(service, "extras.customfield", content_types=["dcim.site"], type="text", default=None)
    site, tag = sample(service, "dcim.site"), sample(service, "extras.tag", content_types=["dcim.site"])
    tags = [tag_of(service, site["url"])]
    for body in (
        {"tags": [tag["id"]]},
        {"custom_fields": {custom_field["slug"]: "x"}},
        {"tags": []},
        {"comments": "x"},
        {"comments": "y"},
    ):
        service.api.patch(site["url"], body)
        tags.append(tag_of(service, site["url"]))
    assert len({value.partition("-")[0] for value in tags}) == len(tags)
    device = sample(service, "dcim.device", site=site["id"])
    before = tag_of(service, device["url"])
    service.api.patch(site["url"], {"name": service.unique()})
    after = tag_of(service, device["url"])
    assert before != after and before.partition("-")[0] == after.partition("-")[0]
    service.api.get(device["url"], headers={"If-None-Match": before}, status=200)
    service.api.patch(device["url"], {"comments": "x"}, headers={"If-Match": before})


def test_versions_and_shapes_have_tags_of_their_own(service: Service) -> None:
    """Any of them is a condition for a write."""
    device = sample(service, "dcim.device")
    tags = {
        tag_of(service, device["url"], **query)
        for query in ({}, {"brief": 1}, {"exclude": "config_context"}, {"include": "relationships"})
    }
    older = service.api.send("GET", device["url"], version="1.2", status=200).headers["ETag"]
    assert len(tags) == 4 and older not in tags - {tag_of(service, device["url"])}
    for tag in (*tags, older):
        service.api.send("PATCH", device["url"], {}, headers={"If-Match": tag}, status=200)
    assert "ETag" not in service.api.send("GET", device["url"], headers={"Accept": "text/html"}, status=200).headers


def test_an_action_is_bound_to_a_tag(service: Service) -> None:
    """One statement more; what failed allocates nothing."""
    prefix = sample(service, "ipam.prefix", prefix=f"{service.unique.ipv6()}::/120")
    path, body = f"{prefix['url']}available-ips/", {"status": "active"}
    before = tag_of(service, prefix["url"])
    service.api.post(path, body)
    service.api.patch(prefix["url"], {"description": "x"})
    service.api.post(path, body, headers={"If-Match": before}, status=412)
    tag = tag_of(service, prefix["url"])
    with service.statements() as plain:
        service.api.post(path, body)
    with service.statements() as conditional:
        last = service.api.post(path, body, headers={"If-Match": tag})
    assert len(conditional) <= len(plain) + 1, "\n".join(conditional)
    assert last["address"].endswith("::2/120")
    service.api.post(path, body, headers={"If-Match": "*"})
    service.api.post(path, body, headers={"If-None-Match": "*"}, status=412)


def test_malformed_and_weak_tags(service: Service) -> None:
    """The answer names the header or the item; weak tags validate what was read, and no write."""
    site = sample(service, "dcim.site")
    for text in ("abc", '"a" "b"', '"', '*, "a"', "", '"a",b', 'w/"a"'):
        for method in ("GET", "PATCH", "DELETE"):
            assert list(service.api.send(method, site["url"], headers={"If-Match": text}, status=400).json) == [
                "If-Match"
            ]
    answer = service.api.patch(SITES, [{"id": site["id"]}, {"id": site["id"], ETAG: 5}], status=400)
    assert list(answer[1]) == [ETAG] and answer[0] == {}
    assert list(service.api.patch(SITES, [], headers={"If-Match": '"a"'}, status=400)) == ["If-Match"]
    tag = tag_of(service, site["url"])
    service.api.get(site["url"], headers={"If-None-Match": f"W/{tag}"}, status=304)
    service.api.get(site["url"], headers={"If-None-Match": "*"}, status=304)
    service.api.patch(site["url"], {}, headers={"If-Match": f"W/{tag}"}, status=412)
    service.api.patch(f"{SITES}{site['id'][::-1]}/", {}, headers={"If-Match": tag}, status=404)


def test_what_may_not_be_viewed_is_not_shown(service: Service) -> None:
    """A user who may change and not view a site learns no more than that its tag is another one."""
    site = sample(service, "dcim.site")
    account = service.user(("change delete", "dcim.site"))
    refused = account.api.send("DELETE", site["url"], headers={"If-Match": '"a"'}, status=412)
    assert list(refused.json) == ["detail"] and "ETag" not in refused.headers
    listed = account.api.send("DELETE", SITES, [{"id": site["id"], ETAG: '"a"'}], status=412)
    assert listed.json["current"] == []


def test_the_tag_may_be_required(service: Service) -> None:
    """Of everybody, of a user, or of a group (``netinv.require_if_match``)."""
    site = sample(service, "dcim.site")
    group = service.api.post("/api/users/groups/", {"name": service.unique()})
    account = service.user(("view change delete", "dcim.site"), groups=[group["id"]])
    for names, strict in (
        (("*",), True),
        ((account.username,), True),
        ((f"group:{group['name']}",), True),
        (("nobody",), False),
    ):
        with service.configured(require_if_match=names):
            path = f"{SITES}{site['id']}/"
            account.api.patch(path, {"comments": names[0]}, status=428 if strict else 200)
            account.api.patch(SITES, [{"id": site["id"]}], status=428 if strict else 200)
            if strict:
                account.api.delete(path, status=428)
                account.api.delete(SITES, [{"id": site["id"]}], status=428)
            account.api.patch(path, {"comments": names[0]}, headers={"If-Match": tag_of(service, path)})
            item = service.api.get(path, INCLUDED)
            account.api.patch(SITES, [{"id": site["id"], ETAG: item[ETAG]}])
