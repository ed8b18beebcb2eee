"""Errors of commands as one line for the operator, in place of a traceback."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_admin.commands import plugin_group
from netinv_core import start_check
from netinv_core.db import availability
from netinv_core.environment import Environment
from netinv_core.errors import RequestError, error_text
from netinv_core.package_faults import package_among, package_at_fault

if TYPE_CHECKING:
    from netinv_core.registry import Registry

INTERNAL_ERROR = 70  # exit code of an error that nobody foresaw: EX_SOFTWARE of sysexits.h
EXPECTED = (start_check.UnusableDatabase, ValueError, OSError)


class UnexpectedError(click.ClickException):
    """Error of netinv itself, or of a package, which deserves a report."""

    exit_code = INTERNAL_ERROR


@contextlib.contextmanager
def readable_errors(context: click.Context | None) -> Iterator[None]:
    """Converts every exception of the block into one that click shows as a line, with an exit code.

    With ``--traceback`` the traceback is shown before it.

    :raises click.ClickException: for an exception, with exit code 1; for one that nobody foresaw with 70
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Exception as error:
        if context is not None and context.params.get("traceback"):
            traceback.print_exc()
        raise _readable(error, _environment(context), context) from None


def _environment(context: click.Context | None) -> Environment | None:
    found: Any = context.obj if context is not None else None
    return found if isinstance(found, Environment) else None


def _readable(error: Exception, environment: Environment | None, context: click.Context | None) -> click.ClickException:
    """The exception of click for an error."""
    if isinstance(error, sa.exc.SQLAlchemyError):
        message = _database_message(error, environment)
        if message is not None:
            return click.ClickException(message)
    elif isinstance(error, RequestError):
        return click.ClickException(error_text(error.body))
    elif isinstance(error, EXPECTED):
        return click.ClickException(_text(error))
    registry: Registry | None = environment.__dict__.get("registry") if environment is not None else None
    if registry is not None:
        package = package_at_fault(registry, error)
    else:
        package = package_among(plugin_group.loaded_packages(context)[0], error) if context is not None else None
    owner = "netinv" if package is None else f"the package {package}"
    return UnexpectedError(
        f"{type(error).__name__}: {_text(error)} (an error of {owner}: `netinv --traceback …` shows where)"
    )


def _database_message(error: sa.exc.SQLAlchemyError, environment: Environment | None) -> str | None:
    """The reason of an error of the database, if it is the database's state; ``None`` for another."""
    engine: Engine | None = environment.__dict__.get("engine") if environment is not None else None
    if environment is None or engine is None:
        return None
    if availability.is_away(error) or availability.is_busy(error):
        return availability.unreachable(engine, error)
    try:
        start_check.check_revisions(engine, environment.registry, environment.ini)
    except start_check.UnusableDatabase as unusable:
        return str(unusable)
    except sa.exc.SQLAlchemyError:
        return None
    return None


def _text(error: BaseException) -> str:
    """The message of an exception in one line."""
    text = availability.reason(error) if isinstance(error, sa.exc.SQLAlchemyError) else str(error)
    return " ".join(text.split()) or type(error).__name__
