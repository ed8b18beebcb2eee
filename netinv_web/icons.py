"""Icons of the set Heroicons. One static file, the sprite, has a symbol for each icon that pages refer to.

The sprite has the icons that packages declare, and those that their templates name. Its path has a digest of its
contents, and browsers keep it for a year. An icon whose name is known only when a page is rendered is drawn within the
page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import heroicons
from markupsafe import Markup
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.caches import lru_cache
from netinv_core.http.mount import url_of
from netinv_core.packages import errors_of
from netinv_web.extensions import extensions_of
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import declared_sections
from netinv_web.static_files import MAX_AGE, digest_of

if TYPE_CHECKING:
    from netinv_core.registry import Registry

ARCHIVE = "heroicons.zip"
FALLBACK = "square-2-stack"
MEDIA_TYPE = "image/svg+xml"
_CALLS = re.compile(r"\bicon\(([^()]*)\)")
_NAMES = re.compile(r"""['"]([a-z0-9-]+)['"]""")
_DRAWN = Markup('<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">{}</svg>')
_SPRITE = Markup('<svg xmlns="http://www.w3.org/2000/svg">{}</svg>')
_SYMBOL = Markup('<symbol id="{}" viewBox="0 0 16 16">{}</symbol>')
_REFERENCE = Markup('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>')


def _drawings(names: Iterable[str]) -> dict[str, Markup]:
    """The contents of the drawings of icons, 16 by 16, by name. A name that the set does not have gives another icon,
    so that a slip of a plugin does not break a page.

    The functions of the library open its archive for each icon, which takes 10 ms.
    """
    drawings = {}
    with resources.as_file(resources.files(heroicons) / ARCHIVE) as path, ZipFile(path) as archive:
        present = set(archive.namelist())
        for name in names:
            member = f"micro/{name}.svg"
            drawing = archive.read(member if member in present else f"micro/{FALLBACK}.svg").decode()
            inner = drawing[drawing.index(">") + 1 : drawing.rindex("</svg>")]
            drawings[name] = Markup("".join(line.strip() for line in inner.splitlines()))  # noqa: S704 - of the library
    return drawings


@lru_cache("constants", 1000)
def _read_drawing(name: str) -> Markup:
    """The contents of the drawing of one icon."""
    return _drawings([name])[name]


class Sprite:
    """The file with the symbols of icons; ``path`` is where it is served."""

    def __init__(self, names: Iterable[str]) -> None:
        drawings = _drawings(sorted(set(names)))
        symbols = Markup("").join(_SYMBOL.format(name, drawing) for name, drawing in drawings.items())
        self.content = _SPRITE.format(symbols).encode()
        self.path = f"/static/{digest_of([self.content])}/icons.svg"
        self.addresses = {f"{self.path}#{name}" for name in names}
        self._names = frozenset(names)

    def icon(self, name: str) -> Markup:
        """Template function: an icon. It is decoration: text beside it, or a title, says what it means."""
        if name in self._names:
            return _REFERENCE.format(url_of(self.path), name)
        return _DRAWN.format(_read_drawing(name))


def names_of(registry: Registry) -> set[str]:
    """The names of the icons that packages declare, and of those in their templates."""
    actions = registry.hooks.netinv_web_actions
    names = {section.icon for section, _ in declared_sections(registry)}
    for endpoint in registry.endpoints.values():
        names.add(presentation_of(endpoint).icon)
        names |= {action.icon for action in extensions_of(actions, endpoint, registry=registry)}
    for package, module in registry.manager.list_name_plugin():
        with errors_of(package):
            for folder in getattr(module, "__path__", ()):
                for file in Path(folder).rglob("*.jinja2"):
                    names |= names_in(file.read_text(encoding="utf-8"))
    return names - {""}


def names_in(template: str) -> set[str]:
    """The names of icons in the text of a template."""
    return {name for call in _CALLS.findall(template) for name in _NAMES.findall(call)}


def includeme(config: Any) -> None:
    """Adds the sprite, as ``config.registry.netinv_icons``."""
    sprite = config.registry.netinv_icons = Sprite(names_of(config.registry.netinv))
    config.add_route("icons", sprite.path)
    config.add_view(_sprite, route_name="icons", permission=NO_PERMISSION_REQUIRED, request_method=("GET", "HEAD"))


def _sprite(request: Request) -> Response:
    response = Response(request.registry.netinv_icons.content, content_type=MEDIA_TYPE, conditional_response=True)
    response.cache_control.public, response.cache_control.max_age = True, MAX_AGE
    response.md5_etag()
    return response
