"""Settings that job classes declare, as attributes or in a ``class Meta`` as in Nautobot, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_extras.jobs.variables import Variable

GUIDE = "docs/jobs-from-nautobot.md"
_NAMES = "a list of texts"
_TEXT, _FLAG, _SECONDS = "a text", "True or False", "a number of seconds, 0 or more"
# Names of settings, each with the values that it takes.
SETTINGS: Mapping[str, str] = {
    "name": _TEXT,
    "grouping": _TEXT,
    "description": _TEXT,
    "commit_default": _FLAG,
    "has_sensitive_variables": _FLAG,
    "approval_required": _FLAG,
    "read_only": _FLAG,
    "hidden": _FLAG,
    "in_change_requests": _FLAG,
    "soft_time_limit": _SECONDS,
    "time_limit": _SECONDS,
    "task_queues": _NAMES,
    "field_order": _NAMES,
}
DRYRUN = "dryrun_default"  # of Nautobot 2: the opposite of commit_default
META = {**SETTINGS, DRYRUN: _FLAG}
# What a job of Nautobot can declare that netinv has no equal of, each with what to do instead.
REFUSED_SETTINGS = {
    "template_name": "the form of a job is made from its variables; remove it",
    "is_singleton": "runs of a job are not limited to one at a time; take a lock in run() where that matters",
    "console_log_default": "logs are always shown; remove it",
}
REFUSED_METHODS = {
    "before_start": "do it at the start of run()",
    "on_success": "do it at the end of run(), or in post_run()",
    "on_failure": "do it in post_run(), where self.failed is true",
    "on_retry": "runs are not repeated",
    "after_return": "do it in post_run()",
}


class JobDefinitionError(TypeError):
    """A job class declares what cannot be honoured; raised when the class is defined."""


def check(job: type) -> None:
    """Checks the declarations of a job class.

    :raises JobDefinitionError: for a setting or method that is unknown, or a setting with a value of the wrong type
    """
    for name, value in meta_of(job).items():
        if name not in META:
            instead = REFUSED_SETTINGS.get(name, f"known are {', '.join(META)}")
            raise JobDefinitionError(f"{job.__name__}: netinv has no setting Meta.{name}: {instead} ({GUIDE})")
        _check_value(job, f"Meta.{name}", META[name], value)
    if {DRYRUN, "commit_default"} <= meta_of(job).keys():
        raise JobDefinitionError(f"{job.__name__}: Meta has both commit_default and {DRYRUN}; keep one of them")
    for name in SETTINGS:
        _check_value(job, name, SETTINGS[name], _attribute(job, name))
    for name, instead in REFUSED_METHODS.items():
        if callable(getattr(job, name, None)):
            raise JobDefinitionError(f"{job.__name__}: {name}() is never called: {instead} ({GUIDE})")


def meta_of(job: type) -> dict[str, Any]:
    """Returns the members of the class's ``Meta``. As in Python, that of a class replaces that of its base class."""
    meta = getattr(job, "Meta", None)
    if not isinstance(meta, type):
        return {}
    return {name: getattr(meta, name) for name in dir(meta) if not name.startswith("_")}


def settings_of(job: type) -> dict[str, Any]:
    """Returns the settings of a job class: those in its ``Meta``, else its attributes."""
    meta = meta_of(job)
    if DRYRUN in meta:
        meta["commit_default"] = not meta.pop(DRYRUN)
    return {name: meta[name] if name in meta else _attribute(job, name) for name in SETTINGS}


def _attribute(job: type, name: str) -> Any:
    """Returns the value of a setting that is an attribute; one that is a variable of that name is none."""
    for base in job.__mro__:
        value = vars(base).get(name)
        if name in vars(base) and not isinstance(value, Variable):
            return value
    raise AttributeError(name)


def _check_value(job: type, name: str, kind: str, value: Any) -> None:
    """Checks the type of a setting's value.

    :raises JobDefinitionError: naming the setting and what it takes
    """
    if kind == _TEXT:
        valid = isinstance(value, str)
    elif kind == _FLAG:
        valid = isinstance(value, bool)
    elif kind == _SECONDS:
        valid = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    else:
        valid = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if not valid:
        raise JobDefinitionError(f"{job.__name__}: {name} is {value!r}; it takes {kind}")
