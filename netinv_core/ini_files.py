"""Ini files: the settings of the application and the levels of loggers, as they stand there."""

from __future__ import annotations

import configparser
import importlib.metadata
import logging
from collections.abc import Mapping

from pyramid.paster import get_appsettings, get_config_loader

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
    try:
        settings: dict[str, str] = get_appsettings(loader_uri(ini), options=dict(options or {}))
    except (configparser.Error, LookupError, ValueError, OSError, ImportError) as error:
        raise ValueError(f"the ini file {ini.partition('#')[0]} cannot be read: {_fault(error)}") from None
    return settings


def logger_levels(ini: str) -> dict[str, int]:
    """The levels of loggers in an ini file, by the names of the loggers; that of the root logger is empty.

    :raises ValueError: with the fault, for a level that does not exist, or a file that cannot be read
    """
    known = logging.getLevelNamesMapping()
    levels = {}
    try:
        loader = get_config_loader(loader_uri(ini))
        for key in loader.get_settings("loggers").get("keys", "").split(","):
            section = loader.get_settings(f"logger_{key.strip()}")
            if text := section.get("level"):
                if text not in known:
                    raise ValueError(f"level in [logger_{key.strip()}] is none of {', '.join(known)}")
                levels["" if key.strip() == "root" else section["qualname"]] = known[text]
    except (configparser.Error, LookupError, ValueError, OSError, ImportError) as error:
        raise ValueError(f"the ini file {ini.partition('#')[0]} cannot be read: {_fault(error)}") from None
    return levels


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
        case _:
            return " ".join(str(error).split())
