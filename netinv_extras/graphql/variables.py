"""Validation rule for the types of variables, more lenient than the specification.

Clients declare ``$name: String!`` for arguments that are lists here, and strings for ids.
"""

from __future__ import annotations

from typing import Any

from graphql import GraphQLError, GraphQLList, GraphQLNonNull, OperationDefinitionNode, get_named_type, type_from_ast
from graphql.validation import VariablesInAllowedPositionRule

from netinv_extras.graphql.types import ANY

# Types of arguments that a variable of a type can be used for, besides its own type.
_COMPATIBLE_TYPES = {
    "ID": {"String"},
    "Int": {"BigInteger", "Float", "ID", "String"},
    "BigInteger": {"Int", "Float", "String"},
    "Float": {"Int", "String"},
    "String": {"ID", "Date", "DateTime"},
}


class LenientVariablesRule(VariablesInAllowedPositionRule):
    """Variables in allowed positions, with the compatible types above and single values for lists."""

    def leave_operation_definition(self, operation: OperationDefinitionNode, *_args: Any) -> None:
        """Reports each use of a variable in a position of an incompatible type."""
        for usage in self.context.get_recursive_variable_usages(operation):
            definition = self.var_def_map.get(usage.node.name.value)
            declared = type_from_ast(self.context.schema, definition.type) if definition is not None else None
            if definition is None or declared is None or usage.type is None:  # reported by other rules
                continue
            if not _is_compatible(declared, usage.type, has_default=definition.default_value is not None):
                message = (
                    f"Variable '${usage.node.name.value}' of type '{declared}' used in position expecting type "
                    f"'{usage.type}'."
                )
                self.report_error(GraphQLError(message, [definition, usage.node]))


def _is_compatible(declared: Any, expected: Any, *, has_default: bool) -> bool:
    if isinstance(expected, GraphQLNonNull):
        if not isinstance(declared, GraphQLNonNull) and not has_default:
            return False
        expected = expected.of_type
    declared = declared.of_type if isinstance(declared, GraphQLNonNull) else declared
    if isinstance(declared, GraphQLList) and not isinstance(expected, GraphQLList):
        return False
    declared_name, expected_name = get_named_type(declared).name, get_named_type(expected).name
    return expected_name in (declared_name, ANY) or expected_name in _COMPATIBLE_TYPES.get(declared_name, ())
