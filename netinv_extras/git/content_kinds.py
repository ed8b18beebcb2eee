"""What a repository may provide, kind by kind: config contexts, their schemas, export templates, jobs. Another kind is another line of :data:`KINDS`."""

from __future__ import annotations

import dataclasses
import mimetypes
from collections.abc import Callable
from pathlib import PurePosixPath

from netinv_extras.git import files as git_files
from netinv_extras.git.contexts import import_contexts
from netinv_extras.git.files import Fault
from netinv_extras.git.owned_objects import Files, OwnedObjectSync, Sync, documents, known_members
from netinv_extras.jobs.git_source import import_jobs

CONTEXTS, SCHEMAS, TEMPLATES, JOBS = "config_contexts", "config_context_schemas", "export_templates", "jobs"
_TEMPLATE_SUFFIXES = (".j2", ".jinja", ".jinja2")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of contents: the folder of its files, and what makes them objects; with no files, what was made of former ones goes."""

    folder: str
    import_files: Callable[[Sync, Files], None]


def import_schemas(sync: Sync, files: Files) -> None:
    """``config_context_schemas/*``: the metadata's name and description, and the schema as ``data_schema``."""
    bringing = OwnedObjectSync(sync, "extras.configcontextschema", ["name"])
    for document in documents(files, bringing.refuse):
        try:
            known_members(document, ("name", "slug", "description"))
            body = {"name": document.stem, "description": "", **document.metadata}
            if "data_schema" not in document.data:
                raise Fault("it has no data_schema")
            bringing.want(document.path, {**body, "name": str(body["name"]), "data_schema": document.data["data_schema"]})
        except Fault as error:
            bringing.refuse(document.path, str(error))
    bringing.settle()


# -- export templates


def import_templates(sync: Sync, files: Files) -> None:
    """``export_templates/<app>/<model>/<name of the template>``."""
    bringing = OwnedObjectSync(sync, "extras.exporttemplate", ["name", "content_type"])
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts[1:]
        if len(parts) != 3:
            continue
        try:
            label = f"{parts[0]}.{parts[1]}".lower()
            bringing.want(path, {"name": parts[2], "content_type": label, "template_code": git_files.text(content), **_file_type(parts[2])})
        except Fault as error:
            bringing.refuse(path, str(error))
    bringing.settle()


def _file_type(name: str) -> dict[str, str]:
    """The media type and extension of what a template makes, by its name: ``hosts.csv.j2`` makes CSV."""
    made = PurePosixPath(name.removesuffix(PurePosixPath(name).suffix)) if PurePosixPath(name).suffix in _TEMPLATE_SUFFIXES else PurePosixPath(name)
    extension, guessed = made.suffix.lstrip("."), mimetypes.guess_type(made.name)[0] or "text/plain"
    return {"mime_type": guessed if len(guessed) <= 50 else "text/plain", "file_extension": extension if len(extension) <= 15 else ""}


# By the label that ``provided_contents`` holds; in the order in which they are brought in, as contexts may name schemas.
KINDS = {
    "extras.configcontextschema": Kind(SCHEMAS, import_schemas),
    "extras.configcontext": Kind(CONTEXTS, import_contexts),
    "extras.exporttemplate": Kind(TEMPLATES, import_templates),
    "extras.job": Kind(JOBS, import_jobs),
}
