"""From the text of a query to its answer: read, checked, kept within bounds, carried out.

Errors have the words and the form of the API's version 1: what a client compares with stays the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    execute_sync,
    get_variable_values,
    parse,
    print_ast,
    specified_rules,
    validate,
    value_from_ast_untyped,
)
from graphql.validation import VariablesInAllowedPositionRule

from netinv_core.errors import RequestError
from netinv_core.uow import UnitOfWork
from netinv_extras.graphql.executor import Executor
from netinv_extras.graphql.schema import Schema, schema_of
from netinv_extras.graphql.variables import VariablesFitRule

MOST_TOKENS = 20_000
MOST_SELECTIONS = 500  # checking whether fields of one name fit together takes the square of their number
_RULES = [VariablesFitRule if rule is VariablesInAllowedPositionRule else rule for rule in specified_rules]
NO_QUERY = "Must provide query string."


def answer(uow: UnitOfWork, text: Any, variables: Any = None, operation_name: Any = None) -> dict[str, Any]:
    """The answer to a query: ``{"data": …}``, with ``errors`` where fields have some.

    :raises Refused: 400 with ``errors``, for a query that is not carried out
    """
    if not isinstance(text, str) or not text.strip():
        raise _refused(GraphQLError(NO_QUERY))
    schema = schema_of(uow)
    try:
        document = read(text)
        operation = _operation(document, operation_name)
        if errors := validate(schema.schema, document, _RULES):
            raise _refused(*errors)
        _check_bounds(uow, document, operation)
        return _carry_out(uow, schema, document, operation, _given(variables))
    except GraphQLError as error:
        raise _refused(error) from None


def read(text: str) -> DocumentNode:
    """A query's document.

    :raises GraphQLError: for a text that is none, or too long
    """
    found = parse(text, max_lexical_tokens=MOST_TOKENS, allow_empty_selection_sets=False)
    waiting: list[Any] = [*found.definitions]
    count = 0
    while waiting:
        inner = getattr(waiting.pop(), "selection_set", None)
        if inner is not None:
            waiting += inner.selections
            count += len(inner.selections)
    if count > MOST_SELECTIONS:
        raise GraphQLError(f"This query names more than {MOST_SELECTIONS} fields.")
    return found


def fault(text: str) -> str | None:
    """Why a text is no query, in the words of the API; ``None`` when it is one."""
    try:
        read(text)
    except GraphQLError as error:
        return _words(error)
    return None


def variables_of(text: str) -> dict[str, Any]:
    """The variables of a query that can be read, each with its default, blank when it has none."""
    operations = [node for node in read(text).definitions if isinstance(node, OperationDefinitionNode)]
    defined = [node for operation in operations for node in operation.variable_definitions or ()]
    return {node.variable.name.value: value_from_ast_untyped(node.default_value) if node.default_value else "" for node in defined}


def _operation(document: DocumentNode, name: Any) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if name:
        operations = [node for node in operations if node.name is not None and node.name.value == name]
        if not operations:
            raise GraphQLError(f'Unknown operation named "{name}".')
    if len(operations) > 1:
        raise GraphQLError("Must provide operation name if query contains multiple operations.")
    if not operations:
        raise GraphQLError("Must provide an operation.")
    if operations[0].operation is not OperationType.QUERY:
        raise GraphQLError(f"Schema is not configured for {operations[0].operation.value}s", operations)
    return operations[0]


def _given(variables: Any) -> dict[str, Any]:
    """The values of variables, an object or one written as JSON."""
    try:
        found = orjson.loads(variables) if isinstance(variables, str) and variables else variables or {}
    except orjson.JSONDecodeError:
        raise GraphQLError("Variables are invalid JSON.") from None
    if not isinstance(found, dict):
        raise GraphQLError("Variables must be an object of values by name.")
    return found


def _fragments(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


# -- bounds


def _check_bounds(uow: UnitOfWork, document: DocumentNode, operation: OperationDefinitionNode) -> None:
    """Refuses a query that goes deeper, or names more ways, than the settings allow; each way costs at least a statement.

    What asks for the schema may go as deep as it likes, as types do.
    """
    settings, fragments = uow.registry.settings, _fragments(document)
    deepest, most = settings.get("graphql_max_depth", 0), settings.get("graphql_max_relations", 0)
    waiting: list[tuple[SelectionSetNode, float]] = [(operation.selection_set, 0)]
    ways = 0
    while waiting:
        selections, depth = waiting.pop()
        for node in selections.selections:
            inner = fragments[node.name.value].selection_set if isinstance(node, FragmentSpreadNode) else getattr(node, "selection_set", None)
            if not isinstance(inner, SelectionSetNode):
                continue
            describing = isinstance(node, FieldNode) and node.name.value.startswith("__")
            deeper = -math.inf if describing else depth + isinstance(node, FieldNode)
            ways += 1
            if deepest and deeper > deepest:
                raise GraphQLError(f"This query is nested more than {deepest} levels deep (netinv.graphql_max_depth).", node)
            if most and ways > most:
                raise GraphQLError(f"This query follows more than {most} relations (netinv.graphql_max_relations).", node)
            waiting.append((inner, deeper))


# -- carrying out


def _carry_out(uow: UnitOfWork, schema: Schema, document: DocumentNode, operation: OperationDefinitionNode, given: Mapping[str, Any]) -> dict[str, Any]:
    values = get_variable_values(schema.schema, operation.variable_definitions or (), dict(given), max_errors=50)
    if isinstance(values, list):
        raise _refused(*values)
    reading = Executor(uow, schema, _fragments(document), values, uow.registry.settings.get("graphql_max_objects", 0))
    query = schema.schema.query_type
    assert query is not None
    asked = reading.collect(query, [operation.selection_set])
    own = [node for nodes in asked.values() for node in nodes if node.name.value.startswith("__")]
    described = _describe(schema, document, operation, own, given) if own else {}
    data = {name: described[name] if name in described else reading.start(name, nodes) for name, nodes in asked.items()}
    return {"errors": list(map(shown_error, reading.errors)), "data": data} if reading.errors else {"data": data}


def _describe(
    schema: Schema, document: DocumentNode, operation: OperationDefinitionNode, nodes: Sequence[FieldNode], given: Mapping[str, Any]
) -> dict[str, Any]:
    """What the schema says of itself, for those fields of the operation that ask: worked out once for a question, as it is long."""
    question = (print_ast(document), operation.name.value if operation.name else None, orjson.dumps(given, option=orjson.OPT_SORT_KEYS))
    if question in schema.descriptions:
        return schema.descriptions[question]
    asking = OperationDefinitionNode(
        operation=operation.operation,
        name=operation.name,
        variable_definitions=operation.variable_definitions,
        directives=(),
        selection_set=SelectionSetNode(selections=tuple(nodes)),
    )
    found = execute_sync(schema.schema, DocumentNode(definitions=(asking, *_fragments(document).values())), variable_values=dict(given))
    if found.errors:
        raise _refused(*found.errors)
    return schema.describe(question, {name: orjson.Fragment(orjson.dumps(value)) for name, value in (found.data or {}).items()})


# -- errors


def _refused(*errors: GraphQLError) -> RequestError:
    return RequestError({"errors": list(map(shown_error, errors))})


def shown_error(error: GraphQLError) -> dict[str, Any]:
    """An error as answers show it."""
    found: dict[str, Any] = {"message": _words(error)}
    if error.locations:
        found["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    if error.path:
        found["path"] = error.path
    return found


def _words(error: GraphQLError) -> str:
    if isinstance(error, GraphQLSyntaxError) and error.source is not None and error.locations:
        (place,) = error.locations
        said = _quoted(error.message.removeprefix("Syntax Error: ").removesuffix(".")).replace("<EOF>", "EOF")
        return f"Syntax Error GraphQL ({place.line}:{place.column}) {said}\n\n{_pointed_at(error.source.body, place.line, place.column)}"
    return re.sub(r'on field "(\w+)\.(\w+)"', r'on field "\2" of type "\1"', _quoted(error.message)).replace(", or ", " or ")


def _quoted(message: str) -> str:
    return re.sub(r"'([^']*)'", r'"\1"', message)


def _pointed_at(text: str, line: int, column: int) -> str:
    """The line of an error and its neighbours, a caret below the place."""
    lines = text.splitlines() or [""]
    width = len(str(line + 1))
    shown = [f"{number:>{width}}: {lines[number - 1]}" for number in (line - 1, line) if 0 < number <= len(lines)]
    shown.append(f"{'':{width + 2 + column - 1}}^")
    if line < len(lines):
        shown.append(f"{line + 1:>{width}}: {lines[line]}")
    return "\n".join(shown) + "\n"
