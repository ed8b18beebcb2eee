"""Plugin of pytest: a service to test with its clients, and ``--netinv``, which runs the contract over the resources of
the installed plugins.

It is loaded by every run of pytest where ``netinv-testing`` is installed, so modules are imported when they are used.
The database is a SQLite file for the run, or one on the server that ``NETINV_TEST_DATABASE`` names
(``postgresql://postgres@127.0.0.1/postgres``, ``mysql://root@127.0.0.1/test``), dropped at the end. Tests share it and
use names that nothing else has, so nothing is cleaned.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from netinv_testing import Api, Service, Unique

CONTRACT = "netinv_testing.contract"
GROUP = "netinv_contract"  # the entry points of further modules of tests for every resource, such as of pages
pytest.register_assert_rewrite("netinv_testing.checks", CONTRACT)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("netinv").addoption(
        "--netinv",
        action="store_true",
        help="also run the contract of REST and pages over the resources of the installed plugins of netinv",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Leaves the contract out where the ini file has the option and the command line names files of tests. The
    processes of pytest-xdist follow the one that starts them.
    """
    if not hasattr(config, "workerinput") and "--netinv" not in config.invocation_params.args:
        config.option.netinv &= config.args_source is not pytest.Config.ArgsSource.ARGS


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the tests of the contract."""
    if not config.option.netinv:
        return
    from netinv_testing import plugins

    plugins.check_plugins()
    further = importlib.metadata.entry_points(group=GROUP)
    for name in [CONTRACT, *sorted(entry.value for entry in further)]:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            items += session.genitems(pytest.Module.from_parent(session, path=Path(found.origin)))


@pytest.fixture(scope="session")
def netinv_settings() -> Mapping[str, str]:
    """The settings of the service under test, as in an ini file: ``{"netinv.racks_most": "5"}``. Override it."""
    return {}


@pytest.fixture(scope="session")
def database_template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A migrated database that others are copied from."""
    from netinv_testing.databases import drop_unused, template_database

    with template_database(tmp_path_factory.mktemp("template")) as template:
        yield template
    drop_unused()


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Engine]:
    """A migrated database."""
    from netinv_testing.databases import migrated_database

    with migrated_database(tmp_path_factory.mktemp("database"), database_template) as engine:
        yield engine


@pytest.fixture(scope="session")
def service(engine: Engine, netinv_settings: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The service, with an administrator.

    :raises RuntimeError: when a package does not start, with the reason
    """
    from netinv_testing import Service

    service = Service(engine, {"netinv.media_root": str(tmp_path_factory.mktemp("media")), **netinv_settings})
    for package in service.registry.broken:
        raise RuntimeError(f"the service starts without {package.name}: {package.reason}")
    return service


@pytest.fixture
def api(service: Service) -> Api:
    """An administrator's client."""
    return service.api


@pytest.fixture
def anonymous(service: Service) -> Api:
    """A client without credentials."""
    return service.anonymous


@pytest.fixture
def make_user(service: Service) -> Any:
    """``make_user((actions, labels[, constraints]), …)``: an account with a token; see :meth:`Service.user`."""
    return service.user


@pytest.fixture
def unique(service: Service) -> Unique:
    """``unique()``: a word that nothing else has."""
    return service.unique


@pytest.fixture
def statements(service: Service) -> Any:
    """``with statements() as found``: the SQL statements of the block."""
    return service.statements


@pytest.fixture
def configured(service: Service) -> Any:
    """``with configured(max_page_size=10)``: other settings for the block."""
    return service.configured


@pytest.fixture
def make(api: Api, unique: Unique) -> Any:
    """``make(path, …)``: a new object, with a name and a slug of its own."""

    def post(path: str, **fields: Any) -> Any:
        name = unique()
        return api.post(path, {"name": name, "slug": name, **fields})

    return post
