"""What a job may ask of whoever starts it: typed variables, each of which reads and refuses what it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import netaddr

from netinv_core.patterns import Budget

PATTERN_SECONDS = 1.0  # processor time for matching one value
REQUIRED = "This field is required."
NO_CHOICE = "Select a valid choice. {} is not one of the available choices."
_TRUE, _FALSE = {"true", "on", "yes", "1"}, {"false", "off", "no", "0"}
Validator = Callable[[Any], None]


class Variable:
    """A value of a job, named by the attribute of the job's class that it is assigned to.

    ``read`` takes a value of a JSON body to the form in which it is kept; ``load`` takes that to what the job gets. ``validators`` are
    functions of the latter that raise ``ValueError`` with what is wrong.
    """

    def __init__(
        self, description: str = "", *, label: str = "", default: Any = None, required: bool = True, validators: Iterable[Validator] = (), widget: Any = None
    ) -> None:
        self.description = description
        self.label = label
        self.default = default
        self.required = required
        self.validators = tuple(validators)
        self.widget = widget

    def read(self, value: Any) -> Any:
        """The value as it is kept.

        :raises ValueError: with what is wrong
        """
        return value

    def load(self, kept: Any) -> Any:
        """The value as the job gets it."""
        return kept

    def checked(self, value: Any) -> Any:
        """The value as it is kept, if there is one and it passes the validators; without one the default, or ``None``.

        :raises ValueError: with what is wrong
        """
        given = self.default if value is None else value
        if given in (None, "", [], ()):
            if self.required:
                raise ValueError(REQUIRED)
            return self.blank
        kept = self.read(given)
        for validator in self.validators:
            validator(self.load(kept))
        return kept

    @property
    def blank(self) -> Any:
        """What stands for no value."""
        return None

    def limits(self) -> dict[str, Any]:
        """What else the description of the variable says."""
        return {}

    def described(self, name: str) -> dict[str, Any]:
        """The entry of the variable in ``variables/``."""
        found: dict[str, Any] = {"name": name, "type": type(self).__name__}
        if self.label:
            found["label"] = self.label
        if self.description:
            found["help_text"] = self.description
        found["required"] = self.required
        found |= {key: value for key, value in self.limits().items() if value is not None}
        if self.default is not None:
            found["default"] = self.default
        return found


class StringVar(Variable):
    """A line of text, with bounds for its length and a regular expression that it matches from its beginning."""

    def __init__(
        self, description: str = "", *, min_length: int | None = None, max_length: int | None = None, regex: str | None = None, **options: Any
    ) -> None:
        super().__init__(description, **options)
        self.min_length, self.max_length, self.regex = min_length, max_length, regex

    def read(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError("Not a valid string.")
        found = str(value)
        size = len(found)
        if self.max_length is not None and size > self.max_length:
            raise ValueError(f"Ensure this value has at most {_characters(self.max_length)} (it has {size}).")
        if self.min_length is not None and size < self.min_length:
            raise ValueError(f"Ensure this value has at least {_characters(self.min_length)} (it has {size}).")
        if self.regex is not None and not Budget(PATTERN_SECONDS).search(self.regex, found, at_start=True):
            raise ValueError("Enter a valid value.")
        return found

    @property
    def blank(self) -> str:
        return ""

    def limits(self) -> dict[str, Any]:
        return {"min_length": self.min_length, "max_length": self.max_length}


def _characters(count: int) -> str:
    return f"{count} character{'' if count == 1 else 's'}"


class TextVar(StringVar):
    """Text of several lines."""


class IntegerVar(Variable):
    """A whole number within bounds, both included."""

    def __init__(self, description: str = "", *, min_value: int | None = None, max_value: int | None = None, **options: Any) -> None:
        super().__init__(description, **options)
        self.min_value, self.max_value = min_value, max_value

    def read(self, value: Any) -> int:
        if not re.fullmatch(r"-?\d{1,18}(\.0*)?", str(value)):
            raise ValueError("Enter a whole number.")
        found = int(float(value)) if isinstance(value, float) else int(str(value).partition(".")[0])
        if self.max_value is not None and found > self.max_value:
            raise ValueError(f"Ensure this value is less than or equal to {self.max_value}.")
        if self.min_value is not None and found < self.min_value:
            raise ValueError(f"Ensure this value is greater than or equal to {self.min_value}.")
        return found

    def limits(self) -> dict[str, Any]:
        return {"min_value": self.min_value, "max_value": self.max_value}


class BooleanVar(Variable):
    """A switch, off unless said otherwise; never required."""

    def __init__(self, description: str = "", **options: Any) -> None:
        super().__init__(description, **{**options, "required": False})

    def read(self, value: Any) -> bool:
        word = str(value).lower()
        if word not in _TRUE | _FALSE:
            raise ValueError("Must be a valid boolean.")
        return word in _TRUE

    @property
    def blank(self) -> bool:
        return False


class ChoiceVar(Variable):
    """One of ``choices``: pairs of value and label."""

    def __init__(self, choices: Sequence[tuple[Any, str]], description: str = "", **options: Any) -> None:
        super().__init__(description, **options)
        self.choices = tuple((value, label) for value, label in choices)

    def read(self, value: Any) -> Any:
        by_text = {str(key): key for key, _ in self.choices}
        if str(value) not in by_text:
            raise ValueError(NO_CHOICE.format(value))
        return by_text[str(value)]

    @property
    def blank(self) -> Any:
        return ""

    def limits(self) -> dict[str, Any]:
        return {"choices": [[value, label] for value, label in self.choices]}


class MultiChoiceVar(ChoiceVar):
    """Several of ``choices``, as a list."""

    def read(self, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ValueError("Enter a list of values.")
        return [super(MultiChoiceVar, self).read(item) for item in value]

    @property
    def blank(self) -> list[Any]:
        return []


class ObjectVar(Variable):
    """An object of the inventory, which the job gets as its representation; given by id, or by attributes that match exactly one.

    ``model`` is a label, such as ``dcim.site``; ``query_params`` narrow the choice, as the parameters of the model's list do.
    """

    several = False

    def __init__(self, description: str = "", *, model: str, query_params: dict[str, Any] | None = None, null_option: str = "", **options: Any) -> None:
        super().__init__(description, **options)
        self.model = model
        self.query_params = dict(query_params or {})
        self.null_option = null_option

    def limits(self) -> dict[str, Any]:
        return {"model": self.model}


class MultiObjectVar(ObjectVar):
    """Several objects of a model, as a list."""

    several = True

    def read(self, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError("Enter a list of values.")
        return list(value)

    @property
    def blank(self) -> list[Any]:
        return []


class IPAddressVar(Variable):
    """An IPv4 or IPv6 address without a mask, as :class:`netaddr.IPAddress`."""

    def read(self, value: Any) -> str:
        try:
            return str(netaddr.IPAddress(str(value)))
        except (netaddr.AddrFormatError, ValueError):
            raise ValueError(f"Invalid IPv4/IPv6 address format: {value}") from None

    def load(self, kept: Any) -> netaddr.IPAddress | None:
        return netaddr.IPAddress(kept) if kept else None


class IPAddressWithMaskVar(Variable):
    """An IPv4 or IPv6 address with its mask, as :class:`netaddr.IPNetwork`."""

    def read(self, value: Any) -> str:
        text = str(value)
        try:
            found = netaddr.IPNetwork(text)
        except (netaddr.AddrFormatError, ValueError):
            raise ValueError(f"Invalid IPv4/IPv6 address format: {value}") from None
        if "/" not in text:
            raise ValueError("CIDR mask (e.g. /24) is required.")
        return self._fits(found)

    def _fits(self, found: netaddr.IPNetwork) -> str:
        return str(found)

    def load(self, kept: Any) -> netaddr.IPNetwork | None:
        return netaddr.IPNetwork(kept) if kept else None


class IPNetworkVar(IPAddressWithMaskVar):
    """An IPv4 or IPv6 network, as :class:`netaddr.IPNetwork`; no bits of its address beyond the mask are set."""

    def __init__(self, description: str = "", *, min_prefix_length: int | None = None, max_prefix_length: int | None = None, **options: Any) -> None:
        super().__init__(description, **options)
        self.min_prefix_length, self.max_prefix_length = min_prefix_length, max_prefix_length

    def _fits(self, found: netaddr.IPNetwork) -> str:
        if found.ip != found.cidr.ip:
            raise ValueError(f"{found} is not a valid prefix. Did you mean {found.cidr}?")
        if self.min_prefix_length is not None and found.prefixlen < self.min_prefix_length:
            raise ValueError(f"The prefix length must be greater than or equal to {self.min_prefix_length}.")
        if self.max_prefix_length is not None and found.prefixlen > self.max_prefix_length:
            raise ValueError(f"The prefix length must be less than or equal to {self.max_prefix_length}.")
        return str(found)
