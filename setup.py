"""The meta-distribution `netinv`: requires every other distribution in its own version: they are upgraded together."""

import configparser
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
VERSION = (HERE / "VERSION").read_text().strip()
CONFIG = configparser.ConfigParser()
CONFIG.read(HERE / "setup.cfg")


def pinned(requirements: str) -> list[str]:
    """The requirements of an option of setup.cfg, each in this version."""
    return [f"{name} =={VERSION}" for name in requirements.split()]


setup(
    install_requires=pinned(CONFIG["options"]["install_requires"]),
    extras_require={name: pinned(names) for name, names in CONFIG["options.extras_require"].items()},
)
