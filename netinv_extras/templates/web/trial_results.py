"""Results of templates that are tried: their kinds, the objects to choose from, texts and errors by line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Denied, Invalid, error_text
from netinv_core.read import listing
from netinv_extras.templates import sandbox
from netinv_extras.templates.objects import ObjectLoader

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX = 50  # objects to choose from, and objects in the list of an export template
_LINE = re.compile(r"Line (\d+): ")


@dataclasses.dataclass(frozen=True)
class Kind:
    """Templates of a resource: the columns that hold them, the member with the content types of their objects."""

    columns: tuple[str, ...]
    types: str = "content_type"
    listed: bool = False  # the variable is ``queryset``


KINDS = {
    "extras.exporttemplate": Kind(("template_code",), listed=True),
    "extras.computedfield": Kind(("template",)),
    "extras.customlink": Kind(("text", "target_url")),
    "extras.jobbutton": Kind(("text",), "content_types"),
}


@dataclasses.dataclass(frozen=True)
class TrialResult:
    """A template and what it renders: a text, or an error with the line of the source that it is in."""

    name: str
    label: str
    source: str
    text: str | None = None
    error: str = ""
    line: int = 0

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The lines around that of the error, with their numbers."""
        numbered = list(enumerate(self.source.splitlines(), 1))
        return numbered[max(self.line - 3, 0) : self.line + 2] if self.line else []

    def with_outcome(self, text: str | sandbox.RenderError) -> TrialResult:
        """The result with the text that was rendered, or with the error."""
        if isinstance(text, str):
            return dataclasses.replace(self, text=text)
        line = _LINE.match(str(text))
        return dataclasses.replace(self, error=str(text), line=int(line[1]) if line else 0)


def trial_of(
    uow: UnitOfWork, kind: Kind, labels: Sequence[str], results: Sequence[TrialResult], key: Any, search: Any
) -> dict[str, Any]:
    """Renders templates for an object, or for the objects of a list; returns the values of both parts of the page.

    :param labels: the content types of the templates' objects, of which the first counts
    :param key: the text of the id of the chosen object; another value for the first one, or for a whole list
    :param search: the text that limits the objects to choose from
    """
    search = search.strip() if isinstance(search, str) else ""
    target, found, problem = _objects_of(uow, labels[0], search) if labels else (None, [], "Choose a content type.")
    chosen = next((one for one in found if str(one["id"]) == key), None)
    if target is not None and found:
        keys = [one["id"] for one in ([chosen] if chosen else found if kind.listed else found[:1])]
        results = _render_sources(uow, kind, target, keys, results)
    return {
        "results": results,
        "found": found,
        "chosen": chosen,
        "listed": kind.listed,
        "search": search,
        "problem": problem,
    }


def _objects_of(uow: UnitOfWork, label: str, search: str) -> tuple[Endpoint | None, Sequence[Mapping[str, Any]], str]:
    """Returns the endpoint of a template's objects, those that the search finds, or why there are none."""
    target = uow.registry.get(label)
    if target is None:
        return None, [], f"There are no objects of the type {label}."
    parameters = [("q", [search])] if search and "q" in target.filters else []
    try:
        found = listing.list_page(uow, target, parameters, listing.Slice(MAX, 0, count="none"), "brief").results
    except (Denied, Invalid) as error:
        return target, [], "You may not view these objects." if isinstance(error, Denied) else error_text(error.body)
    return target, found, "" if found else f"There are no {target.plural}{' that match' if search else ''}."


def _render_sources(
    uow: UnitOfWork, kind: Kind, target: Endpoint, keys: Sequence[Any], results: Sequence[TrialResult]
) -> list[TrialResult]:
    """Renders the sources together."""
    loader = ObjectLoader(uow, without=() if kind.listed else ("computed_fields",))
    batch = loader.add(target, keys, open=True)
    variables = {"queryset": batch.objects()} if kind.listed else {"obj": batch.object(keys[0])}
    renderings = [sandbox.Rendering(result.source, variables) for result in results]
    texts = sandbox.render(renderings, sandbox.limits_of(uow.registry), loader)
    return [result.with_outcome(text) for result, text in zip(results, texts, strict=True)]
