"""Readers of running services: every list of the REST API of a NetBox or Nautobot becomes a part of a dump."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from netinv_core.importing.dump import Declaration, Dump, Excluded
from netinv_import.representations import fields_of, singular
from netinv_import.rest import ListDenied, NotAList, RestClient

OTHERS = frozenset({"status", "docs", "graphql", "schema", "swagger", "redoc", "authentication-check", "ui"})
OTHER_PATHS = """
connected-device console-connections power-connections interface-connections tagged-objects object-types
content-types installed-plugins background-queues background-tasks background-workers config
"""
PLUGINS = "plugins"
NO_LISTS = frozenset(OTHER_PATHS.split())


class Lists:
    """The lists of a service, by path (``dcim/sites``)."""

    def __init__(self, client: RestClient, product: str) -> None:
        self.client = client
        self.version = _version(client, product)

    def paths(self) -> Iterator[str]:
        """Yields the paths of all lists."""
        for app in sorted(self.client.get("")):
            if app == PLUGINS:
                for plugin in self._list_names(PLUGINS):
                    yield from (f"{PLUGINS}/{plugin}/{name}" for name in self._list_names(f"{PLUGINS}/{plugin}"))
            elif app not in OTHERS:
                yield from (f"{app}/{name}" for name in self._list_names(app))

    def _list_names(self, path: str) -> list[str]:
        """Returns the names that the answer at a path has addresses for; none where it is another answer."""
        try:
            listed = self.client.get(f"{path}/")
        except NotAList:
            return []
        if not isinstance(listed, dict) or not all(isinstance(address, str) for address in listed.values()):
            return []
        return [name for name in sorted(listed) if "/" not in name and name not in NO_LISTS]


def read(
    client: RestClient,
    product: str,
    declarations: Callable[[str], Mapping[str, Declaration]],
    advance: Callable[[str], None],
    label_of: Callable[[str], str] = singular,
) -> tuple[Dump, str]:
    """Reads all lists; returns the dump and the version of the service.

    ``declarations(version)`` returns how the models are mapped. Models that are not imported are counted, not read;
    lists that the token may not read are too few to be silent about: they are an error.

    :raises ValueError: when the service cannot be read, is another one, or denies a list
    """
    lists = Lists(client, product)
    declared = declarations(lists.version)
    dump = Dump()
    for path in lists.paths():
        label = label_of(path)
        advance(label)
        declaration = declared.get(label)
        counted = declaration is None or (isinstance(declaration, Excluded) and not declaration.fields)
        try:
            if counted:
                dump.rows(label).update({f"no. {n}": {} for n in range(1, client.count(f"{path}/") + 1)})
                continue
            rows = dump.rows(label)
            for page in client.pages(f"{path}/"):
                for item in page:
                    rows[item["id"]] = fields_of(label, item, label_of, dump.references)
        except NotAList:
            if not counted:
                raise ValueError(f"{client.url}/api/{path}/ does not answer with a list") from None
        except ListDenied:
            if not counted and not isinstance(declaration, Excluded):
                raise
    return dump, lists.version


def products_of(client: RestClient) -> dict[str, str]:
    """Returns the versions of the products that a service says it is, by name (``nautobot``)."""
    try:
        status = client.get("status/", attempts=2)
    except NotAList:
        return {}
    if not isinstance(status, dict):
        return {}
    named = {name.removesuffix("-version"): version for name, version in status.items() if name.endswith("-version")}
    return {name: version for name, version in named.items() if isinstance(version, str)}


def _version(client: RestClient, product: str) -> str:
    """Returns the version of a service.

    :raises ValueError: when it is not the product that is expected
    """
    version = products_of(client).get(product.lower())
    if version is None:
        raise ValueError(f"{client.url} is not a {product}: /api/status/ does not name its version")
    return version
