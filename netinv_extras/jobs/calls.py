"""Calls of a job's methods: ``run`` in the form that the class defines, its tests, and ``post_run``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from netinv_extras.jobs.api import Job
from netinv_extras.jobs.job_log import GROUPING
from netinv_extras.jobs.variables import DryRunVar

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
POST_RUN = "post_run"


def run_job(job: Job, data: Mapping[str, Any], commit: bool) -> str:
    """Calls ``run``, then each test in the order of their names; returns what they returned, as one text."""
    output = _text(_call_run(job, data, commit))
    for name in test_methods(type(job)):
        job.grouping_of_log = name
        output += _text(getattr(job, name)())
    job.grouping_of_log = GROUPING
    return output


def call_post_run(job: Job) -> str:
    """Calls ``post_run``; returns what it returned, as text."""
    job.grouping_of_log, job.post_run_called = POST_RUN, True
    output = _text(job.post_run())
    job.grouping_of_log = GROUPING
    return output


def test_methods(job: type[Job]) -> list[str]:
    """Returns the names of the methods of a class that begin with ``test_``, in alphabetical order."""
    return [name for name in dir(job) if name.startswith("test_") and inspect.isfunction(getattr(job, name))]


def _text(output: Any) -> str:
    return "" if output is None else f"\n{output}".replace("\x00", "�")


def _call_run(job: Job, data: Mapping[str, Any], commit: bool) -> Any:
    """Calls ``run(data, commit)``, or ``run`` with the variables as keyword arguments, as its parameters say."""
    parameters = list(inspect.signature(job.run).parameters.values())
    run: Callable[..., Any] = job.run
    if _takes_data(parameters, data):
        by_name = {"data", "commit"} <= {parameter.name for parameter in parameters}
        return run(data=data, commit=commit) if by_name else run(data, commit)
    cls = type(job)
    dry_run = {name: not commit for name in dir(cls) if isinstance(getattr(cls, name), DryRunVar)}
    return run(**data, **dry_run)


def _takes_data(parameters: list[inspect.Parameter], data: Mapping[str, Any]) -> bool:
    """Returns true for ``run(data, commit)``, with these names or others that no variable has."""
    kinds = {parameter.kind for parameter in parameters}
    names = [parameter.name for parameter in parameters if parameter.kind in _BY_POSITION]
    if {"data", "commit"} <= {parameter.name for parameter in parameters} and "data" not in data:
        return True
    if inspect.Parameter.VAR_KEYWORD in kinds or data.keys() & names:
        return False
    return inspect.Parameter.VAR_POSITIONAL in kinds or len(names) == 2
