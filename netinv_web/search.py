"""The search page, ``/search/?q=``, and the results that the command palette shows.

``_jump=1`` asks to be led to the object when the text identifies or finds exactly one. ``_part=palette`` asks for the
results alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, error_text
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read.names import Pair
from netinv_core.sql.plan import ReadPlan, fetch_together
from netinv_core.sql.plans import custom_plan
from netinv_core.write.slugs import slugify
from netinv_search import searching
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import menu_of
from netinv_web.pages import fragment, page, query_text, see_other
from netinv_web.paths import page_path, path_of_url

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable
    from netinv_core.uow import UnitOfWork

TEMPLATE, PALETTE = "netinv_web:templates/search.jinja2", "netinv_web:templates/palette.jinja2"
PAGE_LIMIT, PALETTE_LIMIT = 20, 5  # objects of each group


def show(request: Request) -> Any:
    """The groups of objects that the text identifies or names."""
    text = query_text(request, "q").strip()
    is_palette = query_text(request, "_part") == "palette"
    template = PALETTE if is_palette else TEMPLATE
    values: dict[str, Any] = {"text": text, "groups": [], "error": ""}
    if not text:
        return fragment(request, template, values)
    try:
        within_one = text.startswith("in:")
        limit = PALETTE_LIMIT if is_palette else searching.MAX_LIMIT if within_one else PAGE_LIMIT
        answer = searching.run(request, text, limit, other_fields=not is_palette)
    except Invalid as error:
        return page(request, template, {**values, "error": error_text(error.body)}, status=422)
    found = _read_names(request.uow, answer["groups"])
    groups = [_group(group, found, request.uow.base) for group in answer["groups"]]
    _tell_apart(request.uow, groups)
    single = _single_path(text, groups)
    if single and query_text(request, "_jump") == "1":
        return see_other(single)
    searched = [] if groups or is_palette else _searched_sections(request.uow)
    return fragment(request, template, {**values, "groups": groups, "searched": searched})


def _searched_sections(uow: UnitOfWork) -> list[str]:
    """The titles of the sections of the navigation with models that the user may view, all of which are searched."""
    paths = {page_path(endpoint) for endpoint in uow.registry.endpoints.values()}
    return [section.title for section in menu_of(uow) if any(entry.path in paths for entry in section.entries)]


def _read_names(uow: UnitOfWork, groups: list[dict[str, Any]]) -> Mapping[Pair, tuple[str, str]]:
    """The names in context of the objects that were found, and what is shown beside them; one statement, and one more
    for the objects of several types that are shown.
    """
    keys: dict[str, list[Any]] = {}
    for group in groups:
        keys.setdefault(group["resource"], []).extend(item["id"] for item in group["results"])
    requests = [(_plan(uow.registry[label]), list(dict.fromkeys(ids))) for label, ids in keys.items()]
    results = fetch_together(uow, requests, permissions.visible_for(uow)) if requests else []
    rows_by_label: Any = zip(keys, results, strict=True)
    return {(label, key): pair for label, rows in rows_by_label for key, pair in rows}


def _plan(endpoint: Endpoint) -> ReadPlan:
    """The plan that reads the name in context and the text beside it."""
    beside = presentation_of(endpoint).found_with

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        name = plan.read(place, NAME_IN_CONTEXT)
        text = plan.read(place, beside) if beside else lambda row, page: ""
        return lambda row, page: (str(name(row, page)), text(row, page) or "")

    return custom_plan(endpoint, "found", build)


def _group(group: dict[str, Any], found: Mapping[Pair, tuple[str, str]], base: str) -> dict[str, Any]:
    """A group of the search's answer with names in context, and with paths of pages in place of the URLs of the API."""
    label = group["resource"]
    return {
        **group,
        "path": path_of_url(group["url"], base),
        "links": [(link["title"], link["url"].removeprefix(base)) for link in group["links"]],
        "results": [
            {
                **item,
                "name": found.get((label, item["id"]), (item.get("display") or item["id"], ""))[0],
                "beside": found.get((label, item["id"]), ("", ""))[1],
                "path": path_of_url(item["url"], base),
            }
            for item in group["results"]
        ],
    }


def _tell_apart(uow: UnitOfWork, groups: list[dict[str, Any]]) -> None:
    """Titles each further group of objects of one kind as such."""
    seen: set[str] = set()
    for group in groups:
        if group["title"] in seen:
            group["title"] = f"More {uow.registry[group['resource']].plural}"
        seen.add(group["title"])


def _single_path(text: str, groups: list[dict[str, Any]]) -> str:
    """The path of the only object that was found, or of the only one that the text identifies or names, by its words in
    any order; empty if there is none.
    """
    found = [(group["exact"], item) for group in groups for item in group["results"]]
    named = [item["path"] for exact, item in found if exact or _is_name(text, item)]
    paths = named or [item["path"] for _, item in found]
    return str(paths[0]) if len(paths) == 1 else ""


def _is_name(text: str, item: Mapping[str, Any]) -> bool:
    return (item["match"]["text"] or "").lower() == text.lower() or _words(text) == _words(item["name"])


def _words(name: str) -> list[str]:
    """The words of a name in the order of letters, in lower case and without accents."""
    return sorted(slugify(name, " ").split())


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page("/search/", show, permission=API_ACCESS)
