"""Jobs from a Git repository: ``jobs/<module>.py``.

The modules are stored in the database, so that all services and workers run the same code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_core.write.system_update import system_update
from netinv_extras.git import files as git_files
from netinv_extras.git.files import FileFault
from netinv_extras.git.models import git_repositories, job_modules
from netinv_extras.git.sync import CREATED, DELETED, UNCHANGED, UPDATED, ContentKind, Files, Sync
from netinv_extras.jobs import catalog
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.modules import JobSource, compile_source

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NOT_ALLOWED = "The setting netinv.git_jobs does not allow code from repositories."
PACKAGE = "__init__"  # ignored: the package itself has no code
MAX_MODULE_NAME_LENGTH = 100


def import_jobs(sync: Sync, files: Files) -> None:
    """Synchronizes the stored modules with the files, and the jobs with the modules; reports errors and outcomes."""
    allowed = bool(sync.uow.registry.settings["git_jobs"])
    if files and not allowed:
        sync.report.refuse("", NOT_ALLOWED)
    sources, has_errors = _valid_sources(sync, files if allowed else {})
    _store(sync, sources, keep_others=has_errors)
    repository_id = sync.repository["id"]
    for name, reason in catalog.import_errors_of(sync.uow, repository_id).items():
        sync.report.refuse(f"jobs/{name}.py", f"it cannot be imported: {reason}")
    _report_jobs(sync, job_models.refresh(sync.uow))


def _valid_sources(sync: Sync, files: Files) -> tuple[dict[str, str], bool]:
    """Returns the source texts of valid modules by name, and true if any module is not valid Python."""
    sources: dict[str, str] = {}
    has_errors = False
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path)
        if len(parts.parts) != 2 or parts.suffix != ".py" or parts.stem == PACKAGE:
            continue
        try:
            if not parts.stem.isidentifier() or len(parts.stem) > MAX_MODULE_NAME_LENGTH:
                raise FileFault("no module can have that name")
            text = git_files.text(content)
            compile_source(JobSource(text.encode(), path))
            sources[parts.stem] = text
        except SyntaxError as error:
            has_errors = True
            sync.report.refuse(path, f"it is not Python: line {error.lineno}: {error.msg}")
        except (ValueError, RecursionError) as error:  # Fault is a ValueError
            has_errors = True
            sync.report.refuse(path, str(error))
    return sources, has_errors


def _store(sync: Sync, sources: Mapping[str, str], *, keep_others: bool) -> None:
    """Writes the modules whose digests have changed; deletes modules without source unless ``keep_others``."""
    uow, repository_id = sync.uow, sync.repository["id"]
    of_repository = job_modules.c.repository_id == repository_id
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sources.items()}
    stored_rows = uow.execute(sa.select(job_modules.c.name, job_modules.c.digest).where(of_repository))
    stored = dict(stored_rows.tuples().all())
    changed = [name for name in sources if stored.get(name) != digests[name]]
    deleted = changed if keep_others else [*changed, *(stored.keys() - sources.keys())]
    if deleted:
        uow.execute(sa.delete(job_modules).where(of_repository, job_modules.c.name.in_(deleted)))
    if changed:
        rows = [
            {"repository_id": repository_id, "name": name, "digest": digests[name], "code": sources[name]}
            for name in changed
        ]
        uow.execute(sa.insert(job_modules), rows)


def _report_jobs(sync: Sync, result: job_models.Refreshed) -> None:
    """Reports the outcome of each job of the repository."""
    outcomes = dict.fromkeys(catalog.catalog(sync.uow), UNCHANGED)
    for keys, outcome in ((result.added, CREATED), (result.changed, UPDATED), (result.removed, DELETED)):
        outcomes |= dict.fromkeys(keys, outcome)
    for (_, repository_id, module, name), outcome in outcomes.items():
        if repository_id == sync.repository["id"]:
            sync.report.record(job_models.LABEL, f"{module}/{name}", outcome)


CONTENT_KIND = ContentKind("jobs", "jobs", import_jobs)


def update_paths_of_jobs(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Updates the paths of a repository's jobs after a change of its slug, which is part of them."""
    table = table_of(job_models.Job)
    for draft in drafts:
        if not draft.new and draft.changed("slug"):
            path = f"{catalog.GIT}.{draft['slug']}/" + table.c.module_name + "/" + table.c.job_class_name
            uow.execute(sa.update(table).where(table.c.git_repository_id == draft.id).values(path=path))


def mark_jobs_as_not_installed(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
    """Marks the jobs of deleted repositories as not installed; their results are kept."""
    table = table_of(job_models.Job)
    of_repositories = table.c.git_repository_id.in_([row["id"] for row in rows])
    keys = uow.execute(sa.select(table.c.id).where(of_repositories, table.c.installed)).scalars().all()
    system_update(uow, uow.registry[job_models.LABEL], {key: {"installed": False} for key in keys})


def register() -> None:
    """Registers the functions of this module with the resource of Git repositories."""
    git_repositories.after_save(update_paths_of_jobs)
    git_repositories.before_delete(mark_jobs_as_not_installed)
