"""Steps: the commands of the gate and of the whole, and what each needs.

The gate is a fixed selection of the whole: what is marked ``night`` is left out. `tests/support/night.py` marks what a
further database seldom finds anything with.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.machine import REPOSITORY, SERVERS

BIN = Path(sys.executable).parent
URLS = {server.name: os.environ.get(server.variable) or server.default for server in SERVERS}
NOT_HERE = "not browser and not directory"


@dataclasses.dataclass(frozen=True)
class Command:
    """A command that passes with status 0; with ``needed``, later steps cannot run unless it does."""

    name: str
    words: Sequence[object]
    needed: bool = False


@dataclasses.dataclass(frozen=True)
class Pytest:
    """A run of pytest.

    :param marks: expression of the option ``-m``
    :param arguments: further arguments
    :param database: the server in ``URLS``; SQLite if none is named
    :param libraries: folders of ``.venv`` with libraries of these tests alone
    :param seed: draws generated input, so that each database gets another
    :param processes: none runs the tests in the process of pytest itself
    """

    name: str
    marks: str
    arguments: Sequence[str] = ()
    database: str = ""
    libraries: Sequence[str] = ("plugins",)
    seed: int = 0
    processes: int = 2

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of pytest."""
        found = {"PYTHONPATH": os.pathsep.join(str(REPOSITORY / ".venv" / name) for name in self.libraries)}
        if self.database:
            found |= {"NETINV_TEST_DATABASE": URLS[self.database], "NETINV_TEST_QUEUE": URLS["Redis"]}
        return found

    @property
    def parts(self) -> list[str]:
        """Arguments of pytest that divide the tests among processes."""
        return ["-n", str(self.processes), "--dist", "each", "--parts"] if self.processes else []

    @property
    def options(self) -> list[str]:
        """Arguments of pytest, without those that select tests and processes."""
        inputs = os.environ.get("INPUTS") if self.database else None
        return ["-q", f"--input-seed={self.seed}", *([f"--inputs={inputs}"] if inputs else [])]


Step = Command | Pytest
PACKAGES = sorted(path.name.removeprefix("netinv_") for path in REPOSITORY.glob("plugins/netinv_*"))
OF_PACKAGES = (  # the tests of packages, and the checks of the contract for their resources
    *("-k", " or ".join(f"{name}." for name in PACKAGES)),
    *("plugins", "tests/test_contract.py", "tests/web/test_contract_pages.py"),
)
LINT = (
    Command("ruff", [BIN / "ruff", "check", "."]),
    Command("format", [BIN / "ruff", "format", "--check", "--quiet", "."]),
    Command("mypy", [BIN / "mypy"]),
)
QUICK = Pytest("quick", f"not slow and not crash and not repetition and not night and {NOT_HERE}")
DIRECTORIES = ("tests/oidc", "tests/ldap", "tests/agents")
LIBRARIES = [f".venv/{name}" for name in ("plugins", "packages", "ldap", "mcp", "provider")]
GATE: tuple[Step, ...] = (
    Command("libraries", ["make", "--silent", "-j2", *LIBRARIES], needed=True),
    *LINT,
    Pytest("directories", "directory and not night", DIRECTORIES, libraries=("plugins", "ldap", "mcp")),
    Pytest("browser", "browser and not night", ("tests/browser",)),
    Pytest("packages", "not repetition and not night", OF_PACKAGES, libraries=("plugins", "packages")),
    Pytest("mariadb", f"not any_database and not night and not repetition and {NOT_HERE}", database="MariaDB", seed=2),
    Pytest(
        "postgresql", f"not any_database and not night and not repetition and {NOT_HERE}", database="PostgreSQL", seed=1
    ),
    Pytest("sqlite", f"not repetition and not night and {NOT_HERE}"),
)
WHOLE: tuple[Step, ...] = (
    Pytest("test-directories", "directory", DIRECTORIES, libraries=("plugins", "ldap", "mcp")),
    Pytest("test-browser", "browser", ("tests/browser",)),
    *(
        Pytest(name, "not any_database" if database else "", OF_PACKAGES, database, ("plugins", "packages"))
        for name, database in (
            ("test-packages", ""),
            ("test-packages-mariadb", "MariaDB"),
            ("test-packages-postgresql", "PostgreSQL"),
        )
    ),
    Pytest("test-sqlite", NOT_HERE),
    Pytest("test-mariadb", f"not any_database and {NOT_HERE}", database="MariaDB", seed=2),
    Pytest("test-postgresql", f"not any_database and {NOT_HERE}", database="PostgreSQL", seed=1),
)
GROUPS: Mapping[str, Sequence[Step]] = {
    "gate": GATE,
    "lint": LINT,
    "quick": (QUICK,),
    "test-all": WHOLE,
    "test-packages": [step for step in WHOLE if step.name.startswith("test-packages")],
}


def steps_of(name: str) -> Sequence[Step]:
    """The steps of a group, or the step with a name.

    :raises KeyError: when there is none
    """
    return GROUPS[name] if name in GROUPS else ({step.name: step for step in (*WHOLE, *GATE)}[name],)
