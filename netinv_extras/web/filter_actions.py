"""Links between objects that have a stored filter, such as dynamic groups, and the list with that filter: there the
filter is edited by its chips and as text, and goes back into the form of the object.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.read.filters import find_filter
from netinv_extras.content_types import has_pages
from netinv_extras.web import filter_control
from netinv_web.extensions import Action
from netinv_web.lists.list_query import ListQuery
from netinv_web.lists.selection import QUERY
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


@dataclasses.dataclass(frozen=True)
class StoredFilter:
    """A field of the resource ``label`` with a filter for the list of the object's ``content_type``.

    ``parameter`` is that of a list with the id of the object whose filter is edited. ``edit`` is the title of the link
    on the object. ``update`` and ``save`` are those of the entries in the menu *Views* of lists: they open the form of
    this object, or of a new one (no entry if it is blank). ``applies(object)`` selects the objects that have the link.
    """

    label: str
    field: str
    parameter: str
    edit: str
    update: str
    save: str = ""
    icon: str = ""
    applies: Callable[[Mapping[str, Any]], bool] = lambda item: True

    def actions_of(self, endpoint: Endpoint) -> list[Action]:
        """On objects with the filter the link to the list; on lists the entries that take their filter over."""
        found = []
        if endpoint.label == self.label:

            def has_list(item: Mapping[str, Any]) -> bool:
                return self.applies(item) and _fits_list(
                    endpoint.registry.get(item["content_type"]), item[self.field] or {}
                )

            found.append(
                Action(f"edit-{self.parameter}", self.edit, self._list_path, permission="change", applies=has_list)
            )
        return found + (self._saving_actions(endpoint) if has_pages(endpoint) else [])

    def _list_path(self, endpoint: Endpoint, item: Mapping[str, Any]) -> str:
        parameters = [
            *(filter_control.parameters_of(item[self.field] or {}) or ()),
            (self.parameter, [str(item["id"])]),
        ]
        return f"{page_path(endpoint.registry[item['content_type']])}?{urlencode(parameters, doseq=True)}"

    def _saving_actions(self, endpoint: Endpoint) -> list[Action]:
        """The entries of a list that save its filter."""
        owners = endpoint.registry.get(self.label)
        if owners is None:
            return []

        def new(listed: Endpoint, query: ListQuery) -> str:
            preset = {"content_type": listed.label, self.field: self._text(query)}
            return f"{page_path(owners)}add/?{urlencode(preset)}"

        def former(listed: Endpoint, query: ListQuery) -> str:
            key = owners.parse_key(query.values(self.parameter)[-1])
            return f"{object_path(owners, key)}edit/?{urlencode({self.field: self._text(query)})}"

        def has_owner(query: ListQuery) -> bool:
            return any(owners.parse_key(key) is not None for key in query.values(self.parameter)[-1:])

        may_add, may_change = (self.label, "add"), (self.label, "change")
        update = Action(
            f"update-{self.parameter}",
            self.update,
            former,
            QUERY,
            further_permission=may_change,
            icon="pencil",
            applies=has_owner,
        )
        if not self.save:
            return [update]
        save = Action(f"save-{self.parameter}", self.save, new, QUERY, further_permission=may_add, icon=self.icon)
        return [save, update]

    @staticmethod
    def _text(query: ListQuery) -> str:
        return filter_control.text_of(dict(query.filters))


def _fits_list(endpoint: Endpoint | None, value: Any) -> bool:
    """True for a filter that a list takes: it takes neither field lookups nor empty values."""
    parameters = filter_control.parameters_of(value) if endpoint is not None else None
    if endpoint is None or parameters is None:
        return False
    known = [
        find_filter(endpoint.filters, name) is not None or name.startswith(CUSTOM_FIELD_PREFIX)
        for name, _ in parameters
    ]
    return all(known) and all(all(values) for _, values in parameters)
