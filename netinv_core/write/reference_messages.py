"""Messages of references that match no object, or several.

The texts are those that clients of version 1 expect. Their explanations, which problems have in their place, say what
was looked for and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Message, short
from netinv_core.nearest import did_you_mean, nearest_choices

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

UNRECOGNIZED = (
    "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: {}"
)
NO_SUCH_ID = "Related object not found using the provided ID: {}"
NO_SUCH = "Related object not found using the provided attributes: {}"
SEVERAL = "Multiple objects match the provided attributes: {}"
# The same errors of a ``plain`` field.
PLAIN_MESSAGES = {
    UNRECOGNIZED: "“{}” is not a valid UUID.",
    NO_SUCH_ID: 'Invalid pk "{}" - object does not exist.',
}
NO_SUCH_VALUE = "Object with {}={} does not exist."


def message(template: str, target: Endpoint | None, value: Any, *, plain: bool = False) -> Message:
    """The message about a value, an id or attributes as they were sent."""
    text = PLAIN_MESSAGES.get(template, template) if plain else template
    return Message(text.format(short(str(value))), _explanation(template, target, value))


def no_such_value(target: Endpoint | None, attribute: str, value: Any, owner: str = "") -> Message:
    """The message about a value of one attribute; ``owner`` says for what objects it was looked for."""
    explanation = f"No {_title(target)} with {attribute} {short(str(value))}{f' for {owner}' if owner else ''}."
    return Message(NO_SUCH_VALUE.format(attribute, value), explanation)


def no_such_status(target: Endpoint, owner: Endpoint, slug: Any, statuses: Iterable[Any]) -> Message:
    """The message about a status that the objects of ``owner`` cannot have; the explanation names similar ones."""
    message = no_such_value(target, "slug", slug, owner.plural)

    def explain() -> str:
        known = tuple((row.slug, row.name) for row in statuses)
        return message.explanation + did_you_mean(nearest_choices(str(slug), known))

    return Message(message, explain)


def _explanation(template: str, target: Endpoint | None, value: Any) -> str:
    title, sought = _title(target), _describe_reference(value)
    if template == UNRECOGNIZED:
        attribute = target.natural_attribute if target is not None and isinstance(value, str) else None
        example = f'{{"{attribute}": "{short(str(value))}"}}' if attribute else "an object of attributes"
        return f"No {title} with id {short(str(value))}. Other attributes are sent as an object: {example}."
    if template == SEVERAL:
        return f"Several objects ({title}) with {sought}: more attributes are needed to name one."
    return f"No {title} with {sought}."


def _describe_reference(value: Any) -> str:
    """The attributes that were looked for, or the id."""
    if not isinstance(value, Mapping):
        return f"id {short(str(value))}"
    return short(" and ".join(f"{str(name).replace('__', '.')} {sent}" for name, sent in value.items()))


def _title(target: Endpoint | None) -> str:
    return "object" if target is None else target.title
