"""Check of the names of parts, which contain names of other objects: to those who may view and change a part alone no
page, file, notice or message tells more than its representation shows.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read.words import name_paths
from netinv_testing import Account, Samples, Service
from netinv_testing.client import PASSWORD
from netinv_testing.samples import NoSample, accepts, generic_pairs
from netinv_web.names import has_context
from netinv_web.objects.tab_links import child_tabs, own_tabs
from netinv_web.paths import page_path
from netinv_web.testing.browser import Browser, BrowserPage
from netinv_web.testing.checks import PageCase, page_check
from netinv_web.testing.hostile_outputs import OF_ANSWERS, webhooks_about

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NAME = re.compile(r"t[0-9a-f]{4}x\d{5}")  # of Unique
CHANGES, UNDO = "extras.objectchange", "/extras/undo/"
LISTED_AS = ("csv", "tsv", "yaml", "json")
MAX_CHILDREN = 6
ROOTS = "{__schema{queryType{fields{name type{kind name ofType{name}}}}}}"
MEMBERS = '{__type(name:"%s"){fields{name args{name} type{kind name ofType{kind name}}}}}'


class ReferringSamples(Samples):
    """Samples that refer to as many others as their rules let them."""

    def part(self, endpoint: Endpoint) -> dict[str, Any]:
        """A new object with these references."""
        references: dict[str, Any] = {}
        for field in endpoint.writable.values():
            if isinstance(field, fields.Reference) and field.target is not endpoint:
                try:
                    references[field.name] = self.value(endpoint, field)
                except NoSample:
                    continue
        references |= self._generic(endpoint)
        required = {
            name for name, field in endpoint.writable.items() if field.required and isinstance(field, fields.Reference)
        }
        body = self.body(endpoint, **references)
        while (answer := self.api.send("POST", endpoint.path, body, status=(201, 400))).status_int == 400:
            left_out = set(answer.json) & references.keys() - required or references.keys() - required
            assert left_out, answer.text
            references = {name: value for name, value in references.items() if name not in left_out}
            body = self.body(endpoint, **references)
        made: dict[str, Any] = answer.json
        return made

    def _generic(self, endpoint: Endpoint) -> dict[str, Any]:
        """An object for each pair of type and id: of the model whose name has the most others."""
        members: dict[str, Any] = {}
        for type_name, id_name in generic_pairs(endpoint):
            field = endpoint.writable[type_name]
            parts = [item for item in self.registry.endpoints.values() if has_context(item) and item is not endpoint]
            parts = [item for item in parts if item.resource.writable and accepts(endpoint, field, item.label)]
            if target := max(parts, key=lambda item: (len(name_paths(item)), item.label), default=None):
                made = self.api.post(target.path, self.body(target))
                members |= {type_name: target.label, id_name: made["id"]}
        return members


class UnnamedSamples(ReferringSamples):
    """Samples without the names that objects can do without: they are called by what else they have, such as a serial
    number. ``words`` are all texts made up for them.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self.words: set[str] = set()

    def body(self, endpoint: Endpoint, **overrides: Any) -> dict[str, Any]:
        """A body for POST without optional names, and with a word in every other text."""
        named, members = endpoint.resource.display[1:], {}
        for name, field in endpoint.writable.items():
            is_text = isinstance(field, fields.Value) and field.python_type is str
            if field.required or not is_text or isinstance(field, fields.Choice) or name.endswith("_regex"):
                continue
            if name in named and len(named) > 1:
                members[name] = None if accepts(endpoint, field, None) else ""
            elif accepts(endpoint, field, word := self.unique()):
                members[name] = word
        found = super().body(endpoint, **{**members, **overrides})
        if not _is_definition(endpoint):
            own = [value for name, value in found.items() if isinstance(endpoint.writable[name], fields.Value)]
            self.words |= set(NAME.findall(str(own)))
        return found


def _is_definition(endpoint: Endpoint) -> bool:
    """True for statuses, custom fields and others for content types, which forms show to everybody."""
    return any(isinstance(field, fields.ContentTypeList) for field in endpoint.writable.values())


def _is_part(endpoint: Endpoint) -> bool:
    """True for resources whose objects have names of other objects in their names."""
    resource, naming = endpoint.resource, endpoint.namings[NAME_IN_CONTEXT]
    if not isinstance(naming, fields.Computed) or resource.of is not None or not resource.writable:
        return False
    heads = {path.partition(".")[0] for path in naming.paths if "." in path}
    references = [endpoint.fields[name] for name in heads if name in endpoint.fields]
    return resource.narrowing is None and any(
        isinstance(field, fields.GenericForeignKey)
        or (isinstance(field, fields.Reference) and not (field.target and _is_definition(field.target)))
        for field in references
    )


@page_check(_is_part)
def the_name_of_a_part_tells_no_more_than_its_representation(case: PageCase) -> None:
    """Pages, forms, previews, notices, choices, changes, files, GraphQL and messages name to a reader who may view and
    change parts alone, and see changes, nothing but what the representation of the part shows.
    """
    samples = UnnamedSamples(case.service)
    part = samples.part(case.endpoint)
    beside = [pair for pair in _objects_beside(case, part) if pair[0] is not case.endpoint]
    for others in (beside, []):
        account = _reader_of(case, others)
        paths = [f"{target.path}{key}/" for target, key in [(case.endpoint, part["id"]), *others]]
        visible = [account.api.send("GET", path).text for path in paths]
        hidden = samples.words - set(NAME.findall(str(visible)))
        assert hidden or others, "The part refers to nothing that its reader may not view."
        told: dict[str, list[str]] = {}
        for place, text in _answers(case, account, part, changing=not others):
            if found := hidden & set(NAME.findall(text)):
                excerpts = [text[max(0, text.index(word) - 100) : text.index(word) + 40] for word in sorted(found)]
                told[place] = excerpts[:3]
        assert not told, (others, told)


def _objects_beside(case: PageCase, part: dict[str, Any]) -> Iterator[tuple[Endpoint, Any]]:
    """The resource and the id of each object that the part refers to."""
    for name, field in case.endpoint.fields.items():
        nested = part.get(name)
        if isinstance(field, fields.Reference) and field.target and isinstance(nested, dict) and "id" in nested:
            yield field.target, nested["id"]
    for type_name, id_name in generic_pairs(case.endpoint):
        if target := case.service.registry.get(str(part.get(type_name))):
            yield target, part[id_name]


def _reader_of(case: PageCase, beside: Iterable[tuple[Endpoint, Any]]) -> Account:
    """A user who may view and change parts, and view the objects ``beside``, changes and webhooks."""
    label, registry = case.endpoint.label, case.service.registry
    children = [child.label for child in _children(case.endpoint)]
    others = [name for name in (CHANGES, "extras.webhook") if name in registry.endpoints]
    return case.service.user(
        ("view add change delete", label),
        ("view", others),
        ("add", children or [label]),
        *[("view", target.label, {"id": key}) for target, key in beside],
        password=PASSWORD,
    )


def _children(endpoint: Endpoint) -> list[Endpoint]:
    """Resources whose forms offer the part as a choice."""
    referring = [
        item.child
        for item in endpoint.incoming_foreign_keys
        if item.attribute.removesuffix("_id") in item.child.writable
    ]
    return [child for child in dict.fromkeys(referring) if "add" in child.resource.writes][:MAX_CHILDREN]


def _answers(case: PageCase, account: Account, part: dict[str, Any], *, changing: bool) -> Iterator[tuple[str, str]]:
    """All places that may name the part, with what they say; with ``changing`` it is changed, deleted and restored."""
    reader = Browser(case.service, account)
    yield from _files(case, account, part)
    yield "GraphQL", _ask_graphql(case, account, part)
    yield from pages_about(case, reader, part)
    with webhooks_about(case.service, case.endpoint.label) as webhooks:
        yield from previews_of(case, reader, part)
        if changing:
            yield from _writes(case, reader, account, part)
        for key in webhooks:
            yield "message", reader.get(f"/extras/webhooks/{key}/message/").text
    yield from _pages_of_changes(case, reader, account, part)


def _files(case: PageCase, account: Account, part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Texts of the API: lists, files, members on request, search, history."""
    endpoint, one = case.endpoint, [("id", part["id"])]
    for name in LISTED_AS:
        yield name, account.api.send("GET", endpoint.path, query=[*one, ("format", name)]).text
    workbook = zipfile.ZipFile(
        io.BytesIO(account.api.send("GET", endpoint.path, query=[*one, ("format", "xlsx")]).body)
    )
    yield "xlsx", str([workbook.read(name) for name in workbook.namelist()])
    included = [("include", name) for name in sorted(endpoint.opt_in)]
    yield "include", account.api.send("GET", endpoint.path, query=[*one, *included]).text
    yield "brief", account.api.send("GET", endpoint.path, query=[*one, ("brief", "true")]).text
    yield "history", account.api.send("GET", f"{endpoint.path}{part['id']}/history/", status=None).text
    yield "search", account.api.send("GET", "/api/search/", query={"q": part["id"]}).text


def _ask_graphql(case: PageCase, account: Account, part: dict[str, Any]) -> str:
    """Asks for the scalars of the type, and for the names of what it refers to."""

    def ask(query: str) -> Any:
        return account.api.send("POST", "/api/graphql/", {"query": query}, status=None).json

    name = f"{case.endpoint.schema_name}Type"
    roots = ask(ROOTS)["data"]["__schema"]["queryType"]["fields"]
    lists = [root["name"] for root in roots if (root["type"]["ofType"] or {}).get("name") == name]
    if not lists:
        return ""
    members = ask(MEMBERS % name)["data"]["__type"]["fields"]
    asked = [
        member["name"] if member["type"]["kind"] == "SCALAR" else f"{member['name']}{{display}}"
        for member in members
        if member["type"]["kind"] in ("SCALAR", "OBJECT")
    ]
    answer = ask(f'{{{lists[0]}(id:["{part["id"]}"]){{{" ".join(asked)}}}}}')
    assert "errors" not in answer, answer
    return str(answer)


def pages_about(case: PageCase, reader: Browser, part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """List, object, tabs, search, forms, choices; and the lists and forms of what may refer to the part."""
    about, key = case.at(part), part["id"]
    every = ",".join(case.endpoint.fields)
    paths = [
        "/",
        f"{case.path}?id={key}",
        f"{case.path}?id={key}&_columns=id",
        f"{case.path}?id={key}&_columns={every}",
    ]
    paths += [f"{about}?_show=all", f"{about}edit/", f"{about}delete/", f"{case.path}_choices/?id={key}"]
    paths += [f"{case.path}_choices/?_q={key}", f"{case.path}_choices/?_recent={key}", f"{case.path}add/?_clone={key}"]
    paths += [f"/search/?q={key}", f"/search/?q={key}&_part=palette", f"{case.path}grid/?id={key}&_columns={every}"]
    names = [name for name, _ in child_tabs(case.endpoint)] + [tab.name for tab in own_tabs(case.endpoint)]
    paths += [f"{about}{name}/" for name in names]
    for item in case.endpoint.incoming_foreign_keys:
        if item.child in _children(case.endpoint):
            name = item.attribute.removesuffix("_id")
            paths.append(f"{page_path(item.child)}add/?{name}={key}")
    for path in paths:
        yield path, reader.get(path, status="*").text


def previews_of(case: PageCase, reader: Browser, part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The previews of an edit and of a deletion of several objects, and of new names."""
    chosen, text = [("pk", part["id"])], _changeable(case.endpoint)
    kept, step = [("_keys", part["id"])], ("_step", "preview")
    yield "bulk edit", _post(reader, f"{case.path}edit/", chosen)
    if text:
        yield "bulk edit preview", _post(reader, f"{case.path}edit/?_fields={text}", [*kept, step, (text, "other")])
    yield "bulk delete", _post(reader, f"{case.path}delete/", chosen)
    yield "rename", _post(reader, f"{case.path}rename/", chosen)
    renaming = [*kept, step, ("find", "t"), ("replace", "u")]
    yield "rename preview", _post(reader, f"{case.path}rename/", renaming)


def _writes(case: PageCase, reader: Browser, account: Account, part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Notices after a change and a deletion of the part, and the undo of each: asked for, then done."""
    about, text = case.at(part), _changeable(case.endpoint)
    page = reader.get(f"{about}edit/", status=(200, 404))  # 404 where the user may not view what it is a part of
    if page.status_int == 200:
        form = page.form()
        if text and text in form.fields:
            form[text] = "changed"
        yield "saved", _follow(form.submit(status=OF_ANSWERS))
        yield from _undone(reader, account, part)
    yield "deleted", _post(reader, f"{about}delete/", [])
    yield from _undone(reader, account, part)


def _undone(reader: Browser, account: Account, part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    query = {"changed_object_id": part["id"], "limit": 1}
    results = account.api.send("GET", "/api/extras/object-changes/", query=query).json["results"]
    for change in results:
        for step in ("ask", "apply"):
            yield f"undo {step}", _post(reader, UNDO, [("change", change["id"]), ("_step", step), ("next", "/")])


def _pages_of_changes(
    case: PageCase, reader: Browser, account: Account, part: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """The pages, lists, files and the feed of changes."""
    about = {"changed_object_id": part["id"], "limit": 50}
    listed = account.api.send("GET", "/api/extras/object-changes/", query=about)
    yield "changes", listed.text
    yield (
        "changes as a file",
        account.api.send("GET", "/api/extras/object-changes/", query={**about, "format": "csv"}).text,
    )
    paths = [f"{case.at(part)}changelog/", f"/extras/object-changes/?changed_object_id={part['id']}", "/"]
    paths += [f"/extras/object-changes/{change['id']}/" for change in listed.json["results"]]
    for path in paths:
        yield path, reader.get(path, status="*").text


def _post(reader: Browser, path: str, values: list[tuple[str, Any]]) -> str:
    return _follow(reader.post(path, values, status="*"))


def _follow(page: BrowserPage) -> str:
    """The text of a page, and of the one that it leads to."""
    return page.text + (page.follow(status="*").text if page.status_int == 303 else "")


def _changeable(endpoint: Endpoint) -> str:
    """A text that may be changed without a change of the name."""
    return next((name for name in ("description", "comments", "label", "name") if name in endpoint.writable), "")
