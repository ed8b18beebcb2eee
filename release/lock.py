"""Locks: the versions of all libraries, in two files, resolved from what the distributions declare.

`requirements.lock` has what a service needs, with every extra; `requirements-dev.lock` what development needs besides.
pip resolves both for an empty environment, so nothing that happens to be installed gets into them, and for the oldest
Python that is supported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import tomllib
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from release import REPOSITORY

RUNTIME, DEVELOPMENT = REPOSITORY / "requirements.lock", REPOSITORY / "requirements-dev.lock"
DECLARED = REPOSITORY / "requirements-dev.in"
OLDEST_PYTHON = "3.11.2"  # that of Debian 12
TESTING = "testing"  # the extra of a distribution with what its tests need
OF_TESTS = frozenset({"netinv_testing"})  # distributions that services do not have
# Distributions whose libraries are in locks of their own, written by hand: those of the first have no wheels and are
# compiled where they are installed; the other brings an HTTP stack that services without it should not have.
APART = frozenset({"netinv_ldap", "netinv_mcp"})


def declared(*, testing: bool) -> list[str]:
    """The requirements of all distributions with their extras, but not on each other; those for tests, or the rest."""
    lines: list[str] = []
    for path in REPOSITORY.glob("netinv_*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        if path.parent.name not in APART:
            if testing == (path.parent.name in OF_TESTS):
                lines += project["dependencies"]
            for extra, requirements in project.get("optional-dependencies", {}).items():
                lines += requirements if testing == (extra == TESTING) else []
    return sorted({line for line in lines if not line.startswith("netinv-")})


def resolve(pip: list[str], requirements: Iterable[str], locks: Iterable[Path]) -> dict[str, str]:
    """The versions that pip chooses for requirements, by name; those of ``locks`` are kept.

    :raises SystemExit: when there is no choice; pip has printed the reason
    """
    constraints = [argument for lock in locks for argument in ("--constraint", str(lock))]
    options = ["--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", "-"]
    options += ["--python-version", OLDEST_PYTHON, "--target", "unused"]  # pip of Python 3.11 wants a target
    command = [*pip, "install", *options, *constraints, *requirements]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if run.returncode:
        raise SystemExit("nothing was written; --upgrade chooses anew where the present locks do not fit")
    items: list[dict[str, Any]] = json.loads(run.stdout)["install"]
    return {item["metadata"]["name"]: item["metadata"]["version"] for item in items}


def write(lock: Path, versions: dict[str, str], besides: Iterable[str] = ()) -> None:
    """Writes versions to a lock, without those of ``besides``."""
    lines = (f"{name}=={versions[name]}\n" for name in versions.keys() - set(besides))
    lock.write_text("".join(sorted(lines, key=str.lower)))


def main() -> None:
    """Writes both locks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions instead of the locked ones")
    upgrade = parser.parse_args().upgrade
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [str(Path(folder, "bin/python")), "-m", "pip", "--disable-pip-version-check"]
        own = declared(testing=False)
        runtime = resolve(pip, own, [] if upgrade else [RUNTIME])
        tools = [*declared(testing=True), "--requirement", str(DECLARED)]
        write(RUNTIME, runtime)
        development = resolve(pip, [*own, *tools], [RUNTIME] if upgrade else [RUNTIME, DEVELOPMENT])
        write(DEVELOPMENT, development, runtime)


if __name__ == "__main__":
    main()
