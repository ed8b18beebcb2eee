"""Two processes of a service on one database, as an operator starts them: ``pserve``, each at a port of its own."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests
from bs4 import BeautifulSoup
from sqlalchemy.engine import Engine

from netinv_extras.jobs import models as job_models
from netinv_testing import Service
from netinv_testing.client import PASSWORD, SECRET, Account
from tests.support import SUPPORT
from tests.support.servers import free_port, listens, running

BIN = Path(sys.executable).parent
SETTINGS = """
[app:main]
use = egg:netinv-core
netinv.database_url = {database}
netinv.queue_url = {queue}
netinv.secret = {secret}
netinv.jobs_root = {jobs}
netinv.media_root = {folder}/media
netinv.require_if_match = group:careful
netinv.sign_in_failures_address = 0
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:%(port)s
"""


class Process:
    """One of the processes, asked through HTTP."""

    def __init__(self, url: str, account: Account) -> None:
        self.url, self._account = url, account
        self._pages = requests.Session()

    def send(self, method: str, path: str, body: Any = None, *, account: Account | None = None) -> requests.Response:
        """The answer to a request by an account, the administrator's unless said otherwise."""
        headers = {"Authorization": f"Token {(account or self._account).token}", "Accept": "application/json"}
        return requests.request(method, self.url + path, json=body, headers=headers, timeout=60)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The body of an answer that is no error."""
        answer = self.send(method, path, body)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def page(self, path: str) -> BeautifulSoup:
        """A page, as the administrator sees it."""
        if not self._pages.cookies:
            form = {"username": self._account.username, "password": PASSWORD, "next": "/"}
            self._pages.post(f"{self.url}/login/", form, headers={"Origin": self.url}, timeout=60)
        answer = self._pages.get(self.url + path, headers={"Accept": "text/html"}, timeout=60)
        assert answer.ok, f"{path}: {answer.status_code}"
        return BeautifulSoup(answer.text, "html.parser")


@contextlib.contextmanager
def two_processes(engine: Engine, folder: Path, queue: str) -> Iterator[tuple[Service, Process, Process]]:
    """A service in this process, which makes accounts, and two processes on its database."""
    database = engine.url.render_as_string(hide_password=False).replace("%", "%%")
    values = {"database": database, "queue": queue, "secret": SECRET, "jobs": SUPPORT / "local_jobs"}
    ini = folder / "two.ini"
    ini.write_text(SETTINGS.format(folder=folder, **values))
    service = Service(engine, {"netinv.jobs_root": str(SUPPORT / "local_jobs")})
    with service.unit_of_work() as uow:
        job_models.refresh(uow)
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with contextlib.ExitStack() as stack:
        processes = []
        for number in range(2):
            port = free_port()
            command = [BIN / "pserve", ini, f"port={port}"]
            stack.enter_context(running(command, folder / f"process-{number}.log", listens(port), environment))
            processes.append(Process(f"http://127.0.0.1:{port}", service.admin))
        yield service, processes[0], processes[1]
