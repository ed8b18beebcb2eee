"""Jobs from a Git repository: ``jobs/<module>.py``. The modules are kept in the database, so that every service and worker runs the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.system_update import system_update
from netinv_extras.git import files as git_files
from netinv_extras.git.files import Fault
from netinv_extras.git.models import git_repositories, job_modules
from netinv_extras.git.sync import CREATED, DELETED, UNCHANGED, UPDATED, ContentKind, Files, Sync
from netinv_extras.jobs import catalog
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.modules import Source, compiled

NOT_ALLOWED = "The setting netinv.git_jobs does not allow code from repositories."
PACKAGE = "__init__"  # the package itself; what it says means nothing here


def import_jobs(sync: Sync, files: Files) -> None:
    """Makes the modules be what the files say, and the jobs what the modules say."""
    allowed = bool(sync.uow.registry.settings.get("git_jobs"))
    if files and not allowed:
        sync.report.refuse("", NOT_ALLOWED)
    wanted, unreadable = _readable(sync, files if allowed else {})
    _store(sync, wanted, keep=unreadable)
    repository = sync.repository["id"]
    for name, reason in catalog.faults_of(sync.uow, repository).items():
        sync.report.refuse(f"jobs/{name}.py", f"it cannot be imported: {reason}")
    _settle(sync, job_models.refresh(sync.uow))


def _readable(sync: Sync, files: Files) -> tuple[dict[str, str], bool]:
    """The texts of the modules by name, and whether there are others that are no Python."""
    found, unreadable = {}, False
    for path, content in sorted(files.items()):
        place = PurePosixPath(path)
        if len(place.parts) != 2 or place.suffix != ".py" or place.stem == PACKAGE:
            continue
        try:
            if not place.stem.isidentifier() or len(place.stem) > 100:
                raise Fault("no module can have that name")
            text = git_files.text(content)
            compiled(Source(text.encode(), path))
            found[place.stem] = text
        except SyntaxError as error:
            unreadable = True
            sync.report.refuse(path, f"it is not Python: line {error.lineno}: {error.msg}")
        except (ValueError, RecursionError) as error:  # a Fault too
            unreadable = True
            sync.report.refuse(path, str(error))
    return found, unreadable


def _store(sync: Sync, wanted: Mapping[str, str], *, keep: bool) -> None:
    """Makes the modules that are kept be those; with ``keep`` none goes."""
    uow, mine = sync.uow, job_modules.c.repository_id == sync.repository["id"]
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in wanted.items()}
    there = dict(uow.execute(sa.select(job_modules.c.name, job_modules.c.digest).where(mine)).tuples().all())
    changed = [name for name in wanted if there.get(name) != digests[name]]
    gone = changed if keep else [*changed, *(there.keys() - wanted.keys())]
    if gone:
        uow.write(sa.delete(job_modules).where(mine, job_modules.c.name.in_(gone)))
    if changed:
        own = {"repository_id": sync.repository["id"]}
        uow.write(sa.insert(job_modules), [{**own, "name": name, "digest": digests[name], "code": wanted[name]} for name in changed])


def _settle(sync: Sync, found: job_models.Refreshed) -> None:
    """Says what became of each job of the repository."""
    outcomes = {key: outcome for keys, outcome in ((found.added, CREATED), (found.changed, UPDATED), (found.gone, DELETED)) for key in keys}
    there = dict.fromkeys(catalog.catalog(sync.uow), UNCHANGED)
    for (_, repository, module, name), outcome in (there | outcomes).items():
        if repository == sync.repository["id"]:
            sync.report.record(job_models.LABEL, f"{module}/{name}", outcome)


CONTENT_KIND = ContentKind("jobs", "jobs", import_jobs)


def renames_the_paths_of_its_jobs(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The paths of a repository's jobs hold its slug."""
    table = table_of(job_models.Job)
    for draft in drafts:
        if not draft.new and draft.changed("slug"):
            path = f"{catalog.GIT}.{draft['slug']}/" + table.c.module_name + "/" + table.c.job_class_name
            uow.write(sa.update(table).where(table.c.git_repository_id == draft.id).values(path=path))


def leaves_its_jobs_without_classes(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
    """The jobs of a repository are not installed any more once it is gone; their results stay."""
    table = table_of(job_models.Job)
    theirs = sa.select(table.c.id).where(table.c.git_repository_id.in_([row["id"] for row in rows]), table.c.installed)
    system_update(uow, uow.registry[job_models.LABEL], {key: {"installed": False} for key in uow.execute(theirs).scalars().all()})


def register() -> None:
    """Registers the functions of this module with resources of other modules: once, by the package."""
    git_repositories.after_save(renames_the_paths_of_its_jobs)
    git_repositories.before_delete(leaves_its_jobs_without_classes)
