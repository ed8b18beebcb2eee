"""Checks of the pages that every resource has."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from netinv_core.resource import WRITES
from netinv_core.write import offered
from netinv_testing import Api, Case, Samples, Service
from netinv_testing.client import PASSWORD
from netinv_web.forms.form import SHOW_AGAIN
from netinv_web.objects.tab_links import own_tabs
from netinv_web.paths import endpoint_at, object_path, page_path
from netinv_web.testing import hostile_outputs, hostile_values, visible_words
from netinv_web.testing.browser import Browser, BrowserPage

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MAX_LIST_STATEMENTS = 8
MAX_OBJECT_STATEMENTS = 10
ROUNDS_OF_OUTPUTS = (0, 5)  # of hostile values, after which all outputs are read


class PageCase:
    """A resource under test: its pages in the browser of an administrator, and in that of a user without
    permissions.
    """

    def __init__(self, service: Service, browser: Browser, nobody: Browser, label: str) -> None:
        self.service, self.browser, self.nobody = service, browser, nobody
        self.endpoint: Endpoint = service.registry[label]
        self.samples = Samples(service)
        self.path = page_path(self.endpoint)

    def item(self) -> dict[str, Any]:
        """An object."""
        return self.samples.make(self.endpoint)

    def at(self, item: dict[str, Any]) -> str:
        """The path of an object's page."""
        return object_path(self.endpoint, item["id"])

    def pages(self, item: dict[str, Any]) -> list[str]:
        """The paths of the pages of the resource and of one object."""
        writes = self.endpoint.resource.writes
        paths = [self.path, self.at(item)] if self.endpoint.resource.of is None else [self.path]
        paths += [f"{self.path}add/"] if "add" in writes else []
        paths += [f"{self.at(item)}edit/"] if "change" in writes else []
        return paths + ([f"{self.at(item)}delete/"] if "delete" in writes else [])


@dataclasses.dataclass(frozen=True)
class PageCheck:
    """One behaviour of the pages of every resource for which ``applies`` holds."""

    function: Callable[[PageCase], None]
    applies: Callable[[Endpoint], bool]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__


PAGE_CHECKS: list[PageCheck] = []


def page_check(
    applies: Callable[[Endpoint], bool] = lambda endpoint: True,
) -> Callable[[Callable[[PageCase], None]], Any]:
    """Decorator of a check of the pages of each resource for which ``applies(endpoint)`` is true."""

    def register(function: Callable[[PageCase], None]) -> Callable[[PageCase], None]:
        PAGE_CHECKS.append(PageCheck(function, applies))
        return function

    return register


def _writable(endpoint: Endpoint) -> bool:
    return endpoint.resource.writable


@page_check()
def every_page_opens_and_its_tabs_do(case: PageCase) -> None:
    """List, object, tabs, history, import and forms answer 200 with valid pages whose links lead somewhere. Neither
    they nor the search show content types, ids or names of fields. The page of an object says nothing twice.
    """
    item, registry = case.item(), case.service.registry
    links: set[str] = set()
    faults: dict[str, list[str]] = {}
    for path in case.pages(item):
        page = case.browser.get(path)
        links |= set(page.links())
        faults[path] = [*_default_buttons(page), *visible_words.faults_of(registry, case.endpoint, page)]
    others = _one_of_each_kind(case, item, links) - set(case.pages(item))
    shown = {f"{case.path}?per_page=25&_columns={','.join(case.endpoint.fields)}", *_searches(item)}
    for link in sorted(others | shown):
        page = case.browser.get(link)
        is_read = link in shown or link.endswith(("/changelog/", "/import/"))
        faults[link] = _repeated_facts(page)
        faults[link] += visible_words.faults_of(registry, case.endpoint, page) if is_read else []
    assert not any(faults.values()), {path: found for path, found in faults.items() if found}


def _repeated_facts(page: BrowserPage) -> list[str]:
    """The links that are values in two panels of a page."""
    panels = [{str(link["href"]) for link in panel.select("dd a")} for panel in page.html.select(".detail .panel")]
    shown: set[str] = set()
    repeated: list[str] = []
    for links in panels:
        repeated += links & shown
        shown |= links
    return repeated


def _default_buttons(page: BrowserPage) -> list[str]:
    """The buttons that the Enter key presses in forms of a page, if they only show the form again."""
    firsts = [form.select_one("button[type=submit], button:not([type])") for form in page.html.select("form")]
    return [str(button) for button in firsts if button is not None and button.get("name") == SHOW_AGAIN]


def _searches(item: dict[str, Any]) -> list[str]:
    """The path of the search for an object by the first word of its name; none for one that has an id in it."""
    words = str(item.get("name") or item.get("display") or "").split()
    return [f"/search/?q={quote(words[0])}"] if words and not visible_words.UUID.search(words[0]) else []


def _one_of_each_kind(case: PageCase, item: dict[str, Any], links: set[str]) -> set[str]:
    """The links to pages of the resource and of the object: one for each path and set of query parameters.

    Other objects of the list, and other values of a parameter, lead to pages of the same kind.
    """
    kinds: dict[tuple[str, frozenset[str]], str] = {}
    for link in sorted(links):
        parts = urlsplit(link)
        of_list = (
            parts.path.startswith(case.path)
            and case.endpoint.parse_key(parts.path[len(case.path) :].split("/")[0]) is None
        )
        if of_list or parts.path.startswith(case.at(item)):
            kinds[parts.path, frozenset(parse_qs(parts.query, keep_blank_values=True))] = link
    return set(kinds.values())


@page_check()
def nobody_sees_pages_without_permission(case: PageCase) -> None:
    """A user without permissions gets 403 for every page."""
    item = case.item()
    for path in case.pages(item):
        case.nobody.get(path, status=403)


@page_check(lambda endpoint: endpoint.resource.writes != WRITES)
def what_the_api_does_not_write_no_page_writes(case: PageCase) -> None:
    """The pages of a write that the API answers 405 do not exist, whatever the method, and the object stays."""
    of = case.endpoint.resource.of
    item = case.item()
    forms = {
        "add": [f"{case.path}add/"],
        "change": [f"{case.path}{name}/" for name in ("edit", "grid", "rename")],
        "delete": [f"{case.path}delete/"],
    }
    if of is None:
        forms["change"].append(f"{case.at(item)}edit/")
        forms["delete"].append(f"{case.at(item)}delete/")
    closed = sorted(WRITES - case.endpoint.resource.writes)
    for path in [path for action in closed for path in forms[action]]:
        case.browser.get(path, {"_all": "1"}, status=404)
        case.browser.head(f"{path}?_all=1", status=404)
        for members in ({}, {"_all": "1", "_step": "apply"}, {"pk": item["id"], "_step": "apply"}):
            case.browser.post(path, members, status=404)
    if not case.endpoint.resource.writes & {"add", "change"}:
        case.browser.get(f"{case.path}import/", status=404)
        case.browser.post(f"{case.path}import/", {"_step": "apply", "data": "id\n"}, status=404)
    else:
        _insist_on_refused_rows(case, item, closed)
    if of is None:
        case.service.api.get(f"{case.endpoint.path}{item['id']}/")


def _insist_on_refused_rows(case: PageCase, item: dict[str, Any], closed: Sequence[str]) -> None:
    """Rows of an import that would create objects, or change some, are refused in each format, with the reason."""
    name = next(name for name, field in case.endpoint.writable.items() if field.kind == "string")
    rows = {"add": {name: case.service.unique()}, "change": {"id": item["id"], name: case.service.unique()}}
    for row in [rows[action] for action in closed if action in rows]:
        csv = f"{','.join(row)}\n{','.join(row.values())}\n"
        yaml = "".join(f"  {key}: {value}\n" for key, value in row.items()).replace(" ", "-", 1)
        before = case.service.row_counts()
        for text in (csv, json.dumps([row]), yaml):
            page = case.browser.post(f"{case.path}import/", {"_step": "preview", "data": text}, status=422)
            said = offered.refusal(case.endpoint, "change" if "id" in row else "add")
            assert said is not None and said in page.words and not page.html.select("button[value=apply]")
        assert case.service.row_counts() == before
    template = case.browser.get(f"{case.path}import/", {"_template": "csv"}).text.split(",")
    assert ("id" in template) is ("change" in case.endpoint.resource.writes and "add" in closed)


@page_check(lambda endpoint: endpoint.resource.narrowing is None)
def pages_permit_what_the_api_permits(case: PageCase) -> None:
    """For a user with one or two permissions on this resource, and a view of all others, each page is open whose
    request the API permits, and no other; so it is for an object outside of the constraint of the permissions. Forms
    that show an object are for those who may view it.
    """
    item, outside = case.samples.make_many(case.endpoint, 2)
    label = case.endpoint.label
    others = ("view", [name for name in case.service.registry.endpoints if name != label])
    for actions in ("view", "add", "change", "delete", "view add", "view change", "view delete"):
        account = case.service.user((actions, label, {"id": item["id"]}), others, password=PASSWORD)
        reader = Browser(case.service, account)
        for target in (item, outside):
            expected = {action: _api_permits(case, account.api, action, target) for action in ("view", *WRITES)}
            for action, method, path, members in _requests_of_pages(case, target):
                status = reader.request(path, method=method, **members, status="*").status_int
                is_open = expected[action] and (action == "add" or expected["view"])
                assert status < 500 and (status not in (403, 404)) == is_open, (actions, method, path, status)


def _api_permits(case: PageCase, api: Api, action: str, item: dict[str, Any]) -> bool:
    """Tells if the API answers neither 403 nor 404 to a request that changes nothing."""
    path = case.endpoint.path if action == "add" else f"{case.endpoint.path}{item['id']}/"
    method = {"view": "GET", "add": "POST", "change": "PATCH", "delete": "DELETE"}[action]
    bodies: list[Any] = [{}] if action in ("add", "change") else []
    query = {"dry_run": "true"} if method == "DELETE" else ()
    return api.send(method, path, *bodies, query=query).status_int not in (403, 404, 405)


def _requests_of_pages(case: PageCase, item: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The requests of the pages of an object: action, method, path and further arguments."""
    writes, of = case.endpoint.resource.writes, case.endpoint.resource.of
    if of is None:
        yield "view", "GET", case.at(item), {}
        if any(tab.name == "changelog" for tab in own_tabs(case.endpoint)):
            yield "view", "GET", f"{case.at(item)}changelog/", {}
    if "add" in writes:
        yield "add", "GET", f"{case.path}add/", {}
        yield "add", "POST", f"{case.path}add/", {"body": b""}
    for action, name in (("change", "edit"), ("delete", "delete")):
        if action in writes and of is None:
            yield action, "GET", f"{case.at(item)}{name}/", {}


@page_check()
def a_reader_finds_no_link_to_what_they_may_not_view(case: PageCase) -> None:
    """A user who may view objects of this resource and no other sees no part fail, and no link to a page that is
    closed.
    """
    item, label = case.service.population.objects(case.endpoint)[0], case.endpoint.label
    account = case.service.user(("view", label), password=PASSWORD)
    reader = Browser(case.service, account)
    shown = account.api.get(case.endpoint.path, {"id": item["id"]})["count"] and case.endpoint.resource.of is None
    paths = [case.path, f"{case.at(item)}?_show=all"] if shown else [case.path]
    for path in paths:
        page = reader.get(path)
        assert "This part failed" not in page.text, path
        targets = [(link, endpoint_at(case.service.registry, urlsplit(link).path)) for link in page.links()]
        closed = [link for link, target in targets if target is not None and target.label != label]
        assert not closed, f"{path}: {closed}"
        for link in sorted(_one_of_each_kind(case, item, set(page.links()))):
            reader.get(link)


@page_check()
def the_number_of_statements_does_not_grow(case: PageCase) -> None:
    """A list of many objects takes as many statements as a list of one, within the budget."""
    items = case.samples.make_many(case.endpoint, 3)
    query = [("id", item["id"]) for item in items]
    case.browser.get(case.path, query)
    with case.service.statements() as of_one:
        case.browser.get(case.path, query[:1])
    with case.service.statements() as of_many:
        case.browser.get(case.path, query)
    assert len(of_many) <= max(len(of_one) + 1, 2), of_many  # a count is left out where the page tells it
    assert len(of_many) <= MAX_LIST_STATEMENTS, of_many
    if case.endpoint.resource.of is None:
        case.browser.get(case.at(items[0]))  # fills the caches of the configuration
        with case.service.statements() as of_object:
            case.browser.get(case.at(items[0]))
        assert len(of_object) <= MAX_OBJECT_STATEMENTS, of_object


def _refers(endpoint: Endpoint) -> bool:
    return any(item.relation is not None for item in endpoint.filters.values())


@page_check(_refers)
def every_reference_filter_at_once_stays_within_the_budget(case: PageCase) -> None:
    """The objects that filters name are looked up together: a list with all of these filters, the number of its rows
    counted, takes one statement more than one with the same row at most. That is the object's, or, where a filter is
    refused, the first of all: two more than its list without filters, which looks up no names for chips.
    """
    item = case.item()
    query = [("per_page", "1")]
    for name, declared in case.endpoint.filters.items():
        if declared.relation is not None:
            nested = item.get(name)
            query.append((name, nested["id"] if isinstance(nested, dict) and "id" in nested else str(uuid.uuid4())))
    found = []
    for parameters in ([("per_page", "1")], [("per_page", "1"), ("id", str(item["id"]))], query):
        case.browser.get(case.path, parameters)
        with case.service.statements() as statements:
            case.browser.get(case.path, parameters)
        found.append(len(statements))
    of_first, of_item, of_all = found
    assert of_all <= max(of_first + 2, of_item + 1, MAX_LIST_STATEMENTS), (found, statements)


@page_check(lambda endpoint: _writable(endpoint) and endpoint.resource.recorded)
def a_form_posted_back_unchanged_changes_nothing(case: PageCase) -> None:
    """The form of an object sends what the object has: saving it leaves no change record."""
    item = case.item()
    before = _number_of_changes(case, item)
    case.browser.get(f"{case.at(item)}edit/").form().submit()
    assert _number_of_changes(case, item) == before


@page_check(lambda endpoint: _writable(endpoint) and endpoint.resource.recorded)
def a_filled_form_posted_back_unchanged_changes_nothing(case: PageCase) -> None:
    """The same for an object with a value in every field that its rules let change alone, texts of several lines where
    they are taken; and for it in the grid.
    """
    item = Case(case.service, case.endpoint.label).filled()
    texts, _ = hostile_values.targets_of(case.endpoint)
    hostile_values.store(case.service.api, f"{case.endpoint.path}{item['id']}/", dict.fromkeys(texts, "1\n2\r3\r\n4"))
    before = _number_of_changes(case, item)
    case.browser.get(f"{case.at(item)}edit/").form().submit()
    assert _number_of_changes(case, item) == before
    grid = case.browser.get(f"{case.path}grid/", {"id": item["id"], "_columns": ",".join(case.endpoint.fields)})
    if grid.html.select_one("form[data-grid]"):
        answer = grid.form().submit("_step", status=422)
        assert "Nothing is to be changed." in answer.words, answer.words


def _number_of_changes(case: PageCase, item: dict[str, Any]) -> int:
    answer = case.service.api.get("/api/extras/object-changes/", {"changed_object_id": item["id"], "limit": 1})
    return int(answer["count"])


@page_check(_writable)
def hostile_values_fail_no_page_and_stay_text(case: PageCase) -> None:
    """Text with markup, no addresses, documents and more, in every field that takes it, is refused with the field's
    name, or every page and file that shows the object opens and shows it as text; so do GraphQL, search, forms, changes
    and messages.
    """
    item = case.item()
    texts, documents = hostile_values.targets_of(case.endpoint)
    path, names = f"{case.endpoint.path}{item['id']}/", [*texts, *documents]
    before = {name: item[name] for name in names if name in item}
    try:
        hostile_values.refuse(case.service.api, path, texts)
        for number, body in enumerate(hostile_values.rounds_of(case.endpoint)):
            hostile_values.store(case.service.api, path, body)
            showing = _pages_showing(case, item)
            hostile_values.open_everything(case.browser, showing if number % 3 == 0 else showing[:3])
            for media_type in ("csv", "yaml"):
                case.service.api.send("GET", case.endpoint.path, query={"id": item["id"], "format": media_type})
            if number in ROUNDS_OF_OUTPUTS:
                hostile_outputs.read_outputs(case.service, case.browser, case.endpoint, item)
    finally:
        for name, value in before.items():
            case.service.api.patch(path, {name: value}, status=(200, 400, 404))


def _pages_showing(case: PageCase, item: dict[str, Any]) -> list[str]:
    """The paths of the pages that show an object."""
    columns = ",".join(case.endpoint.fields)
    paths = [f"{case.path}?id={item['id']}&_columns={columns}", f"{case.endpoint.path}{item['id']}/"]
    if case.endpoint.resource.of is not None:
        return [*paths, *case.pages(item)[1:]]
    below = [tab.name for tab in own_tabs(case.endpoint) if tab.name == "changelog"]
    return [*paths, f"{case.at(item)}?_show=all", *(f"{case.at(item)}{name}/" for name in below), *case.pages(item)[2:]]
