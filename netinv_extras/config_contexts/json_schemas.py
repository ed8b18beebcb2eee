"""JSON Schema validation (draft 7) of schemas that users write, within the processor time of a unit of work.

The keywords with regular expressions and ``uniqueItems`` are replaced: those of ``jsonschema`` backtrack without limit,
or compare every pair of items.
"""

from __future__ import annotations

import functools
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
from netinv_core.patterns import Budget

KEYWORDS_BETWEEN_CHECKS = 16
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


def _pattern_properties(validator: Any, schemas: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[ValidationError]:
    for name, value in instance.items() if isinstance(instance, dict) else ():
        for pattern, inner in schemas.items():
            if _matches(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    named, expected = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [name for name in instance if name not in named and not any(_matches(pattern, name) for pattern in expected)]
    if isinstance(allowed, dict):
        for name in extra:
            yield from validator.descend(instance[name], allowed, path=name)
    elif allowed is False and extra:
        listed = ", ".join(map(repr, sorted(extra)))
        yield ValidationError(f"Additional properties are not allowed ({listed} {'was' if len(extra) == 1 else 'were'} unexpected)")


def _unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(instance, list) and len(set(map(_canonical, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _canonical(value: Any) -> bytes:
    """A key that is equal for equal JSON values: 1 and 1.0 are equal, 1 and true are not."""
    return orjson.dumps(_with_whole_numbers(value), option=orjson.OPT_SORT_KEYS)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return list(map(_with_whole_numbers, value))
    return {name: _with_whole_numbers(item) for name, item in value.items()} if isinstance(value, dict) else value


def _matches(pattern: str, text: str) -> bool:
    return _budget.get().search_within(pattern, text)


class _Countdown:
    """Checks the budget once in a number of evaluated keywords, which is cheaper than at each."""

    def __init__(self) -> None:
        self.left = KEYWORDS_BETWEEN_CHECKS

    def tick(self) -> None:
        self.left -= 1
        if self.left <= 0:
            self.left = KEYWORDS_BETWEEN_CHECKS
            _budget.get().check()


_countdown: ContextVar[_Countdown] = ContextVar("netinv_json_schema_countdown")


def _bounded(keyword: Callable[..., Any]) -> Callable[..., Any]:
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
_Validator: Any = extend(Draft7Validator, {name: _bounded(function) for name, function in ({**Draft7Validator.VALIDATORS, **_REPLACED}).items()})


@functools.lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    """A validator for a schema. References to other documents are not resolved: nothing is fetched on behalf of users."""
    return _Validator(_shortest_first(orjson.loads(schema)), registry=References())


def _shortest_first(schema: Any) -> Any:
    """The schema with its keywords in one order on every database, in which the type and properties come before what rests on them."""
    if isinstance(schema, list):
        return list(map(_shortest_first, schema))
    if isinstance(schema, dict):
        return {name: _shortest_first(schema[name]) for name in sorted(schema, key=lambda name: (len(name), name))}
    return schema


def schema_fault(schema: Any, budget: Budget) -> str | None:
    """The reason why a document is no JSON Schema; ``None`` when it is one."""
    return _within(budget, lambda: _schema_error(schema))


def _schema_error(schema: Any) -> str | None:
    try:
        _Validator.check_schema(schema, format_checker=_formats)
    except SchemaError as error:
        return str(error.cause or error.message)
    return None


def data_fault(data: Any, schema: Any, budget: Budget) -> str | None:
    """The first reason why data is not valid by a schema; ``None`` when it is."""
    return _within(budget, lambda: _data_error(data, schema))


def _data_error(data: Any, schema: Any) -> str | None:
    validator = _validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))
    return next((str(error.message) for error in validator.iter_errors(data)), None)


def _within(budget: Budget, validate: Callable[[], str | None]) -> str | None:
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
