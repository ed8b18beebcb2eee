"""The frame of pages: navigation, account, theme, notices, static files. Templates have it as ``frame``."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.http.mount import url_of
from netinv_web import notices, static_files
from netinv_web.extensions import Banner, SaveButton, first_answer, items_for
from netinv_web.menu import Entry, Section, menu_key, menu_of
from netinv_web.preferences import preferences_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TOGGLED_COOKIE = "netinv_toggled"  # the parts of pages that this browser shows otherwise than at first, set by scripts
PARTS = ("rail", "facets")  # the navigation is narrow, the counts beside lists are open


class PageFrame:
    """Values of the frame of one page; computed when the template asks for them."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._path = str(request.path)

    @property
    def username(self) -> str:
        """The name of the user; empty for anonymous requests."""
        return str(self._request.uow.identity.username)

    @property
    def superuser(self) -> bool:
        """True for superusers."""
        return bool(self._request.uow.identity.superuser)

    @functools.cached_property
    def menu(self) -> tuple[Section, ...]:
        """The sections of the navigation."""
        return menu_of(self._request.uow)

    @functools.cached_property
    def _current_entry(self) -> tuple[str, Entry | None]:
        """The title of the section with the page, and the entry that the page belongs to: the one with the longest
        path, or base, that contains it.
        """
        matches = [
            (len(path), path == entry.path, -place, section.title, entry)
            for section in self.menu
            for place, entry in enumerate(section.entries)
            for path in {entry.path, entry.base or entry.path}
            if self._path.startswith(path)
        ]
        if not matches:
            return "", None
        *_, title, entry = max(matches)
        is_current = self.is_current(entry.path) or (entry.base and self.is_current(entry.base))
        return title, entry if is_current else None

    def navigation(self, macro: Callable[..., Markup]) -> Markup:
        """The sections of the navigation, rendered by a macro; all but the one with the page from the cache."""
        (open_section, current), key = self._current_entry, menu_key(self._request.uow)
        return Markup("").join(
            macro(section, True, current)
            if section.title == open_section
            else self.cached((section.title, key), macro, section)
            for section in self.menu
        )

    def cached(self, name: Any, macro: Callable[..., Markup], *arguments: Any) -> Markup:
        """The markup of a macro, cached for the version of the configuration."""
        key = ("web markup", name, url_of("/"))
        markup: Markup = self._request.uow.cached_config(key, lambda uow: macro(*arguments))
        return markup

    def is_current(self, path: str) -> bool:
        """True if the page has the path, or one below it."""
        return self._path == path or (self._path.startswith(path) and path.count("/") > 2)

    @functools.cached_property
    def preferences(self) -> Any:
        """The preferences of the user (:class:`netinv_web.preferences.Preferences`)."""
        return preferences_of(self._request)

    @functools.cached_property
    def toggled(self) -> list[str]:
        """The parts of pages that the user folded or opened in this browser."""
        names = self._request.cookies.get(TOGGLED_COOKIE, "").split(".")
        return [name for name in PARTS if name in names]

    @functools.cached_property
    def notice(self) -> notices.Notice | None:
        """The notice of the form that led to the page."""
        return notices.take(self._request)

    @functools.cached_property
    def undo_path(self) -> str:
        """The path of the page that undoes the request of the notice; blank when no package has one for the user."""
        undone = self.notice.undo if self.notice is not None else ""
        return str(first_answer(self._request, "netinv_web_undo", request_id=undone) or "")

    @property
    def path(self) -> str:
        """The path of the page."""
        return self._path

    @property
    def banners(self) -> Sequence[Banner]:
        """The banners of packages, and those of a view deriver: ``request.netinv_banners`` returns them."""
        own = getattr(self._request, "netinv_banners", None)
        items = items_for(self._request, "netinv_web_banners", Banner, lambda text: Banner(text, "warning"))
        return items if own is None else [*items, *own(self._request)]

    def save_buttons(self, endpoint: Endpoint) -> Sequence[SaveButton]:
        """The buttons of packages beside *Save* in a form that writes objects of a resource."""
        return items_for(
            self._request,
            "netinv_web_save_buttons",
            SaveButton,
            lambda text: SaveButton("", failure=text),
            endpoint=endpoint,
        )

    def static(self, name: str) -> str:
        """The path of a static file, which changes with the contents of the folder."""
        return static_files.path_of(self._request, name)

    @property
    def page_files(self) -> Sequence[str]:
        """The paths of the style sheets and scripts of packages."""
        return static_files.page_files(self._request)

    @property
    def version(self) -> str:
        """The version of netinv."""
        return importlib.metadata.version("netinv-core")


def of(request: Request) -> PageFrame:
    """The frame of a request."""
    frame = getattr(request, "netinv_frame", None)
    if frame is None:
        frame = request.netinv_frame = PageFrame(request)
    return frame
