"""Jobs from a Git repository: ``jobs/<module>.py``. The modules are kept in the database, so that every service and worker runs the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa

from netinv_core.context import Context
from netinv_core.model import table_of
from netinv_core.write.amend import amend
from netinv_core.write.draft import Draft
from netinv_extras import git_files, installed_jobs, job_catalog
from netinv_extras.git_bringing import CREATED, DELETED, UNCHANGED, UPDATED, Files, Sync
from netinv_extras.git_files import Fault
from netinv_extras.git_repositories import git_repositories, job_modules
from netinv_extras.job_modules import Source, compiled

NOT_ALLOWED = "The setting netinv.git_jobs does not allow code from repositories."
PACKAGE = "__init__"  # the package itself; what it says means nothing here


def bring_jobs(sync: Sync, files: Files) -> None:
    """Makes the modules be what the files say, and the jobs what the modules say."""
    allowed = bool(sync.context.registry.settings.get("git_jobs"))
    if files and not allowed:
        sync.report.refuse("", NOT_ALLOWED)
    wanted, unreadable = _readable(sync, files if allowed else {})
    _store(sync, wanted, keep=unreadable)
    repository = sync.repository["id"]
    for name, reason in job_catalog.faults_of(sync.context, repository).items():
        sync.report.refuse(f"jobs/{name}.py", f"it cannot be imported: {reason}")
    _settle(sync, installed_jobs.refresh(sync.context))


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
    context, mine = sync.context, job_modules.c.repository_id == sync.repository["id"]
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in wanted.items()}
    there = dict(context.execute(sa.select(job_modules.c.name, job_modules.c.digest).where(mine)).tuples().all())
    changed = [name for name in wanted if there.get(name) != digests[name]]
    gone = changed if keep else [*changed, *(there.keys() - wanted.keys())]
    if gone:
        context.write(sa.delete(job_modules).where(mine, job_modules.c.name.in_(gone)))
    if changed:
        own = {"repository_id": sync.repository["id"]}
        context.write(sa.insert(job_modules), [{**own, "name": name, "digest": digests[name], "code": wanted[name]} for name in changed])


def _settle(sync: Sync, found: installed_jobs.Refreshed) -> None:
    """Says what became of each job of the repository."""
    outcomes = {key: outcome for keys, outcome in ((found.added, CREATED), (found.changed, UPDATED), (found.gone, DELETED)) for key in keys}
    there = dict.fromkeys(job_catalog.catalog(sync.context), UNCHANGED)
    for (_, repository, module, name), outcome in (there | outcomes).items():
        if repository == sync.repository["id"]:
            sync.report.settle(installed_jobs.LABEL, f"{module}/{name}", outcome)


@git_repositories.effect
def renames_the_paths_of_its_jobs(context: Context, drafts: Sequence[Draft]) -> None:
    """The paths of a repository's jobs hold its slug."""
    table = table_of(installed_jobs.Job)
    for draft in drafts:
        if not draft.new and draft.changed("slug"):
            path = f"{job_catalog.GIT}.{draft['slug']}/" + table.c.module_name + "/" + table.c.job_class_name
            context.write(sa.update(table).where(table.c.git_repository_id == draft.id).values(path=path))


@git_repositories.departure
def leaves_its_jobs_without_classes(context: Context, rows: Sequence[Mapping[str, Any]]) -> None:
    """The jobs of a repository are not installed any more once it is gone; their results stay."""
    table = table_of(installed_jobs.Job)
    theirs = sa.select(table.c.id).where(table.c.git_repository_id.in_([row["id"] for row in rows]), table.c.installed)
    amend(context, context.registry[installed_jobs.LABEL], {key: {"installed": False} for key in context.execute(theirs).scalars().all()})
