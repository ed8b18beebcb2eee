"""Check of what pages tell about objects that their reader may not view."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from netinv_core.http.actions import actions_of
from netinv_testing import Account
from netinv_testing.client import PASSWORD
from netinv_web.extensions import ListTab, Tab
from netinv_web.objects.tab_links import child_tabs, own_tabs
from netinv_web.paths import endpoint_at
from netinv_web.testing.browser import LINK, Browser
from netinv_web.testing.checks import PageCase, page_check
from netinv_web.testing.named_parts import ReferringSamples, pages_about, previews_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NAME = re.compile(r"\bt[0-9a-f]{4}x\d{5}")  # of Unique
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MAX_CHILDREN = 12
DEFINITIONS = ("relationships", "custom-fields", "computed-fields", "custom-links", "export-templates", "job-buttons")


def _has_pages(endpoint: Endpoint) -> bool:
    resource = endpoint.resource
    return resource.of is None and resource.writable and resource.narrowing is None


@page_check(_has_pages)
def pages_tell_a_reader_nothing_that_the_api_hides(case: PageCase) -> None:
    """Home page, list, search, object, panels, and every tab name no object but what the API shows of this one.

    The reader is permitted to view what belongs to the object, with constraints that exclude all of it: each tab, panel
    and widget is asked for, and has to leave out the others.
    """
    item = case.item()
    _make_children(case, item)
    account = _reader_of(case, item)
    reader, shown = Browser(case.service, account), {account.username, account.id, *_words(str(item["id"]))}
    at_item = f"{case.endpoint.path}{item['id']}/"
    answer = account.api.send("GET", at_item)
    if answer.status_int == 404:  # about an object that the reader may not view
        reader.get(case.at(item), status=404)
        return
    shown |= _words(answer.text) | _names_of_definitions(case)
    views = {"content_type": case.endpoint.label, "shared": "true", "limit": 0}  # everybody sees these
    shown |= _words(str(case.service.api.get("/api/web/saved-views/", views)))
    for action in actions_of(case.service.app.registry):
        if not action.on_list and "get" in action.views and case.endpoint in action.endpoints(case.service.registry):
            path = f"{case.endpoint.path}{item['id']}/{action.name}/"
            shown |= _words(account.api.send("GET", path, status=None).text)
    tabs = [name for name, _ in child_tabs(case.endpoint)] + [tab.name for tab in own_tabs(case.endpoint)]
    about = case.at(item)
    search = f"/search/?q={case.service.unique()[:5]}"
    paths: dict[str, Any] = dict.fromkeys(("/", case.path, f"{about}?_show=all", search), 200)
    paths |= dict.fromkeys([f"{about}{name}/" for name in tabs], (200, 303, 404))
    for path, status in paths.items():
        page = reader.get(path, status=status)
        assert "This part failed" not in page.text, path
        assert not (told := _words(page.text) - shown), f"{path}: {_excerpts(page.text, told)}"


@page_check(lambda endpoint: endpoint.resource.of is None and endpoint.resource.writable)
def pages_link_to_no_object_that_their_reader_may_not_view(case: PageCase) -> None:
    """List, object, panels, tabs, search, forms and previews name what an object refers to, and what refers to it,
    without a link where the constraints of the reader exclude it.
    """
    item = ReferringSamples(case.service).part(case.endpoint)
    _make_children(case, item)
    account = _writer_of(case, item)
    reader, answers = Browser(case.service, account), dict[str, int]()
    faults: dict[str, list[str]] = {}
    for place, text in (*pages_about(case, reader, item), *previews_of(case, reader, item)):
        for path in {html.unescape(address).partition("#")[0] for address in LINK.findall(text)}:
            endpoint, key = endpoint_at(case.service.registry, path), path.rstrip("/").rpartition("/")[2]
            if endpoint is None or not ID.fullmatch(key):
                continue
            at_item = f"{endpoint.path}{key}/"
            if at_item not in answers:
                answers[at_item] = account.api.send("GET", at_item, status=None).status_int
            if answers[at_item] != 200:
                faults.setdefault(place, []).append(path)
    assert not faults


def _writer_of(case: PageCase, item: dict[str, Any]) -> Account:
    """A user who may do everything with this one object, and view all kinds of objects with constraints that exclude
    each of them.
    """
    kinds: dict[type, list[str]] = {}
    for endpoint in case.service.registry.endpoints.values():
        if endpoint is not case.endpoint:
            kinds.setdefault(endpoint.key_type, []).append(endpoint.label)
    limits = [("view", names, {"id": _nobody(kind)}) for kind, names in kinds.items()]
    own = ("view add change delete", case.endpoint.label, {"id": item["id"]})
    return case.service.user(own, *limits, password=PASSWORD)


def _names_of_definitions(case: PageCase) -> set[str]:
    """The words of definitions that pages show to readers of the object: relationships, fields, links, templates."""
    api = case.service.api
    return {
        word for path in DEFINITIONS for word in _words(str(api.get(f"/api/extras/{path}/", {"limit": 0})["results"]))
    }


def _make_children(case: PageCase, item: dict[str, Any]) -> None:
    """Makes objects that refer to this one, so that its tabs and panels have something to hide."""
    for incoming in case.endpoint.incoming_foreign_keys[:MAX_CHILDREN]:
        child, parent = incoming.child, incoming.attribute.removesuffix("_id")
        if "add" in child.resource.writes and parent in child.writable:
            body = case.samples.body(child, **{parent: item["id"]})
            case.service.api.post(child.path, body, status=None)


def _reader_of(case: PageCase, item: dict[str, Any]) -> Account:
    """A user who may view this one object, and is permitted to view what belongs to it, with constraints that exclude
    all of it.
    """
    endpoint, registry = case.endpoint, case.service.registry
    labels = {incoming.child.label for incoming in endpoint.incoming_foreign_keys}
    labels |= {tab.permission[0] for tab in own_tabs(endpoint) if isinstance(tab, Tab) and tab.permission}
    labels |= {tab.label_for(item) for tab in own_tabs(endpoint) if isinstance(tab, ListTab)}
    labels |= {"users.user", "users.objectpermission", "auth.group"} & registry.endpoints.keys()
    kinds: dict[type, list[str]] = {}
    for label in sorted(labels - {endpoint.label}):
        kinds.setdefault(registry[label].key_type, []).append(label)
    limits = [("view", names, {"id": _nobody(kind)}) for kind, names in kinds.items()]
    return case.service.user(("view", endpoint.label, {"id": item["id"]}), *limits, password=PASSWORD)


def _nobody(kind: type) -> Any:
    return 0 if kind is int else "00000000-0000-0000-0000-000000000000"


def _words(text: str) -> set[str]:
    """The ids and the names of samples in a text."""
    return {*NAME.findall(text), *ID.findall(text)}


def _excerpts(text: str, words: set[str]) -> list[str]:
    """The first 5 of the words, each with the text around its first place."""
    return [text[max(0, text.index(word) - 150) : text.index(word) + 80] for word in sorted(words)[:5]]
