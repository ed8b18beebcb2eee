"""Tools: what agents can call, with the schemas of their arguments.

A tool is a function with the decorator :func:`agent_tool`. Schemas that depend on the installed packages are functions
of :class:`netinv_mcp.offered.Offered`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from netinv_mcp.api_calls import ApiCaller, ToolRefusal
from netinv_mcp.offered import Offered, Schema

Run = Callable[[ApiCaller, Mapping[str, Any]], Any]
MAX_ERRORS = 10
MAX_TEXT = 200  # characters of a message about an argument
TEXT: Schema = {"type": "string", "maxLength": 1000}
FIELDS: Schema = {
    "type": "array",
    "items": {"type": "string", "maxLength": 200},
    "minItems": 1,
    "maxItems": 100,
    "description": "Members to show, such as name or site.name.",
}
ID: Schema = {"type": "string", "maxLength": 100, "description": "The id of an object, from search or list_objects."}
OFFSET: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31}
INSIDE: Schema = {
    "type": "string",
    "maxLength": 100,
    "description": "The id of a change request: reads the inventory as if its changes were made.",
}


@dataclasses.dataclass(frozen=True)
class AgentTool:
    """A tool: its arguments, those that it needs, what it does with them, and how to ask it for less."""

    title: str
    description: str
    arguments: Mapping[str, Schema | Callable[[Offered], Schema]]
    needed: Sequence[str]
    run: Run
    narrow: str
    offered: Callable[[Offered], Any]
    writes: bool

    @property
    def name(self) -> str:
        """The name, that of its function."""
        return self.run.__name__

    def bind(self, offered: Offered) -> AgentTool:
        """The tool with the schemas of these packages."""
        arguments = {name: item(offered) if callable(item) else item for name, item in self.arguments.items()}
        return dataclasses.replace(self, arguments=arguments)

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments of a bound tool."""
        properties: Schema = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        return {**properties, "required": list(self.needed)} if self.needed else properties

    def call(self, caller: ApiCaller, arguments: Mapping[str, Any]) -> Any:
        """The answer of a bound tool.

        :raises ToolRefusal: naming the arguments that are wrong, or with the error of the API
        """
        errors: dict[str, list[str]] = {}
        for error in Draft202012Validator(self.schema).iter_errors(arguments):
            for name in _names(error, arguments, self.arguments):
                errors.setdefault(name[:MAX_TEXT], []).append(_message(error))
            if len(errors) >= MAX_ERRORS:
                break
        if errors:
            raise ToolRefusal(errors)
        return self.run(caller, arguments)


def agent_tool(
    title: str,
    description: str,
    arguments: Mapping[str, Schema | Callable[[Offered], Schema]],
    *,
    needed: Sequence[str] = (),
    narrow: str = "",
    offered: Callable[[Offered], Any] = lambda offered: True,
    writes: bool = False,
) -> Callable[[Run], AgentTool]:
    """Decorator that makes an :class:`AgentTool` of a function, which has its name.

    :param needed: the arguments that may not be left out
    :param narrow: how to ask for less, for answers that are cut
    :param offered: true where the installed packages have what it needs
    """
    return lambda run: AgentTool(title, description, arguments, needed, run, narrow, offered, writes)


def _names(error: ValidationError, arguments: Mapping[str, Any], known: Iterable[str]) -> list[str]:
    """The arguments that an error is about."""
    if error.validator == "required" and not error.absolute_path:
        return [name for name in error.validator_value if name not in arguments]
    if error.validator == "additionalProperties" and not error.absolute_path:
        return sorted(arguments.keys() - set(known))[:MAX_ERRORS]
    return [".".join(map(str, error.absolute_path)) or "arguments"]


def _message(error: ValidationError) -> str:
    """The words for an error; they do not repeat what was sent."""
    kind, value = error.validator, error.validator_value
    if kind == "required":
        return "This argument is required."
    if kind == "additionalProperties":
        return "There is no such argument."
    if kind == "enum":
        return "Must be one of those that the schema of the tool lists."
    if kind == "type":
        return f"Must be of the type {value if isinstance(value, str) else ' or '.join(value)}."
    return f"Must have {kind} {str(value)[:MAX_TEXT]}."
