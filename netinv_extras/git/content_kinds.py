"""Import of config context schemas and export templates from a repository, and the kinds of contents of this package.

Config contexts are in :mod:`netinv_extras.git.contexts`, jobs in :mod:`netinv_extras.jobs.git_source`.
"""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath

from netinv_extras.git import files as git_files
from netinv_extras.git.contexts import import_contexts
from netinv_extras.git.files import FileFault
from netinv_extras.git.owned_objects import OwnedObjectSync, documents, reject_unknown_members
from netinv_extras.git.sync import ContentKind, Files, Sync
from netinv_extras.templates.export_templates import EXTENSION

_TEMPLATE_SUFFIXES = (".j2", ".jinja", ".jinja2")
_MAX_MIME_TYPE_LENGTH, _MAX_EXTENSION_LENGTH = 50, 15


def import_schemas(sync: Sync, files: Files) -> None:
    """Imports ``config_context_schemas/*``: name and description from the metadata, and the member ``data_schema``."""
    objects = OwnedObjectSync(sync, "extras.configcontextschema", ["name"])
    for document in documents(files, objects.refuse):
        try:
            reject_unknown_members(document, ("name", "slug", "description"))
            body = {"name": document.stem, "description": "", **document.metadata}
            if "data_schema" not in document.data:
                raise FileFault("it has no data_schema")
            data_schema = document.data["data_schema"]
            objects.add(document.path, {**body, "name": str(body["name"]), "data_schema": data_schema})
        except FileFault as error:
            objects.refuse(document.path, str(error))
    objects.write()


def import_templates(sync: Sync, files: Files) -> None:
    """Imports ``export_templates/<app>/<model>/<name of the template>``."""
    objects = OwnedObjectSync(sync, "extras.exporttemplate", ["name", "content_type"])
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts[1:]
        if len(parts) != 3:
            continue
        app, model, name = parts
        try:
            body = {"name": name, "content_type": f"{app}.{model}".lower(), "template_code": git_files.text(content)}
            objects.add(path, {**body, **_file_type(name)})
        except FileFault as error:
            objects.refuse(path, str(error))
    objects.write()


def _file_type(name: str) -> dict[str, str]:
    """Derives media type and extension of the rendered file from a template's name: ``hosts.csv.j2`` renders CSV."""
    path = PurePosixPath(name)
    rendered = PurePosixPath(name.removesuffix(path.suffix)) if path.suffix in _TEMPLATE_SUFFIXES else path
    extension = rendered.suffix.lstrip(".")
    mime_type = mimetypes.guess_type(rendered.name)[0] or "text/plain"
    return {
        "mime_type": mime_type if len(mime_type) <= _MAX_MIME_TYPE_LENGTH else "text/plain",
        "file_extension": extension
        if len(extension) <= _MAX_EXTENSION_LENGTH and EXTENSION.fullmatch(extension)
        else "",
    }


# Schemas come before contexts, which may name them.
CONTEXTS = {
    "extras.configcontextschema": ContentKind("config context schemas", "config_context_schemas", import_schemas),
    "extras.configcontext": ContentKind("config contexts", "config_contexts", import_contexts),
}
EXPORT_TEMPLATES = {"extras.exporttemplate": ContentKind("export templates", "export_templates", import_templates)}
