"""A device type library in a folder, and the command that imports it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from netinv_core.environment import Environment
from netinv_dcim.commands import device_types
from netinv_testing import Api, Service

TYPES = "/api/dcim/device-types/"
MAKERS = "/api/dcim/manufacturers/"


class Library:
    """A checkout of a library, with manufacturers that nothing else in the database has."""

    def __init__(self, root: Path, word: str) -> None:
        self.root = root
        self.maker = f"Maker {word}"

    def add(self, model: str, more: str = "", **fields: Any) -> Path:
        """Writes the file of a type; ``more`` is what follows the fields."""
        fields = {
            "manufacturer": self.maker,
            "model": model,
            "slug": f"{self.maker}-{model}".lower().replace(" ", "-"),
            **fields,
        }
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        return self.write(f"device-types/{self.maker}/{model}.yaml", "\n".join(["---", *lines, more]).encode())

    def write(self, name: str, content: bytes) -> Path:
        """Writes any file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


@pytest.fixture
def library(tmp_path: Path, unique: Any) -> Library:
    """A library without files."""
    found = Library(tmp_path / "library", unique())
    found.root.mkdir()
    return found


@pytest.fixture(scope="module")
def environment(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """The environment of the command."""
    folder = tmp_path_factory.mktemp("command")
    ini = folder / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    media = f"netinv.media_root = {folder / 'media'}\n"
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n{media}"
    )
    environment = Environment(str(ini))
    yield environment
    environment.engine.dispose()


@pytest.fixture
def run(service: Service, environment: Environment, library: Library) -> Any:
    """``run(path, option, …)``: what the command answers; the whole library without a path."""

    def invoke(path: Path | None = None, *options: str, user: str = "", status: int = 0) -> str:
        words = [str(path or library.root), "--user", user or service.admin.username, *options]
        done: Result = CliRunner(env={"COLUMNS": "200"}).invoke(
            device_types, words, obj=environment, catch_exceptions=False
        )
        assert done.exit_code == status, done.output
        return done.output

    return invoke


@pytest.fixture
def found(api: Api, library: Library) -> Any:
    """``found(model)``: the one type of this model."""

    def get(model: str) -> Any:
        (only,) = [
            shown
            for shown in api.get(TYPES, {"model": model})["results"]
            if shown["manufacturer"]["name"] == library.maker
        ]
        return only

    return get


def templates(api: Api, kind: str, device_type: Any) -> list[Any]:
    """The templates of a kind that a type has."""
    shown: list[Any] = api.get(f"/api/dcim/{kind}-templates/", {"devicetype_id": device_type["id"], "limit": 0})[
        "results"
    ]
    return shown


def counts(output: str, label: str) -> dict[str, int]:
    """Numbers of a model in the printed table, by outcome."""
    rows = [
        [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
        for line in output.splitlines()
        if "│" in line or "┃" in line
    ]
    names, values = rows[0], next(row for row in rows if row[0] == label)
    return {name: int(value) for name, value in zip(names[1:], values[1:], strict=True) if value != "·"}
