"""Which variables fit which arguments: as the language has it, and a little more, as a list takes one value and an id is a string.

Clients declare ``$name: String!`` for arguments that are lists here.
"""

from __future__ import annotations

from typing import Any

from graphql import GraphQLError, GraphQLList, GraphQLNonNull, OperationDefinitionNode, get_named_type, type_from_ast
from graphql.validation import VariablesInAllowedPositionRule

from netinv_extras.graphql.types import ANY

# what a variable of a type may stand for beside that type
_FITS = {
    "ID": {"String"},
    "Int": {"BigInteger", "Float", "ID", "String"},
    "BigInteger": {"Int", "Float", "String"},
    "Float": {"Int", "String"},
    "String": {"ID", "Date", "DateTime"},
}


class VariablesFitRule(VariablesInAllowedPositionRule):
    """Variables in allowed positions, leniently."""

    def leave_operation_definition(self, operation: OperationDefinitionNode, *_args: Any) -> None:
        """Reports each use of a variable where it does not fit."""
        for usage in self.context.get_recursive_variable_usages(operation):
            defined = self.var_def_map.get(usage.node.name.value)
            given = type_from_ast(self.context.schema, defined.type) if defined is not None else None
            if defined is None or given is None or usage.type is None:  # another rule's business
                continue
            if not _fits(given, usage.type, has_default=defined.default_value is not None):
                words = f"Variable '${usage.node.name.value}' of type '{given}' used in position expecting type '{usage.type}'."
                self.report_error(GraphQLError(words, [defined, usage.node]))


def _fits(given: Any, wanted: Any, *, has_default: bool) -> bool:
    if isinstance(wanted, GraphQLNonNull):
        if not isinstance(given, GraphQLNonNull) and not has_default:
            return False
        wanted = wanted.of_type
    given = given.of_type if isinstance(given, GraphQLNonNull) else given
    if isinstance(given, GraphQLList) and not isinstance(wanted, GraphQLList):
        return False
    name, other = get_named_type(given).name, get_named_type(wanted).name
    return other in (name, ANY) or other in _FITS.get(name, ())
