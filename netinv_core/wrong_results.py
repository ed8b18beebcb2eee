"""Results of functions of packages that are not what their declaration promises, so that a request fails on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

PLAIN = (str, bool, float, type(None))
MAX_SEARCHED = 10_000  # values of an answer


class WrongResult(TypeError):
    """A wrong result. Its source is the ``package``, or whatever has the ``module``."""

    def __init__(self, message: str, *, module: str = "", package: str = "") -> None:
        super().__init__(message)
        self.module, self.package = module, package


class WithoutJsonForm(TypeError):
    """The error of a ``value`` that JSON cannot hold, which ``dumps`` raises ``TypeError`` for."""

    def __init__(self, reason: TypeError, value: Any, dumps: Callable[[Any], bytes]) -> None:
        super().__init__(str(reason))
        self._value, self._dumps = value, dumps

    def sources(self, registry: Registry) -> tuple[str, str | None]:
        """The module of the type of what cannot be written, and the package that attached a field with the name that
        it has to any resource, if only one did.
        """
        names, found = _path(self._value, self._dumps)
        given = [endpoint.givers.get(("field", name)) for endpoint in registry.endpoints.values() for name in names]
        plugins = {package for package in given if package is not None and registry.is_plugin(package)}
        return type(found).__module__, plugins.pop() if len(plugins) == 1 else None


def wrong_result(function: Callable[..., Any], result: Any, expected: str) -> WrongResult:
    """The error of a function that returns anything else than is expected of it."""
    name = getattr(function, "__qualname__", repr(function))
    message = f"{name} returns {type(result).__name__} instead of {expected}"
    return WrongResult(message, module=getattr(function, "__module__", None) or "")


def checked_in_json(package: str, declared: str, dumps: Callable[[Any], bytes]) -> Callable[[Any], Any]:
    """A function that returns a value of a package as it is.

    It raises ``WrongResult`` for what JSON cannot hold.
    """

    def check(value: Any) -> Any:
        if not isinstance(value, PLAIN):
            try:
                dumps(value)
            except TypeError as error:
                message = f"{declared} is {type(value).__name__}, which JSON cannot hold"
                raise WrongResult(message, package=package) from error
        return value

    return check


def without_json_form(endpoint: Endpoint | None, value: Any, dumps: Callable[[Any], bytes]) -> WrongResult | None:
    """The error of a value in a representation that JSON cannot hold. ``None`` where no plugin gave the field.

    :param dumps: raises ``orjson.JSONEncodeError`` for such a value
    """
    if endpoint is None:
        return None
    names, found = _path(value, dumps)
    registry = endpoint.registry
    package = next((giver for name in names if (giver := endpoint.givers.get(("field", name)))), endpoint.package)
    if not registry.is_plugin(package):
        return None
    message = f"{'.'.join(names)} of {endpoint.label} is {type(found).__name__}, which JSON cannot hold"
    return WrongResult(message, package=package)


def _path(value: Any, dumps: Callable[[Any], bytes]) -> tuple[list[str], Any]:
    """The names that lead to the first value that cannot be written, and the value."""
    names: list[str] = []
    for _ in range(MAX_SEARCHED):
        members = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
        )
        bad = next(((name, member) for name, member in members if not _is_written(member, dumps)), None)
        if bad is None:
            break
        names += [str(bad[0])] if isinstance(value, dict) else []
        value = bad[1]
    return names, value


def _is_written(value: Any, dumps: Callable[[Any], bytes]) -> bool:
    try:
        dumps(value)
    except orjson.JSONEncodeError:
        return False
    return True
