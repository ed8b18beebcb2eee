"""Ini files: the settings of the application and the levels of loggers, as they stand there."""

from __future__ import annotations

import configparser
import contextlib
import importlib.metadata
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyramid.paster import get_appsettings, get_config_loader

UNREADABLE = (configparser.Error, LookupError, ValueError, OSError, ImportError)
INI_LOADER = "plaster-pastedeploy+file+ini:"  # Pyramid's loader of ini files


def loader_uri(ini: str) -> str:
    """URI of an ini file that names its loader; of another file, its path.

    To find a loader for a path, plaster parses the metadata of every installed distribution: 70 ms.
    """
    return f"{INI_LOADER}{ini}" if ini.partition("#")[0].endswith(".ini") else ini


def app_settings(ini: str, options: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings of the application in an ini file; ``options`` are values for ``%(name)s`` besides its own.

    :raises ValueError: with the fault, when it cannot be read
    """
    with _readable(ini):
        settings: dict[str, str] = get_appsettings(loader_uri(ini), options=dict(options or {}))
    return settings


def set_up_logging(ini: str, options: Mapping[str, str] | None = None) -> None:
    """Sets up the loggers of an ini file.

    :raises ValueError: with the fault, when it cannot be read
    """
    with _readable(ini, "its loggers are wrong: ", (Exception,)):  # handlers and formatters are any classes
        get_config_loader(loader_uri(ini)).setup_logging(dict(options or {}))


def server(ini: str, options: Mapping[str, str] | None = None) -> Callable[[Any], Any]:
    """The function that serves an application, of ``[server:main]`` in an ini file.

    :raises ValueError: with the fault, when the section cannot be read
    """
    with _readable(ini, "[server:main] is wrong: "):
        found: Callable[[Any], Any] = get_config_loader(loader_uri(ini)).get_wsgi_server(None, dict(options or {}))
    return found


def application(ini: str, options: Mapping[str, str] | None = None) -> Any:
    """The WSGI application of an ini file whose settings can be read (:func:`app_settings`)."""
    return get_config_loader(loader_uri(ini)).get_wsgi_app(None, dict(options or {}))


def logger_levels(ini: str) -> dict[str, int]:
    """The levels of loggers in an ini file, by the names of the loggers; that of the root logger is empty.

    :raises ValueError: with the fault, for a level that does not exist, or a file that cannot be read
    """
    known = logging.getLevelNamesMapping()
    levels = {}
    with _readable(ini):
        loader = get_config_loader(loader_uri(ini))
        for key in loader.get_settings("loggers").get("keys", "").split(","):
            section = loader.get_settings(f"logger_{key.strip()}")
            if text := section.get("level"):
                if text not in known:
                    raise ValueError(f"level in [logger_{key.strip()}] is none of {', '.join(known)}")
                levels["" if key.strip() == "root" else section["qualname"]] = known[text]
    return levels


@contextlib.contextmanager
def _readable(ini: str, place: str = "", kinds: tuple[type[Exception], ...] = UNREADABLE) -> Iterator[None]:
    """Context manager whose errors, of some ``kinds``, name an ini file and its fault, after the ``place`` of it.

    :raises ValueError: for such an error
    """
    try:
        yield
    except kinds as error:
        raise ValueError(f"the ini file {ini.partition('#')[0]} cannot be read: {place}{_fault(error)}") from None


def _fault(error: Exception) -> str:
    """The fault of an ini file, without its values: they may be secrets."""
    match error:
        case configparser.InterpolationSyntaxError():
            return f"{error.option} in [{error.section}] has a single %, which is written as %%"
        case configparser.InterpolationMissingOptionError():
            return (
                f"{error.option} in [{error.section}] refers to %({error.reference})s, which is not set "
                "(a plain % is written as %%)"
            )
        case configparser.InterpolationError():
            return f"{error.option} in [{error.section}] refers to itself"
        case configparser.MissingSectionHeaderError():
            return f"line {error.lineno} stands before the first [section]"
        case configparser.ParsingError():
            return f"line {', '.join(str(number) for number, _ in error.errors)} has no name = value"
        case UnicodeDecodeError():
            line = error.object[: error.start].count(b"\n") + 1
            return f"line {line} is no UTF-8; save the file with this encoding"
        case importlib.metadata.PackageNotFoundError():
            return f"`use` names {error.name}, which is not installed; expected: egg:netinv-core"
        case KeyError():
            return f"{error} is missing"
        case _:
            return " ".join(str(error).split())
