"""JSON Schema validation (draft 7) of user-defined schemas, bounded by the CPU time budget of a unit of work.

The keywords with regular expressions are replaced, because those of ``jsonschema`` backtrack without limit. Its
``uniqueItems`` is replaced because it compares every pair of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import orjson
from jsonschema import Draft7Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry as References
from referencing.exceptions import Unresolvable

from netinv_core import patterns
from netinv_core.caches import lru_cache
from netinv_core.patterns import Budget

KEYWORDS_PER_BUDGET_CHECK = 16
_budget: ContextVar[Budget] = ContextVar("netinv_json_schema_budget")
_formats = FormatChecker(())


def _is_pattern(value: Any) -> bool:
    if isinstance(value, str):
        patterns.check(value)
    return True


_formats.checks("regex", ValueError)(_is_pattern)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, schemas: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    for name, value in instance.items() if isinstance(instance, dict) else ():
        for pattern, inner in schemas.items():
            if _matches(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    properties, property_patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [
        name
        for name in instance
        if name not in properties and not any(_matches(pattern, name) for pattern in property_patterns)
    ]
    if isinstance(allowed, dict):
        for name in extra:
            yield from validator.descend(instance[name], allowed, path=name)
    elif allowed is False and extra:
        names = ", ".join(map(repr, sorted(extra)))
        verb = "was" if len(extra) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({names} {verb} unexpected)")


def _unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(instance, list) and len(set(map(_canonical, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _canonical(value: Any) -> bytes:
    """Returns a key that is equal for equal JSON values: 1 and 1.0 are equal, 1 and true are not."""
    return orjson.dumps(_with_integers(value), option=orjson.OPT_SORT_KEYS)


def _with_integers(value: Any) -> Any:
    """Returns the value with integral floats as integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return list(map(_with_integers, value))
    if isinstance(value, dict):
        return {name: _with_integers(item) for name, item in value.items()}
    return value


def _matches(pattern: str, text: str) -> bool:
    return _budget.get().search_within(pattern, text)


class _Countdown:
    """Counter of evaluated keywords that checks the CPU time budget every few keywords; each time would cost more."""

    def __init__(self) -> None:
        self.left = KEYWORDS_PER_BUDGET_CHECK

    def tick(self) -> None:
        self.left -= 1
        if self.left <= 0:
            self.left = KEYWORDS_PER_BUDGET_CHECK
            _budget.get().check()


_countdown: ContextVar[_Countdown] = ContextVar("netinv_json_schema_countdown")


def _bound_keyword(keyword: Callable[..., Any]) -> Callable[..., Any]:
    def evaluate(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _countdown.get().tick()
        return keyword(validator, value, instance, schema)

    return evaluate


_REPLACED = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
_KEYWORDS = {**Draft7Validator.VALIDATORS, **_REPLACED}
_Validator: Any = extend(Draft7Validator, {name: _bound_keyword(function) for name, function in _KEYWORDS.items()})


@lru_cache("config context schemas", 256)
def _validator(schema: bytes) -> Any:
    """Returns a cached validator for a schema. References to other documents are not resolved: nothing is fetched."""
    return _Validator(_shortest_first(orjson.loads(schema)), registry=References())


def _shortest_first(schema: Any) -> Any:
    """Returns the schema with its keywords sorted by length.

    The first error is the same on every database, and ``type`` comes before the keywords that depend on it.
    """
    if isinstance(schema, list):
        return list(map(_shortest_first, schema))
    if isinstance(schema, dict):
        return {name: _shortest_first(schema[name]) for name in sorted(schema, key=lambda name: (len(name), name))}
    return schema


def schema_error(schema: Any, budget: Budget) -> str | None:
    """Returns the reason why a document is not a JSON Schema, or ``None`` if it is one."""
    return _within_budget(budget, lambda: _schema_error(schema))


def _schema_error(schema: Any) -> str | None:
    try:
        _Validator.check_schema(schema, format_checker=_formats)
    except SchemaError as error:
        return str(error.cause or error.message)
    return None


def data_error(data: Any, schema: Any, budget: Budget) -> str | None:
    """Returns the first reason why data is not valid by a schema, or ``None`` if it is."""
    return _within_budget(budget, lambda: _data_error(data, schema))


def _data_error(data: Any, schema: Any) -> str | None:
    validator = _validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))
    return next((str(error.message) for error in validator.iter_errors(data)), None)


def _within_budget(budget: Budget, validate: Callable[[], str | None]) -> str | None:
    """Runs a validation with the CPU time budget; returns its error, or the reason why it could not finish."""
    tokens = _budget.set(budget), _countdown.set(_Countdown())
    try:
        with budget.spending():
            return validate()
    except patterns.PatternTimeout:
        return "Validation by this schema takes too long."
    except Unresolvable as error:
        return f"The schema refers to something outside of it: {error.ref}"
    except RecursionError:
        return "The schema refers to itself without end."
    except (ValueError, ArithmeticError, TypeError) as error:
        return f"The schema cannot be evaluated: {error}"
    finally:
        _budget.reset(tokens[0])
        _countdown.reset(tokens[1])
