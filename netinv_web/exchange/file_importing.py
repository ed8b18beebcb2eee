"""Imports of files of one kind: the outcome of each file as a preview, then the import (hook
``netinv_web_file_imports``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import RequestError
from netinv_core.storage.files import Upload
from netinv_core.write.dry_run import dry_run
from netinv_web.bulk.editing import INVALID
from netinv_web.bulk.selection import APPLY, DIGEST, STEP, Members
from netinv_web.exchange import uploaded
from netinv_web.extensions import extensions_of
from netinv_web.file_imports import FileImport, FilesResult
from netinv_web.forms.controls import Control
from netinv_web.forms.form import last_text, readable
from netinv_web.pages import page
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_web:templates/import_files.jinja2"
MAX_SHOWN = 1000  # files of a result
DATA = "data"  # member with pasted text
PASTED = "pasted"  # the name of pasted text


def imports_of(endpoint: Endpoint) -> Sequence[FileImport]:
    """The imports of files that packages offer for a resource."""
    registry = endpoint.registry
    return extensions_of(registry.hooks.netinv_web_file_imports, endpoint, registry=registry)


def option_controls(kinds: Sequence[FileImport], members: Members) -> list[Control]:
    """The checkboxes of imports of files, as they were ticked."""
    return [
        Control(name, option.label, "checkbox", option.help, values=["true"] if _is_ticked(members, name) else [])
        for kind in kinds
        for option in kind.options
        for name in [f"{kind.name}_{option.name}"]
    ]


def _is_ticked(members: Members, name: str) -> bool:
    return last_text(members, name) == "true"


def show(request: Request, endpoint: Endpoint, members: Members) -> Response | None:
    """The preview or the result of files that an import of the resource takes; ``None`` for others.

    :raises BadRequest: for files that cannot be read
    """
    offered = imports_of(endpoint)
    if not offered or request.method != "POST":
        return None
    text = last_text(members, DATA).replace("\r\n", "\n")
    pasted = [Upload(PASTED, text.encode("utf-8", "replace"))] if text.strip() else []
    files = uploaded.chosen_files(members) or pasted or uploaded.kept_files(members)
    taken = next((item for item in offered if files and item.takes(files)), None)
    return None if taken is None else _page(request, endpoint, taken, files, members)


def _page(
    request: Request, endpoint: Endpoint, kind: FileImport, files: Sequence[Upload], members: Members
) -> Response:
    options = {option.name: _is_ticked(members, f"{kind.name}_{option.name}") for option in kind.options}
    digest = _digest(files, options)
    applies = last_text(members, STEP) == APPLY
    is_applied = applies and last_text(members, DIGEST) == digest
    uow = request.uow
    try:
        if is_applied:
            with uow.savepoint():
                result = kind.run(uow, files, **options)
        else:
            with dry_run(uow):
                result = kind.run(uow, files, **options)
    except RequestError as error:
        request.tm.doom()
        return _render_result(request, endpoint, FilesResult([]), [], [readable(error.body)])
    if is_applied:
        return _render_result(request, endpoint, result, [])
    request.tm.doom()
    hidden = [(DIGEST, digest), *uploaded.hidden_members(files)]
    controls = option_controls([kind], members)
    return _render_result(request, endpoint, result, hidden, controls=controls, outdated=applies)


def _digest(files: Sequence[Upload], options: Mapping[str, bool]) -> str:
    """The digest of what was previewed."""
    digest = hashlib.blake2b(repr(options).encode(), digest_size=16)
    for file in files:
        digest.update(f"{len(file.content)} ".encode() + file.content)
    return digest.hexdigest()


def _render_result(
    request: Request,
    endpoint: Endpoint,
    result: FilesResult,
    hidden: Sequence[tuple[str, str]],
    errors: Sequence[str] = (),
    *,
    controls: Sequence[Control] = (),
    outdated: bool = False,
) -> Response:
    values = {
        "endpoint": endpoint,
        "list_path": page_path(endpoint),
        "result": result,
        "shown": result.files[:MAX_SHOWN],
        "hidden": hidden,
        "controls": controls,
        "outdated": outdated,
        "errors": errors,
    }
    return page(request, TEMPLATE, values, INVALID if errors else 200)
