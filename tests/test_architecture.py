"""Architecture: what modules may import, how large they may be, and where resources get their rules."""

from __future__ import annotations

import ast
import configparser
import functools
import graphlib
import importlib
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import netinv_core
from netinv_core import Base, Resource
from netinv_core.driver import undocumented
from release import public_names
from release.lock import DEVELOPMENT, RUNTIME, declared
from release.public_modules import PUBLIC_MODULES
from tests.support import REPOSITORY

PACKAGES = sorted(path.parent.name for path in REPOSITORY.glob("netinv_*/pyproject.toml"))
# Distributions with parts of the engine, above the core: they may use all of its modules, and the core none of theirs.
ENGINE = [
    "netinv_admin",
    "netinv_import",
    "netinv_openapi",
    "netinv_outgoing",
    "netinv_search",
    "netinv_signin",
    "netinv_tabular",
    "netinv_testing",
    "netinv_undo",
]
# The former name of the contract tests.
FORMER_NAMES = [REPOSITORY / "netinv_core/testing/__init__.py"]
REGISTRATIONS = {"prepare", "rule", "after_save", "before_delete", "filter", "base_filter", "permission_check"}
# Layers of the core, from below: a folder imports those before it when its modules run. The modules beside the folders
# put them together.
LAYERS = (
    *("net", "telemetry", "storage", "importing", "driver", "models", "db", "migrations", "sql", "tasks", "fields"),
    *("auth", "changelog", "backups", "read", "write", "http"),
)
# Packages with a cycle of imports, one of which is within a function.
TIED = {"netinv_extras", "netinv_import", "netinv_oidc", "netinv_testing"}
# A description that clients know.
NAMES_APPLICATIONS = ["root_views.py"]
# Requirements that no module imports: the servers, database drivers, static files, of Pyramid pkg_resources
# and WebOb.
NOT_IMPORTED = {
    "netinv_core": {"waitress", "gunicorn", "psycopg", "pymysql", "setuptools", "webob"},
    "netinv_openapi": {"swagger-ui-py"},
}
# Folders and modules of a package whose requirements are an extra of its distribution, with its name.
EXTRAS = {
    **{"testing": "testing", "web": "web"},
    **{"device_type_library": "library", "web/device_type_upload.py": "library", "commands.py": "library"},
    **{"tasks/redis_queue.py": "redis", "tasks/redis_buckets.py": "redis", "telemetry/otel.py": "otel"},
    "driver/psycopg_cursor.py": "postgresql",
    "driver/prepared.py": "postgresql",
}
# Suppressed warnings of the tools, with their reasons.
SUPPRESSIONS = {
    ("bench/world.py", "type: ignore[misc]"): "",
    ("netinv_core/http/errors.py", "type: ignore[misc]"): "Pyramid has no type annotations",
    ("netinv_core/http/server.py", "type: ignore[misc]"): "Waitress has no type annotations",
    ("netinv_core/http/traversal.py", "type: ignore[misc]"): "Pyramid has no type annotations",
    ("netinv_core/main.py", "type: ignore[misc]"): "Pyramid has no type annotations",
    ("netinv_core/tasks/queue.py", "type: ignore[misc]"): "Huey has no type annotations",
    ("netinv_core/tasks/redis_queue.py", "type: ignore[misc]"): "Huey has no type annotations",
    ("netinv_testing/client.py", "noqa: S105"): "password and secret of tests",
    ("netinv_core/fields/schema.py", "type: ignore[misc]"): "Colander has no type annotations",
    ("netinv_dcim/cabling/paths.py", "type: ignore[attr-defined]"): "comparison of class methods",
    ("netinv_core/telemetry/gunicorn_hooks.py", "noqa: S603"): "constant command",
    ("netinv_extras/git/client.py", "noqa: S603"): "constant command",
    (
        "netinv_extras/git/yaml_files.py",
        "noqa: S506",
    ): "PyYAML has no type annotations; a loader derived from the safe one",
    (
        "netinv_extras/git/yaml_files.py",
        "type: ignore[misc]",
    ): "PyYAML has no type annotations; a loader derived from the safe one",
    ("netinv_extras/jobs/forkserver.py", "noqa: S603"): "constant command",
    ("netinv_extras/templates/renderer_pool.py", "noqa: S603"): "constant command",
    ("netinv_web/icons.py", "noqa: S704"): "drawings of the library",
    ("netinv_web/lists/rows.py", "noqa: S704"): "each part is markup, or escaped",
    ("netinv_web/objects/markdown.py", "noqa: S704"): "markup of the library, which escapes",
}

# Names of classes that plugins and users know for two things.
TWICE = {
    "Job": "the base class of jobs, and the model",
    "Service": "the model of IPAM, and the service under test",
    "Status": "the model, and the field that refers to one",
}

pytestmark = pytest.mark.any_database


@functools.cache
def modules(package: str, *, revisions: bool = False) -> dict[Path, ast.Module]:
    """The parsed modules of a package by path, with or without its revisions of the database."""
    paths = [path for path in sorted((REPOSITORY / package).rglob("*.py")) if "build" not in path.parts]
    return {path: ast.parse(path.read_text()) for path in paths if revisions or "versions" not in path.parts}


def imported_names(module: ast.Module) -> set[str]:
    """The names that a module imports at its top level."""
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def registrations(module: ast.Module) -> Iterator[tuple[str, int]]:
    """The names of the resources with which a module registers functions when it is imported, with lines."""
    for node in module.body:
        calls = (
            node.decorator_list
            if isinstance(node, ast.FunctionDef)
            else [node.value]
            if isinstance(node, ast.Expr)
            else []
        )
        for call in calls:
            attribute = call.func if isinstance(call, ast.Call) else call
            while isinstance(attribute, ast.Call):
                attribute = attribute.func
            if (
                isinstance(attribute, ast.Attribute)
                and attribute.attr in REGISTRATIONS
                and isinstance(attribute.value, ast.Name)
            ):
                yield attribute.value.id, call.lineno


@pytest.mark.night
@pytest.mark.parametrize("package", PACKAGES)
def test_modules_register_functions_on_import_only_with_resources_of_their_own(package: str) -> None:
    """For those of other modules they have a function ``register``, which the package or the feature calls."""
    others = [
        f"{path.relative_to(REPOSITORY)}:{line} {name}"
        for path, module in modules(package).items()
        for name, line in registrations(module)
        if name in imported_names(module)
    ]
    assert others == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_calls_register_of_every_module_that_has_it(package: str) -> None:
    """In its ``__init__.py``, or in the module of a feature."""
    functions = [
        node for module in modules(package).values() for node in module.body if isinstance(node, ast.FunctionDef)
    ]
    having = [function for function in functions if function.name == "register" and not function.args.args]
    calling = [
        module
        for path, module in modules(package).items()
        if path == REPOSITORY / package / "__init__.py" or path.name == "feature.py"
    ]
    calls = [node.value for module in calling for node in module.body if isinstance(node, ast.Expr)]
    called = [
        call
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "register"
    ]
    assert len(called) == len(having)


# -- imports


def is_type_checking(node: ast.AST) -> bool:
    """True for ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(module: ast.Module, *, top_level: bool = False, run: bool = False) -> Iterator[tuple[str, str]]:
    """The imports of a module as pairs of module and name (blank for ``import module``).

    ``run`` leaves out those for type checkers, which never run. ``top_level`` leaves out those within functions, too,
    which do not run when the module is imported.
    """
    nodes = list(module.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif not ((run or top_level) and is_type_checking(node)) and not (
            top_level and isinstance(node, ast.FunctionDef)
        ):
            nodes += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def module_name(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_the_core_imports_no_application() -> None:
    applications = [package for package in PACKAGES if package != "netinv_core"]
    found = [
        (path.name, name)
        for path, module in modules("netinv_core").items()
        for name, _ in imports(module)
        if name.partition(".")[0] in applications and path not in FORMER_NAMES
    ]
    assert found == []


@pytest.mark.parametrize("package", ENGINE)
def test_a_part_of_the_engine_imports_no_application(package: str) -> None:
    found = {name for module in modules(package).values() for name, _ in imports(module) if name.startswith("netinv_")}
    assert {name.partition(".")[0] for name in found} <= {"netinv_core", *ENGINE}


def test_the_core_names_no_application() -> None:
    """Neither by the names of their packages, nor by their labels and paths, except in docstrings and test input."""
    applications = [package for package in PACKAGES if package not in ["netinv_core", *ENGINE]]
    names = "|".join(package.removeprefix("netinv_") for package in applications)
    pattern = re.compile(rf"netinv_({names})\b|\b({names})\.[a-z]|/api/({names})/|^({names})$")
    named = []
    for path, module in modules("netinv_core").items():
        scopes = [node for node in ast.walk(module) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        docstrings = {id(scope.body[0].value) for scope in scopes if isinstance(scope.body[0], ast.Expr)}
        texts = [
            node
            for node in ast.walk(module)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        ]
        named += [(path.name, text.value) for text in texts if pattern.search(text.value)]
    assert sorted({name for name, _ in named}) == sorted(NAMES_APPLICATIONS)


def test_extras_name_no_model_of_an_application() -> None:
    """Behaviour for models follows from their declarations, and from hooks. The mapping of imports names models of the
    service that is imported.
    """
    applications = {"circuits", "dcim", "ipam", "tenancy", "virtualization"}
    named = [
        (path.name, node.value)
        for path, module in modules("netinv_extras").items()
        if path.name != "netbox.py"
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[a-z]+\.[a-z]+", node.value)
        and node.value.partition(".")[0] in applications
    ]
    assert named == []


def test_a_name_that_is_not_public_is_no_attribute_of_the_core() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        netinv_core.__getattr__("nothing")


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in (REPOSITORY / "plugins").glob("*/netinv_*/__init__.py")),
    ids=lambda folder: folder.name,
)
def test_a_plugin_imports_the_public_api_only(folder: Path) -> None:
    """Of the core its names, of other packages what docs/plugins.md lists, and models and resources."""
    pairs = {pair for path in folder.glob("*.py") for pair in imports(ast.parse(path.read_text()))}
    core = {(module, name) for module, name in pairs if module.startswith("netinv_core")}
    assert core != set()
    assert [pair for pair in core if pair[0] != "netinv_core" or pair[1] not in {"fields", *netinv_core._MODULES}] == []
    others = {
        pair
        for pair in pairs - core
        if re.match(r"netinv_(?!core)", pair[0]) and pair[0].partition(".")[0] != folder.name
    }
    assert [pair for pair in sorted(others) if not (is_public(*pair) or is_model(*pair))] == []


def is_public(module: str, name: str) -> bool:
    """True for what the table of the public API lists of a package: a module, or names of one."""
    return any(name in names or "*" in names for public, names in PUBLIC_MODULES.items() if public == module)


def is_model(module: str, name: str) -> bool:
    """True for a model or a resource of another package. Optional ones are not installed here: their source tells."""
    optional = REPOSITORY / "plugins" / module.partition(".")[0] / f"{module.replace('.', '/')}.py"
    if optional.exists():
        classes = [node for node in ast.parse(optional.read_text()).body if isinstance(node, ast.ClassDef)]
        return any(node.name == name and "__tablename__" in ast.unparse(node) for node in classes)
    value = getattr(importlib.import_module(module), name)
    return isinstance(value, Resource) or (isinstance(value, type) and issubclass(value, Base))


@pytest.mark.parametrize("package", sorted({*PACKAGES} - {"netinv_core", *ENGINE}))
def test_an_application_imports_nothing_private_of_the_core(package: str) -> None:
    """The built-in applications are released with the core, so they may use more of it than the public API."""
    pairs = {
        pair for module in modules(package).values() for pair in imports(module) if pair[0].startswith("netinv_core")
    }
    assert sorted(pair for pair in pairs if pair[1].startswith("_")) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_do_not_import_each_other_in_a_circle(package: str) -> None:
    """Imports within functions count, except in a few packages; those for type checkers do not run."""
    names = {module_name(path): module for path, module in modules(package).items()}
    graph = {}
    for name, module in names.items():
        pairs = imports(module, top_level=package in TIED, run=True)
        submodules = [(".".join(filter(None, pair)), pair[0]) for pair in pairs]
        targets = {submodule if submodule in names else parent for submodule, parent in submodules}
        graph[name] = targets & names.keys() - {name}
    graphlib.TopologicalSorter(graph).prepare()


def test_a_folder_of_the_core_imports_those_of_the_layers_below_it() -> None:
    """Imports for type checkers may name any class."""
    folders = {path.parent.name for path in (REPOSITORY / "netinv_core").glob("*/__init__.py")} - {"testing"}
    assert folders == set(LAYERS)
    upward = [
        (path.relative_to(REPOSITORY).as_posix(), ".".join(pair))
        for path, module in modules("netinv_core").items()
        if (folder := path.relative_to(REPOSITORY).parts[1]) in folders
        for pair in imports(module, run=True)
        if pair[0].partition(".")[0] == "netinv_core"
        and ".".join(pair).split(".")[1] in LAYERS[LAYERS.index(folder) + 1 :]
    ]
    assert upward == []


@pytest.mark.night
def test_public_names_are_those_that_were_recorded() -> None:
    """A plugin that was written before still loads. A change is listed in the changelog, and recorded by
    ``python -m release.public_names``.
    """
    assert public_names.names() == public_names.RECORDED.read_text().split()


@pytest.mark.parametrize("folder", ["tests", "plugins"])
def test_no_module_of_tests_imports_another(folder: str) -> None:
    """Helpers that several modules use are in ``tests/support``."""
    imported = {
        (str(path), part)
        for path, module in modules(folder).items()
        for pair in imports(module)
        for part in ".".join(pair).split(".")
    }
    assert sorted(pair for pair in imported if pair[1].startswith("test_")) == []


# -- size and suppressions


@pytest.mark.parametrize("package", [*PACKAGES, "plugins", "compare", "bench"])
def test_functions_are_short(package: str) -> None:
    """Functions of at most 50 lines."""
    functions = [
        (path, node)
        for path, module in modules(package).items()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
    ]
    assert [(str(path), node.name) for path, node in functions if (node.end_lineno or 0) - node.lineno >= 50] == []


@pytest.mark.parametrize("package", [*PACKAGES, "plugins", "compare", "bench"])
def test_warnings_of_the_tools_are_suppressed_only_where_it_is_listed(package: str) -> None:
    found = {
        (str(path.relative_to(REPOSITORY)), code)
        for path in modules(package)
        for code in re.findall(r"#\s*(noqa(?:: \w+)?|type: ignore(?:\[[\w-]+\])?|pragma: no cover)", path.read_text())
    }
    assert found == {key for key in SUPPRESSIONS if key[0].startswith(f"{package}/")}


# -- requirements


def distribution_names(names: Iterable[str]) -> set[str]:
    """Names of distributions in one spelling."""
    return {re.sub(r"[-_.]+", "-", Requirement(name).name).lower() for name in names}


def third_party(package: str) -> Iterator[tuple[list[str], set[str]]]:
    """The modules that a package imports from other distributions when it runs, with the distributions that have them,
    and the extras that the module belongs to.
    """
    # python-ldap is compiled, so it need not be installed beside the service.
    providers = {"ldap": ["python-ldap"], **importlib.metadata.packages_distributions()}
    for path, module in modules(package, revisions=True).items():
        for name, _ in imports(module, run=True):
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top != package:
                distributions = ["zope.sqlalchemy"] if name.startswith("zope.sqlalchemy") else providers.get(top, [top])
                place = path.relative_to(REPOSITORY / package)
                extras = [EXTRAS[name] for name in (place.as_posix(), *place.parts) if name in EXTRAS]
                yield extras, distribution_names(distributions)


def project(package: str) -> dict[str, Any]:
    """The table ``project`` of the distribution in a folder."""
    declared: dict[str, Any] = tomllib.loads((REPOSITORY / package / "pyproject.toml").read_text())["project"]
    return declared


def extras_of(package: str) -> dict[str, list[str]]:
    """The requirements of each extra of the distribution in a folder."""
    extras: dict[str, list[str]] = project(package).get("optional-dependencies", {})
    return extras


@pytest.mark.night
@pytest.mark.parametrize("package", PACKAGES)
def test_install_requires_is_what_is_imported(package: str) -> None:
    required = distribution_names(project(package)["dependencies"])
    extras = {name: distribution_names(lines) for name, lines in extras_of(package).items()}
    imported: set[str] = set()
    for names, distributions in third_party(package):
        possible = required.union(*(extras.get(name, set()) for name in names))
        assert distributions & possible, f"{distributions} is imported, but not required"
        imported |= distributions
    unused = (required | set().union(*extras.values())) - imported
    assert unused <= NOT_IMPORTED.get(package, set())


def test_applications_need_neither_imports_nor_commands() -> None:
    needed, waiting = set(), [f"netinv_{name}" for name in ("extras", "dcim", "ipam", "circuits", "tenancy", "virt")]
    while waiting:
        names = distribution_names(project(waiting.pop())["dependencies"])
        own = {name.replace("-", "_") for name in names if name.startswith("netinv-")}
        waiting += own - needed
        needed |= own
    assert "netinv_core" in needed
    assert not needed & {"netinv_admin", "netinv_import", "netinv_testing", "netinv_web"}


def test_netinv_has_every_extra_of_the_core() -> None:
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    extras = {line for lines in config["options.extras_require"].values() for line in lines.split()}
    of_core = {line for line in extras if line.startswith("netinv-core")}
    assert of_core == {f"netinv-core[{name}]" for name in extras_of("netinv_core") if name != "testing"}


def test_a_module_that_needs_an_extra_of_the_core_is_imported_when_it_is_needed() -> None:
    """The service runs without the extra."""
    names = {f"netinv_core.{path.removesuffix('.py').replace('/', '.')}" for path in EXTRAS if path.endswith(".py")}
    imported = {
        name
        for module in modules("netinv_core").values()
        for pair in imports(module, top_level=True)
        for name in (pair[0], ".".join(pair))
    }
    assert names & imported == set()


def test_the_locks_have_every_library_that_the_distributions_declare_once() -> None:
    runtime, development = (distribution_names(lock.read_text().splitlines()) for lock in (RUNTIME, DEVELOPMENT))
    assert runtime & development == set()
    assert distribution_names(declared(testing=False)) <= runtime
    assert distribution_names(declared(testing=True)) <= runtime | development


# -- databases

DIALECTS = {"postgresql", "mysql", "mariadb", "sqlite"}
DRIVERS = "netinv_core/driver/"
OF_SERVERS = "netinv_testing/databases.py"  # makes the databases of tests, on each server in its way
# Elsewhere: the scheme of the URL of a queue.
MAX_COMPARISONS = 1
PUBLIC = {"_mapping", "_asdict", "_replace", "_fields", "_make"}  # of rows and named tuples
# Private attributes of other libraries, by module.
PUBLIC_CLASSES = {  # of which undocumented attributes are taken
    ("sqlalchemy", "Select"),
    ("sqlalchemy.engine", "Engine"),
    ("sqlalchemy.engine", "Dialect"),
    ("sqlalchemy.exc", "DBAPIError"),
    ("psycopg", "Connection"),
}
FOREIGN = {
    "netinv_core/driver/data_manager.py": {"_SESSION_STATE", "_retryable_errors"},  # zope.sqlalchemy
    "netinv_outgoing/guarded_http.py": {"_dns_host"},  # urllib3
    "netinv_core/package_views.py": {"_conflicts"},  # Pyramid
    "netinv_admin/commands/cli.py": {"_exit"},  # os
    "netinv_core/packages.py": {"_current_frames"},  # sys
    "netinv_extras/jobs/child.py": {"_exit"},  # os
    "netinv_extras/jobs/forkserver.py": {"_exit"},  # os
}


def all_modules() -> dict[str, ast.Module]:
    """The modules of all packages by their paths within the repository."""
    found = [item for package in PACKAGES for item in modules(package).items()]
    return {path.relative_to(REPOSITORY).as_posix(): module for path, module in found}


def compares_dialect(node: ast.AST) -> bool:
    """True for a comparison with the name of a dialect."""
    names = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return isinstance(node, ast.Compare) and not DIALECTS.isdisjoint({name for name in names if isinstance(name, str)})


def test_dialects_are_compared_by_their_drivers_alone() -> None:
    """Others ask the driver of the database what it does (:mod:`netinv_core.driver`)."""
    elsewhere = [item for item in all_modules().items() if not item[0].startswith((DRIVERS, OF_SERVERS))]
    found = [f"{path}:{node.lineno}" for path, tree in elsewhere for node in ast.walk(tree) if compares_dialect(node)]  # type: ignore[attr-defined]
    assert 0 < len(found) <= MAX_COMPARISONS, found


def defined_names(module: ast.Module) -> Iterator[str]:
    """The names that a module defines or imports, also as attributes."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_private_attributes_of_libraries_are_used_in_one_module() -> None:
    """Those of SQLAlchemy and psycopg are in ``netinv_core/driver/undocumented.py``, which has them as texts."""
    own = {name for module in all_modules().values() for name in defined_names(module)} | PUBLIC
    found: dict[str, set[str]] = {}
    for path, module in all_modules().items():
        for node in ast.walk(module):
            is_private = isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr)
            if is_private and node.attr not in own:
                found.setdefault(path, set()).add(node.attr)
    assert found == FOREIGN


def test_undocumented_names_of_drivers_are_used_in_one_module() -> None:
    """Other modules take them from ``netinv_core/driver/undocumented.py``, which tells what a release lacks."""
    names = {tuple(name.partition(":")[::2]) for name in undocumented.TAKEN}
    classes = {(module, path.partition(".")[0]) for module, path in names if "." in path} - names
    assert classes == PUBLIC_CLASSES
    found = set()
    for path, module in all_modules().items():
        for node in ast.walk(module):
            if (isinstance(node, ast.ImportFrom) and {(node.module, alias.name) for alias in node.names} & names) or (
                isinstance(node, ast.Attribute) and node.attr == "dispatch"
            ):
                found.add(path)
    assert found == {"netinv_core/driver/results.py", "netinv_core/driver/undocumented.py"}  # the first for a type


CACHES = {"cache", "lru_cache", "cachetools", "LRUCache", "TTLCache", "WeakKeyDictionary", "WeakValueDictionary"}


def names_of_caches(module: ast.Module) -> Iterator[str]:
    """The names of caches of libraries that a module uses."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from {node.attr} & CACHES if node.value.id in ("functools", "cachetools", "weakref") else ()
        elif isinstance(node, ast.ImportFrom) and node.module in ("functools", "cachetools", "weakref"):
            yield from {alias.name for alias in node.names} & CACHES


def test_a_cache_is_bounded_by_size_or_belongs_to_a_registry() -> None:
    """There are two kinds: ``netinv_core.caches`` and ``netinv_core.registry_cache``."""
    found = {path: names for path, module in all_modules().items() if (names := set(names_of_caches(module)))}
    assert found == {"netinv_core/caches.py": {"LRUCache", "lru_cache"}}


def test_a_name_is_that_of_one_class() -> None:
    """Two classes of one name mislead who reads a traceback, an annotation or the index of an editor."""
    found: dict[str, list[str]] = {}
    for path, module in ((path, module) for package in PACKAGES for path, module in modules(package).items()):
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(path.relative_to(REPOSITORY).as_posix())
    homonyms = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert homonyms.keys() == TWICE.keys(), {name: paths for name, paths in homonyms.items() if name not in TWICE}
