"""Parameters of lists, representations and writes, refused where they mean nothing (``netinv.strict_filtering``).

Lists and objects check the parameters of GET as filters (:mod:`netinv_core.read.listing`). Writes, actions and views
beside resources refuse those that they do not know: who sends ``dryrun`` expects that nothing is written, who sends
``afer`` to a feed, that it begins there. Writes ignore ``limit`` and ``offset``, which clients of version 1 send.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http import dry_run, sparse_fields
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import single_value
from netinv_core.nearest import nearest
from netinv_core.read import entity_tags, past_states
from netinv_core.read.filters import UNKNOWN
from netinv_core.read.ordering import PARAMETER as ORDERING
from netinv_core.read.pages import COUNT, CURSOR
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.item_results import ON_ERROR
from netinv_core.write.upsert import MATCH

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

LIMIT, OFFSET, INCLUDE = "limit", "offset", "include"
STANDARD = frozenset({LIMIT, OFFSET, CURSOR, COUNT, ORDERING, INCLUDE, sparse_fields.PARAMETER})
# Clients of version 1 send these with every request.
SENT_WITH_WRITES = frozenset({LIMIT, OFFSET})
# Parameters of some methods of resources.
OF_LISTS_OF_WRITES = frozenset({MATCH, ON_ERROR})
OF_NAMES = frozenset({ORDERING, INCLUDE, sparse_fields.PARAMETER, "exclude", MATCH})  # those of all repetitions count
OF_READS = frozenset({past_states.PARAMETER, "brief", "exclude"})
# Parameters of every request, beside ``dry_run`` and ``change_request``, which are taken off the query before its view.
OF_ALL = frozenset({"api_version", "format"})
OF_WRITES = OF_ALL | SENT_WITH_WRITES
# What a write with a parameter of another name may mean, also where unknown parameters are ignored: a header too.
HEADERS = frozenset({"the header If-Match", "the header Idempotency-Key", "the header X-Change-Request"})
MEANT = frozenset({dry_run.PARAMETER, "change_request", ON_ERROR, MATCH})
LIKENESS, LIKENESS_OF_HEADERS = 0.8, 0.9  # of names that are one name misspelt; of headers with the words before it
NO_CHOICE = "Select a valid choice. {} is not one of the available choices."
NOT_HERE = "This parameter has no effect on this method of this path."
View = Callable[[Request], Any]


def is_strict(uow: RequestUnitOfWork) -> bool:
    """True where parameters without a meaning are refused."""
    return bool(uow.registry.settings["strict_filtering"])


def refuse(uow: RequestUnitOfWork, names: Collection[str]) -> None:
    """Refuses these parameters.

    :raises Invalid: naming those that the query has
    """
    if is_strict(uow) and (found := sorted(uow.query.keys() & names)):
        raise Invalid({name: [UNKNOWN] for name in found})


def refuse_unknown(uow: RequestUnitOfWork, known: Collection[str], *, writes: bool) -> None:
    """Refuses the parameters that are not known; unless strict, those of a write that nearly are the names of known
    ones.

    :raises Invalid: naming them, and what they may mean
    """
    strict, errors = is_strict(uow), {}
    for name in sorted(uow.query.keys() - known) if strict or writes else ():
        meant = _nearest_parameter(name, known, writes=writes)
        if meant is not None:
            errors[name] = [f"{UNKNOWN}. Did you mean {meant}?"]
        elif strict:
            errors[name] = [UNKNOWN]
    if errors:
        raise Invalid(errors)


def _nearest_parameter(name: str, known: Collection[str], *, writes: bool) -> str | None:
    """The parameter that an unknown one may mean; for a write also a parameter or header of writes."""
    if not writes:
        return nearest(name, known, LIKENESS)
    header = nearest(f"the header {name}", HEADERS, LIKENESS_OF_HEADERS)
    return header or nearest(name, MEANT.union(known), LIKENESS)


def with_parameters(
    view: View, documented: Sequence[Mapping[str, Any]], names: Collection[str] = (), *, filtered: bool = False
) -> View:
    """The view, after a check of the parameters of its request.

    Parameters that are no arrays in ``documented`` may have one value.

    :param documented: OpenAPI parameters of the view, which it takes
    :param names: names of further parameters that it takes
    :param filtered: it also takes the filters of a list, which it checks itself
    :raises Invalid: naming other parameters
    """
    schemas = {parameter["name"]: parameter["schema"] for parameter in documented}
    single = [name for name in schemas.keys() - OF_NAMES if schemas[name].get("type") != "array"]
    names = {*names, *schemas}
    refused = (STANDARD | OF_READS | OF_LISTS_OF_WRITES).difference(names)
    of_reads, of_writes = OF_ALL.union(names), OF_WRITES.union(names)

    @functools.wraps(view)
    def wrapper(request: Request) -> Any:
        if request.uow.query:
            if filtered:
                refuse(request.uow, refused)
            else:
                writes = request.method in UNSAFE_METHODS
                refuse_unknown(request.uow, of_writes if writes else of_reads, writes=writes)
            for name in single:
                single_value(request.uow.query, name)
        return view(request)

    return wrapper


def with_write_parameters(view: View, *names: str) -> View:
    """The view of a write of a resource, which takes ``include`` and the other parameters ``names``."""
    misplaced = OF_LISTS_OF_WRITES.difference(names)
    known = OF_WRITES.union(names, {INCLUDE})

    @functools.wraps(view)
    def wrapper(request: Request) -> Any:
        if request.uow.query:
            if found := sorted(request.uow.query.keys() & misplaced):
                raise Invalid({name: [NOT_HERE] for name in found})
            refuse_unknown(request.uow, known, writes=True)
            check_included(request.uow, request.context.endpoint)
        return view(request)

    return wrapper


def check_included(uow: RequestUnitOfWork, endpoint: Endpoint) -> frozenset[str]:
    """Returns the names that the query includes.

    Names that only other resources show on request are accepted: clients send one parameter to all resources.

    :raises Invalid: for any other name that is no field of the resource
    """
    names = frozenset(filter(None, uow.query.get(INCLUDE, ())))
    if names and is_strict(uow):
        check_names(INCLUDE, names, {*endpoint.fields, *_opt_in(endpoint.registry), entity_tags.INCLUDED})
    return names


@cached_in_registry
def _opt_in(registry: Registry) -> frozenset[str]:
    """The fields of any resource that a request must ask for."""
    return frozenset(name for endpoint in registry.endpoints.values() for name in endpoint.opt_in)


def check_names(parameter: str, names: Collection[str], choices: Collection[str]) -> None:
    """Checks the values of a parameter.

    :raises Invalid: naming the parameter, for values that are none of the choices
    """
    unknown = sorted({*names}.difference(choices))
    if unknown:
        raise Invalid.field(parameter, *map(NO_CHOICE.format, unknown))
