"""The documentation and the example settings against the code: names, files, links and commands that they mention exist."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from netinv_core import settings
from netinv_core.app import apps_of, discover

pytestmark = pytest.mark.any_database
ROOT = Path(__file__).parents[1]


def known_settings() -> set[str]:
    """The names of every setting of the core and of the installed applications."""
    return {f"netinv.{name}" for app in apps_of(discover()[0]) for name in app.settings} | {f"netinv.{name}" for name in settings.OWN}


def settings_of(name: str) -> dict[str, str]:
    """The ``netinv.`` settings that an ini file of the repository sets."""
    ini = configparser.RawConfigParser(defaults={"here": "."})
    ini.read(ROOT / name)
    return {key: value for key, value in ini["app:main"].items() if key.startswith("netinv.")}


@pytest.mark.parametrize("name", ["development.ini", "production.ini"])
def test_the_ini_files_set_only_settings_that_exist(name: str) -> None:
    """A setting that was renamed would keep the service from starting."""
    assert set(settings_of(name)) <= known_settings()


def test_production_ini_has_every_setting() -> None:
    """``production.ini`` is the reference of the settings: each is set there, or commented out."""
    text = (ROOT / "production.ini").read_text()
    assert [name for name in sorted(known_settings()) if f"\n{name} =" not in text and f"\n#{name} =" not in text] == []
