"""Checks of what hooks of plugins return, at the start: the annotation of the specification says what that is.

Otherwise the package that asks for it would fail, at the start or for a request. Classes are compared by their names:
modules with specifications import them for annotations only.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import declared_types
from netinv_core.declaration_checks import DeclarationError, check_call

if TYPE_CHECKING:
    from netinv_core.registry import Registry

OF_SERVICE, OF_RESOURCE = frozenset({"registry"}), frozenset({"registry", "endpoint"})
# Those that the registry checks itself, and calls once only.
CHECKED = frozenset({"netinv_fields", "netinv_filters", "netinv_relations", "netinv_rules"})
OF_PAGES = "netinv_web_"  # which the interface checks
_SHAPE = re.compile(r"(Iterable|Mapping)\[(?:str, )?(.+)\]")


def check(registry: Registry, parameters: frozenset[str]) -> None:
    """Calls the hooks with these parameters, :data:`OF_SERVICE` or :data:`OF_RESOURCE`, of each plugin that has them.

    :raises PackageError: for results of another type
    """
    for name in sorted(vars(registry.hooks)):
        caller = getattr(registry.hooks, name)
        if not name.startswith("netinv_") or name.startswith(OF_PAGES) or name in CHECKED or not caller.has_spec():
            continue
        function = caller.spec.function
        shape = _SHAPE.fullmatch(inspect.signature(function).return_annotation or "")
        if shape is None or inspect.signature(function).parameters.keys() != parameters:
            continue
        for package, own in registry.callers(name):
            if registry.is_plugin(package):
                with registry.failures.of(package):
                    for arguments in _arguments(registry, parameters):
                        for result in own(**arguments):
                            check_result(name, result, *shape.groups())
    registry.failures.check()


def _arguments(registry: Registry, parameters: frozenset[str]) -> Iterator[dict[str, Any]]:
    if parameters == OF_SERVICE:
        yield {"registry": registry}
    else:
        yield from ({"registry": registry, "endpoint": endpoint} for endpoint in registry.endpoints.values())


def check_result(hook: str, result: Any, shape: str, item_type: str) -> None:
    """Checks what a hook returns.

    :raises DeclarationError: for another type than is specified
    """
    is_mapping = shape == "Mapping"
    if not isinstance(result, Mapping if is_mapping else Iterable) or isinstance(result, str):
        expected = "a mapping" if is_mapping else "a list"
        raise DeclarationError(f"{hook} returns {type(result).__name__} instead of {expected} of {item_type}")
    for item in result.values() if isinstance(result, Mapping) and is_mapping else result:
        if not _is_a(item, item_type):
            raise DeclarationError(f"{hook} returns {_describe(item)} instead of {item_type}")
        check_values(hook, item)


def check_values(hook: str, item: Any) -> None:
    """Checks the values and the functions of a dataclass that a hook returns.

    :raises DeclarationError: for one of another type
    """
    check_functions(item)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        for mistake in declared_types.mistakes(item):
            raise DeclarationError(f"{hook} returns {mistake}")


def check_functions(item: Any) -> None:
    """Checks the functions of a dataclass: the annotation of each says how many parameters it is called with.

    :raises DeclarationError: for one that cannot be called so
    """
    if not dataclasses.is_dataclass(item) or isinstance(item, type):
        return
    for field in dataclasses.fields(item):
        annotation, function = _annotation(type(item), field), getattr(item, field.name)
        if not annotation.startswith("Callable") or (function is None and annotation.endswith("None")):
            continue
        declared = f"{field.name} of {type(item).__name__}"
        if not callable(function):
            raise DeclarationError(f"{declared} is {function!r}; expected a function")
        check_call(declared, function, _count(annotation))


def _annotation(kind: type, field: dataclasses.Field[Any]) -> str:
    """The annotation of a field; of an alias such as ``Content`` in its module, what it stands for."""
    alias = vars(sys.modules[kind.__module__]).get(str(field.type))
    return str(field.type if alias is None else alias).removeprefix("collections.abc.")


def _count(annotation: str) -> int | None:
    """The number of parameters in ``Callable[[…], …]``; ``None`` where it is open."""
    if not annotation.startswith("Callable[["):
        return None
    parameters, depth, count = annotation.removeprefix("Callable[["), 0, 1
    for place, sign in enumerate(parameters):
        if sign == "]" and depth == 0:
            return count if place else 0
        depth += (sign == "[") - (sign == "]")
        count += sign == "," and depth == 0
    return None


def _is_a(item: Any, name: str) -> bool:
    if name == "Any":
        return True
    if name.startswith("Callable"):
        return callable(item)
    if name.startswith("type["):
        return inspect.isclass(item) and name[5:-1] in {base.__name__ for base in item.__mro__}
    return name in {base.__name__ for base in type(item).__mro__}


def _describe(item: Any) -> str:
    return f"the class {item.__name__}" if inspect.isclass(item) else type(item).__name__
