"""Command that lists the functions which packages run on writes of a resource."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from netinv_core.environment import Environment
from netinv_core.write.referring_rules import ReadingRule, by_target

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


@click.command()
@click.argument("resource", required=False)
@click.pass_obj
def rules(environment: Environment, resource: str | None) -> None:
    """List the rules of RESOURCE, or of all resources, in the order they run.

    RESOURCE is a label (`users.user`) or a path (`users/users`). A write runs the functions of `prepare`, `rule` and
    `after_save` in this order, a deletion those of `before_delete`, including those that other packages add. Each is
    printed with its module and the first line of its docstring.
    """
    for endpoint in _endpoints(environment.registry, resource):
        phases = [(phase, functions) for phase, functions in _phases(endpoint) if functions]
        if not phases and resource is None:
            continue
        click.echo(f"{endpoint.label} ({endpoint.path})")
        for phase, functions in phases:
            click.echo(f"  {phase}")
            for function in functions:
                click.echo(f"    {_describe(function)}")


def _endpoints(registry: Registry, resource: str | None) -> Sequence[Endpoint]:
    """Returns the endpoint with a label or path; all endpoints without one.

    :raises click.ClickException: for an unknown resource
    """
    if resource is None:
        return [registry.endpoints[label] for label in sorted(registry.endpoints)]
    app, _, name = resource.strip("/").removeprefix("api/").rpartition("/")
    endpoint = registry.by_path.get((app.removeprefix("plugins/"), name)) or registry.get(resource)
    if endpoint is None:
        raise click.ClickException(f"no resource is called {resource!r}; name it as users.user or users/users")
    return [endpoint]


def _phases(endpoint: Endpoint) -> Iterator[tuple[str, Sequence[Callable[..., Any]]]]:
    """Yields the phases of a write and of a deletion, each with its functions."""
    resource = endpoint.resource
    yield "prepare", endpoint.preparations
    yield "rule", endpoint.rules
    referring = by_target(endpoint.registry).get(endpoint.table, ())
    yield "rule of objects that refer to it", list(dict.fromkeys(entry.rule for entry in referring))
    yield "after_save", resource.after_save_functions
    yield "before_delete", resource.before_delete_functions


def _describe(function: Callable[..., Any]) -> str:
    """Returns the module, name and first docstring line of a function, a partial object or a callable instance."""
    while isinstance(function, functools.partial | ReadingRule):
        function = function.func if isinstance(function, functools.partial) else function.function
    named = function if hasattr(function, "__qualname__") else type(function)
    line = next(iter((function.__doc__ or "").strip().splitlines()), "")
    name = f"{named.__module__}.{named.__qualname__.replace('.<locals>', '')}"
    return f"{name}: {line}" if line else name
