"""The search page, ``/search/?q=``, and the results that the command palette shows.

``_jump=1`` asks to be led to the object when the text identifies exactly one. ``_part=palette`` asks for the results
alone.
"""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.auth.security_policy import API_ACCESS
from netinv_core.errors import Invalid, error_text
from netinv_core.read import search
from netinv_web.pages import fragment, page, query_text, see_other
from netinv_web.paths import path_of_url

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
        answer = search.run(request.uow, text, PALETTE_LIMIT if is_palette else PAGE_LIMIT, other_fields=not is_palette)
    except Invalid as error:
        return page(request, template, {**values, "error": error_text(error.body)}, status=422)
    groups = [_group(group, request.uow.base) for group in answer["groups"]]
    single = _single_path(text, groups)
    if single and query_text(request, "_jump") == "1":
        return see_other(single)
    return fragment(request, template, {**values, "groups": groups})


def _group(group: dict[str, Any], base: str) -> dict[str, Any]:
    """A group of the search's answer with paths of pages in the place of the URLs of the API."""
    return {
        **group,
        "path": path_of_url(group["url"], base),
        "links": [(link["title"], link["url"].removeprefix(base)) for link in group["links"]],
        "results": [{**item, "path": path_of_url(item["url"], base)} for item in group["results"]],
    }


def _single_path(text: str, groups: list[dict[str, Any]]) -> str:
    """The path of the only object that the text identifies or names; empty if there is none, or more than one."""
    paths = [
        item["path"]
        for group in groups
        for item in group["results"]
        if group["exact"] or (item["match"]["text"] or "").lower() == text.lower()
    ]
    return str(paths[0]) if len(paths) == 1 else ""


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page("/search/", show, permission=API_ACCESS)
