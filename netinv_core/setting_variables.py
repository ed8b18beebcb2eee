"""Settings of the environment: the variable ``NETINV_DATABASE_URL`` is the setting ``netinv.database_url``.

The environment wins over the ini file. ``NETINV_DATABASE_URL_FILE`` names a file with the value, which keeps a secret
out of the environment. Messages name the variable, and never its value.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

PREFIX = "NETINV_"
FILE = "_FILE"
OF_TESTS = "NETINV_TEST_"
SERVER = "NETINV_SERVER_"  # of the settings in [server:main] (netinv_core.http.server)
SECRET = frozenset({"secret", "secret_file"})  # two settings for one value: a variable for one replaces both


@dataclasses.dataclass(frozen=True)
class Merged:
    """Settings of the ini file and of the environment: ``texts`` and ``variables`` by full name of the setting."""

    texts: dict[str, str]
    variables: dict[str, str]
    mistakes: list[str]


def variable_of(name: str) -> str:
    """The variable of a setting, given without ``netinv.``."""
    return f"{PREFIX}{name.upper()}"


def place(name: str, variables: Mapping[str, str] = os.environ) -> str:
    """The place that a setting has its value from, for messages: its variable, or the ini file."""
    given = [each for each in (variable_of(name), f"{variable_of(name)}{FILE}") if each in variables]
    return f"the environment variable {given[0]}" if given else f"the setting netinv.{name}"


def merge(settings: Mapping[str, str], names: Collection[str], variables: Mapping[str, str]) -> Merged:
    """The settings of an ini file, with the values that ``variables`` have for the settings of these ``names``."""
    found: dict[str, str] = {}
    mistakes = []
    texts = {}
    for name in names:
        direct, by_file = variable_of(name), f"{variable_of(name)}{FILE}"
        is_by_file = by_file in variables and f"{name}{FILE.lower()}" not in names
        if direct in variables and is_by_file:
            mistakes.append(f"the environment variables {direct} and {by_file} are both set: remove one of them")
        elif direct in variables:
            texts[name], found[name] = variables[direct], direct
        elif is_by_file:
            try:
                texts[name], found[name] = Path(variables[by_file]).read_text(encoding="utf-8").strip(), by_file
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                mistakes.append(f"the environment variable {by_file} names a file that cannot be read: {reason}")
    replaced = SECRET if SECRET & texts.keys() else frozenset()
    kept = {full: text for full, text in settings.items() if full.removeprefix("netinv.") not in replaced}
    return Merged(
        {**kept, **{f"netinv.{name}": text for name, text in texts.items()}},
        {f"netinv.{name}": variable for name, variable in found.items()},
        mistakes,
    )


def is_of_setting(variable: str, names: Collection[str]) -> bool:
    """True for a variable that gives one of these settings its value, or the file with it."""
    known = {variable_of(name) for name in names}
    return variable in known or variable.removesuffix(FILE) in known


def files(names: Collection[str], variables: Mapping[str, str]) -> Iterator[str]:
    """The paths of files that variables name for these settings."""
    for name in names:
        if path := variables.get(f"{variable_of(name)}{FILE}"):
            yield path


def unknown(names: Collection[str], variables: Mapping[str, str], others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Variables of netinv that give no setting its value, each with the nearest one that does, or an empty text.

    :param others: beginnings of names that are something else's
    """
    for variable in sorted(variables):
        if not variable.startswith(PREFIX) or variable.startswith((OF_TESTS, *others)):
            continue
        if not is_of_setting(variable, names):
            nearest = difflib.get_close_matches(variable.removeprefix(PREFIX).lower(), names, n=1)
            yield variable, variable_of(nearest[0]) if nearest else ""
