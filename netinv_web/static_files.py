"""Static files of the interface and of packages: each folder below a path with the digest of its contents.

Browsers keep the files for a year; a change of a folder changes the path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyramid.path import AssetResolver
from pyramid.request import Request

from netinv_core.packages import errors_of

OWN = "netinv"
OWN_FOLDER = "netinv_web:static"
MAX_AGE = 365 * 86400  # seconds
PAGE_FILES = ("page.css", "page.js")


def digest_of(parts: Iterable[bytes]) -> str:
    """A digest of contents, for the path under which browsers keep them."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:12]


def _contents(folder: Path) -> Iterator[bytes]:
    """The names and contents of the files of a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes()


def includeme(config: Any) -> None:
    """Adds the folders."""
    registry = config.registry.netinv
    folders = {OWN: OWN_FOLDER}
    for package, more in registry.call_each("netinv_web_static", registry=registry):
        with errors_of(package):
            for name, asset in more.items():
                if not Path(AssetResolver().resolve(asset).abspath()).is_dir():
                    raise ValueError(f"netinv_web_static names a folder that does not exist: {asset}")
                folders[name] = asset
    paths: dict[str, str] = {}
    page_files: list[str] = []
    resolver = AssetResolver()
    for name, asset in folders.items():
        folder = Path(resolver.resolve(asset).abspath())
        path = f"static/{digest_of(_contents(folder))}/{name}"
        config.add_static_view(path, asset, cache_max_age=MAX_AGE)
        paths[name] = f"/{path}/"
        if name != OWN:
            page_files += [f"/{path}/{file}" for file in PAGE_FILES if (folder / file).is_file()]
    config.registry.netinv_static = paths
    config.registry.netinv_page_files = page_files


def path_of(request: Request, name: str, folder: str = OWN) -> str:
    """The path of a file."""
    return f"{request.registry.netinv_static[folder]}{name}"


def page_files(request: Request) -> Sequence[str]:
    """The paths of the style sheets and scripts that packages add to every page."""
    files: Sequence[str] = request.registry.netinv_page_files
    return files
