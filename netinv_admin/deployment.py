"""Files of a deployment: those of ``deploy/`` and ``production.ini``, with the paths and names of one installation."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).parent
OF_IMAGE = ("container", "helm")  # folders whose paths are those of the image; only names of hosts differ
SETTINGS = "production.ini"
MODE, MODE_OF_SETTINGS = 0o644, 0o640  # the settings may hold the password of the database
_PROXY = ("trusted_proxy = 127.0.0.1", "trusted_proxy_headers = x-", "clear_untrusted_proxy_headers = true")
_STATE = "StateDirectory=netinv\nStateDirectoryMode=0750\n"
_CONFIGURATION = "ConfigurationDirectory=netinv\nConfigurationDirectoryMode=0750\n"


@dataclasses.dataclass(frozen=True)
class Deployment:
    """An installation: the folders of programs, settings and data, the name of the host, the port of the service."""

    prefix: str = "/opt/netinv"
    settings: str = "/etc/netinv"
    data: str = "/var/lib/netinv"
    host: str = "netinv.example.net"
    port: int = 8080

    def files(self) -> Iterator[tuple[str, str]]:
        """The path of each file, below the folder of the deployment, and its text."""
        yield SETTINGS, self._of_machine(_behind_proxy((SOURCE / SETTINGS).read_text(encoding="utf-8")))
        folder = SOURCE / "deploy"
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(folder)
                text = path.read_text(encoding="utf-8")
                is_of_image = name.parts[0] in OF_IMAGE
                yield str(name), _of_image(text, self.host) if is_of_image else self._of_machine(text)

    def _of_machine(self, text: str) -> str:
        """A file with the paths of this machine. The former paths are replaced at once: a new one may hold another."""
        if self.data != Deployment.data:
            text = text.replace(_STATE, f"ReadWritePaths={self.data}\n")
        if self.settings != Deployment.settings:
            text = text.replace(_CONFIGURATION, "")
        return _replace_all(
            text,
            {
                Deployment.prefix: self.prefix,
                Deployment.settings: self.settings,
                Deployment.data: self.data,
                Deployment.host: self.host,
                f"127.0.0.1:{Deployment.port}": f"127.0.0.1:{self.port}",
            },
        )


def _of_image(text: str, host: str) -> str:
    """A file for containers: they are built in the folder of the deployment, which has the wheels in `dist`."""
    new = {Deployment.host: host, "context: ../..": "context: ..", "deploy/container/": "container/"}
    return _replace_all(text, new)


def _behind_proxy(text: str) -> str:
    """The settings of a service that one of the proxies of the deployment is in front of."""
    before, section, after = text.partition("[server:main]")
    for line in _PROXY:
        after = after.replace(f"#{line}", line, 1)
    return before + section + after


def _replace_all(text: str, new: Mapping[str, str]) -> str:
    marks = {old: f"\0{number}\0" for number, old in enumerate(new)}
    for old, mark in marks.items():
        text = text.replace(old, mark)
    for old, mark in marks.items():
        text = text.replace(mark, new[old])
    return text


def write(deployment: Deployment, folder: Path, *, force: bool = False) -> list[str]:
    """Writes the files of a deployment below a folder. Returns their paths, relative to it.

    :raises FileExistsError: when one of them exists, before any is written; with ``force`` they are replaced
    """
    files = dict(deployment.files())
    existing = [name for name in files if os.path.lexists(folder / name)]
    if existing and not force:
        raise FileExistsError(", ".join(existing))
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.new")
        mode = MODE_OF_SETTINGS if name == SETTINGS else MODE
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
            file.write(text)
        aside.replace(path)
    return list(files)
