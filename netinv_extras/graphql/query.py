"""Execution of a GraphQL query from its text: parse, validate, check limits, execute.

Error messages have the wording and format of API version 1 (graphql-core 2), because clients compare them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
    get_variable_values,
    parse,
    print_ast,
    specified_rules,
    validate,
    value_from_ast_untyped,
)
from graphql.validation import VariablesInAllowedPositionRule

from netinv_core import json_values
from netinv_core.errors import RequestError
from netinv_core.write import strict_bodies
from netinv_extras.graphql.executor import Executor
from netinv_extras.graphql.introspection import META_FIELDS, Introspection
from netinv_extras.graphql.schema import GraphqlSchema, schema_of
from netinv_extras.graphql.variables import LenientVariablesRule

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_TOKENS = 20_000
MAX_SELECTIONS = 500  # validation of overlapping fields takes quadratic time
MAX_VARIABLE_ERRORS = 50
MAX_SCHEMA_DEPTH = 20  # levels below an introspection field: those of code generators take fourteen
_RULES = [LenientVariablesRule if rule is VariablesInAllowedPositionRule else rule for rule in specified_rules]
NO_QUERY = "Must provide query string."


def execute(uow: UnitOfWork, text: Any, variables: Any = None, operation_name: Any = None) -> dict[str, Any]:
    """Executes a query; returns ``{"data": …}``, with ``errors`` if fields have errors.

    :raises RequestError: 400 with ``errors`` if the query is not executed, 413 if the answer would be too large
    """
    if not isinstance(text, str) or not text.strip():
        raise _request_error(GraphQLError(NO_QUERY))
    schema = schema_of(uow)
    try:
        document = parse_query(text)
        operation = _operation(document, operation_name)
        if errors := validate(schema.schema, document, _RULES):
            raise _request_error(*errors)
        _check_limits(uow, document, operation)
        values = _variable_values(variables)
        _check_names(uow, operation, values)
        return _execute(uow, schema, document, operation, values)
    except GraphQLError as error:
        raise _request_error(error) from None


def parse_query(text: str) -> DocumentNode:
    """Parses a query.

    :raises GraphQLError: for a syntax error, or a query that is too long
    """
    document = parse(text, max_lexical_tokens=MAX_TOKENS, allow_empty_selection_sets=False)
    pending: list[Any] = [*document.definitions]
    count = 0
    while pending:
        selection_set = getattr(pending.pop(), "selection_set", None)
        if selection_set is not None:
            pending += selection_set.selections
            count += len(selection_set.selections)
    if count > MAX_SELECTIONS:
        raise GraphQLError(f"This query names more than {MAX_SELECTIONS} fields.")
    return document


def syntax_error(text: str) -> str | None:
    """Returns the message if a text cannot be parsed as a query, else ``None``."""
    try:
        parse_query(text)
    except GraphQLError as error:
        return _message(error)
    return None


def variables_of(text: str) -> dict[str, Any]:
    """Returns the variables of a valid query with their defaults; a variable without default is an empty string."""
    operations = [node for node in parse_query(text).definitions if isinstance(node, OperationDefinitionNode)]
    definitions = [node for operation in operations for node in operation.variable_definitions or ()]
    return {
        node.variable.name.value: value_from_ast_untyped(node.default_value) if node.default_value else ""
        for node in definitions
    }


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


def _check_names(uow: UnitOfWork, operation: OperationDefinitionNode, values: Mapping[str, Any]) -> None:
    """Checks that the operation declares each variable, where bodies are strict.

    :raises GraphQLError: naming the first one that it does not declare
    """
    declared = {node.variable.name.value for node in operation.variable_definitions or ()}
    if strict_bodies.is_strict(uow.registry) and (unknown := sorted(values.keys() - declared)):
        raise GraphQLError(f'Variable "${unknown[0]}" is not declared by the operation.')


def _variable_values(variables: Any) -> dict[str, Any]:
    """Returns the values of variables by name, from an object or its JSON text."""
    try:
        values = json_values.parse(variables) if isinstance(variables, str) and variables else variables or {}
    except json_values.InvalidJson:
        raise GraphQLError("Variables are invalid JSON.") from None
    if not isinstance(values, dict):
        raise GraphQLError("Variables must be an object of values by name.")
    return values


def _fragments(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


# -- limits


def _check_limits(uow: UnitOfWork, document: DocumentNode, operation: OperationDefinitionNode) -> None:
    """Checks the depth and the number of relations of a query; each relation costs at least one statement.

    Fragments are expanded. Introspection fields (``__schema``) have a limit of their own.

    :raises GraphQLError: if a limit is exceeded
    """
    settings, fragments = uow.registry.settings, _fragments(document)
    max_depth, max_relations = settings["graphql_max_depth"], settings["graphql_max_relations"]
    pending: list[tuple[SelectionSetNode, int, bool]] = [(operation.selection_set, 0, False)]
    relation_count = 0
    while pending:
        selection_set, depth, in_schema = pending.pop()
        for node in selection_set.selections:
            holder = fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
            inner = getattr(holder, "selection_set", None)
            if not isinstance(inner, SelectionSetNode):
                continue
            is_of_schema = in_schema or (isinstance(node, FieldNode) and node.name.value in META_FIELDS)
            inner_depth = depth + isinstance(node, FieldNode)
            relation_count += 1
            if is_of_schema and inner_depth > MAX_SCHEMA_DEPTH:
                raise GraphQLError(
                    f"This query is nested more than {MAX_SCHEMA_DEPTH} levels deep in the schema.", node
                )
            if max_depth and inner_depth > max_depth and not is_of_schema:
                raise GraphQLError(
                    f"This query is nested more than {max_depth} levels deep (netinv.graphql_max_depth).", node
                )
            if max_relations and relation_count > max_relations:
                raise GraphQLError(
                    f"This query follows more than {max_relations} relations (netinv.graphql_max_relations).", node
                )
            pending.append((inner, inner_depth, is_of_schema))


# -- execution


def _execute(
    uow: UnitOfWork,
    schema: GraphqlSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
) -> dict[str, Any]:
    """Executes a validated operation."""
    definitions = operation.variable_definitions or ()
    values = get_variable_values(schema.schema, definitions, dict(variables), max_errors=MAX_VARIABLE_ERRORS)
    if isinstance(values, list):
        raise _request_error(*values)
    max_objects = uow.registry.settings["graphql_max_objects"]
    executor = Executor(uow, schema, _fragments(document), values, max_objects)
    query = schema.schema.query_type
    assert query is not None
    nodes_by_name = executor.collect(query, [operation.selection_set])
    of_schema = {name: nodes for name, nodes in nodes_by_name.items() if nodes[0].name.value in META_FIELDS}
    introspected = _introspect(executor, document, operation, variables, of_schema) if of_schema else {}
    data = {
        name: introspected[name] if name in introspected else executor.root_value(name, nodes)
        for name, nodes in nodes_by_name.items()
    }
    errors = [error_entry(error) for error in executor.errors]
    return {"errors": errors, "data": data} if errors else {"data": data}


def _introspect(
    executor: Executor,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
    nodes_by_name: Mapping[str, Sequence[FieldNode]],
) -> dict[str, Any]:
    """Returns the values of introspection fields as JSON, cached by query and variables, as they are long."""
    operation_name = operation.name.value if operation.name else None
    cache_key = (print_ast(document), operation_name, orjson.dumps(variables, option=orjson.OPT_SORT_KEYS))

    def make() -> dict[str, bytes]:
        introspection = Introspection(executor)
        return {name: introspection.root_value(nodes) for name, nodes in nodes_by_name.items()}

    values = executor.schema.introspections.get_or_make(cache_key, make)
    return {name: orjson.Fragment(value) for name, value in values.items()}


# -- errors


def _request_error(*errors: GraphQLError) -> RequestError:
    return RequestError({"errors": list(map(error_entry, errors))})


def error_entry(error: GraphQLError) -> dict[str, Any]:
    """Returns an error as an entry of ``errors`` in the response."""
    entry: dict[str, Any] = {"message": _message(error)}
    if error.locations:
        entry["locations"] = [{"line": location.line, "column": location.column} for location in error.locations]
    if error.path:
        entry["path"] = error.path
    return entry


def _message(error: GraphQLError) -> str:
    """Returns the message in the wording of graphql-core 2; that of a syntax error contains an excerpt."""
    if isinstance(error, GraphQLSyntaxError) and error.source is not None and error.locations:
        (location,) = error.locations
        reason = _with_double_quotes(error.message.removeprefix("Syntax Error: ").removesuffix("."))
        reason = reason.replace("<EOF>", "EOF")
        excerpt = _excerpt(error.source.body, location.line, location.column)
        return f"Syntax Error GraphQL ({location.line}:{location.column}) {reason}\n\n{excerpt}"
    message = re.sub(r'on field "(\w+)\.(\w+)"', r'on field "\2" of type "\1"', _with_double_quotes(error.message))
    return message.replace(", or ", " or ")


def _with_double_quotes(message: str) -> str:
    return re.sub(r"'([^']*)'", r'"\1"', message)


def _excerpt(text: str, line: int, column: int) -> str:
    """Returns the line of an error and its neighbours, with a caret below the column."""
    lines = text.splitlines() or [""]
    width = len(str(line + 1))
    excerpt = [f"{number:>{width}}: {lines[number - 1]}" for number in (line - 1, line) if 0 < number <= len(lines)]
    excerpt.append(f"{'':{width + 2 + column - 1}}^")
    if line < len(lines):
        excerpt.append(f"{line + 1:>{width}}: {lines[line]}")
    return "\n".join(excerpt) + "\n"
