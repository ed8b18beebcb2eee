"""Parsing of YAML files of a repository, with bounds."""

from __future__ import annotations

from typing import Any

import yaml

from netinv_extras.git.files import MAX_DEPTH, MAX_NUMBER_LENGTH, MAX_VALUES, TOO_DEEP, TOO_LARGE, TOO_MANY, FileFault

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(source: str) -> Any:
    """Loads a YAML text. Its events are counted first, because the loader recurses in C without a limit.

    :raises Fault: for a syntax error, too deep a nesting, or too many values
    """
    try:
        return _bounded_loader(source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise FileFault(f"it is not YAML: {line}{error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise FileFault(f"it is not YAML: {' '.join(str(error).split())[:200]}") from None


def _bounded_loader(source: str) -> Any:
    depth = 0
    for count, event in enumerate(yaml.parse(source, _Loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise FileFault(TOO_DEEP)
        if count > 2 * MAX_VALUES:  # a member has a name and a value
            raise FileFault(TOO_MANY)
    return yaml.load(source, _BoundedLoader)  # noqa: S506 - a safe loader


class _BoundedLoader(_Loader):  # type: ignore[misc]
    """Safe loader with bounds for expensive input: merge keys, which can grow exponentially, and numbers of base 60."""

    merged = 0

    def flatten_mapping(self, node: Any) -> None:
        super().flatten_mapping(node)
        self.merged += len(node.value)
        if self.merged > 2 * MAX_VALUES:
            raise FileFault(TOO_MANY)

    def construct_bounded_int(self, node: Any) -> int:
        """Converts an integer. In base 60 (YAML 1.1: ``190:20:30``) this takes time quadratic in the length."""
        if len(node.value) > MAX_NUMBER_LENGTH:
            raise FileFault(TOO_LARGE)
        return int(self.construct_yaml_int(node))


_BoundedLoader.add_constructor("tag:yaml.org,2002:int", _BoundedLoader.construct_bounded_int)
