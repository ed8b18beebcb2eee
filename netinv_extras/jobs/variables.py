"""Typed variables of jobs: validate input values, and convert them for the job."""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import netaddr

from netinv_core.patterns import Budget
from netinv_core.storage.files import Upload

PATTERN_TIMEOUT = 1.0  # seconds of CPU time for matching one value
REQUIRED = "This field is required."
NO_CHOICE = "Select a valid choice. {} is not one of the available choices."
_TRUE, _FALSE = {"true", "on", "yes", "1"}, {"false", "off", "no", "0"}
Validator = Callable[[Any], None]


class Variable:
    """A variable of a job, named by the attribute of the job class that it is assigned to.

    :meth:`read` converts a value of a JSON body to the stored value, :meth:`load` converts that to the job's value.
    ``validators`` are functions of the job's value that raise ``ValueError`` with a message.
    """

    def __init__(
        self,
        description: str = "",
        *,
        label: str = "",
        default: Any = None,
        required: bool = True,
        validators: Iterable[Validator] = (),
        widget: Any = None,
    ) -> None:
        self.description = description
        self.label = label
        self.default = default
        self.required = required
        self.validators = tuple(validators)
        self.widget = widget

    def read(self, value: Any) -> Any:
        """Returns the stored value of a value in a JSON body.

        :raises ValueError: if the value is not valid
        """
        return value

    def load(self, stored: Any) -> Any:
        """Returns the job's value of a stored value."""
        return stored

    def validated(self, value: Any) -> Any:
        """Returns the stored value of a value or, if it is ``None``, of the default. Runs the validators.

        :raises ValueError: if the value is not valid, or required and missing
        """
        value = self.default if value is None else value
        if value in (None, "", [], ()):
            if self.required:
                raise ValueError(REQUIRED)
            return self.blank
        stored = self.read(value)
        for validator in self.validators:
            validator(self.load(stored))
        return stored

    @property
    def blank(self) -> Any:
        """Stored value of a missing value."""
        return None

    def constraints(self) -> dict[str, Any]:
        """Returns further members of the variable's representation, such as ``max_length``."""
        return {}

    def represent(self, name: str) -> dict[str, Any]:
        """Returns the representation of the variable in ``variables/``."""
        representation: dict[str, Any] = {"name": name, "type": type(self).__name__}
        if self.label:
            representation["label"] = self.label
        if self.description:
            representation["help_text"] = self.description
        representation["required"] = self.required
        representation |= {key: value for key, value in self.constraints().items() if value is not None}
        if self.default is not None:
            representation["default"] = self.default
        return representation


class StringVar(Variable):
    """A line of text, with bounds for its length and a regular expression that matches at its start."""

    def __init__(
        self,
        description: str = "",
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        regex: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(description, **options)
        self.min_length, self.max_length, self.regex = min_length, max_length, regex

    def read(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError("Not a valid string.")
        text = str(value)
        size = len(text)
        if self.max_length is not None and size > self.max_length:
            raise ValueError(f"Ensure this value has at most {_characters(self.max_length)} (it has {size}).")
        if self.min_length is not None and size < self.min_length:
            raise ValueError(f"Ensure this value has at least {_characters(self.min_length)} (it has {size}).")
        if self.regex is not None and not Budget(PATTERN_TIMEOUT).search(self.regex, text, at_start=True):
            raise ValueError("Enter a valid value.")
        return text

    @property
    def blank(self) -> str:
        return ""

    def constraints(self) -> dict[str, Any]:
        return {"min_length": self.min_length, "max_length": self.max_length}


def _characters(count: int) -> str:
    return f"{count} character{'' if count == 1 else 's'}"


class TextVar(StringVar):
    """Multi-line text."""


class IntegerVar(Variable):
    """An integer within inclusive bounds."""

    def __init__(
        self, description: str = "", *, min_value: int | None = None, max_value: int | None = None, **options: Any
    ) -> None:
        super().__init__(description, **options)
        self.min_value, self.max_value = min_value, max_value

    def read(self, value: Any) -> int:
        if not re.fullmatch(r"-?\d{1,18}(\.0*)?", str(value)):
            raise ValueError("Enter a whole number.")
        number = int(float(value)) if isinstance(value, float) else int(str(value).partition(".")[0])
        if self.max_value is not None and number > self.max_value:
            raise ValueError(f"Ensure this value is less than or equal to {self.max_value}.")
        if self.min_value is not None and number < self.min_value:
            raise ValueError(f"Ensure this value is greater than or equal to {self.min_value}.")
        return number

    def constraints(self) -> dict[str, Any]:
        return {"min_value": self.min_value, "max_value": self.max_value}


class BooleanVar(Variable):
    """A boolean, false by default; never required."""

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
    """One of ``choices``, which are pairs of value and label."""

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

    def constraints(self) -> dict[str, Any]:
        return {"choices": [[value, label] for value, label in self.choices]}


class MultiChoiceVar(ChoiceVar):
    """A list of values from ``choices``."""

    def read(self, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ValueError("Enter a list of values.")
        return [super(MultiChoiceVar, self).read(item) for item in value]

    @property
    def blank(self) -> list[Any]:
        return []


class ObjectVar(Variable):
    """An object of the inventory, sent as its id or as attributes that match one object.

    The job gets its representation. ``model`` is a label such as ``dcim.site``. ``query_params`` are query parameters
    of the model's list that the object must match. A value ``$other`` stands for the value of the variable ``other``;
    the parameter does not count while that has none.
    """

    multiple = False

    def __init__(
        self,
        description: str = "",
        *,
        model: str,
        query_params: dict[str, Any] | None = None,
        null_option: str = "",
        **options: Any,
    ) -> None:
        super().__init__(description, **options)
        if not isinstance(model, str):
            raise TypeError(f"{type(self).__name__}: model is {model!r}; it takes a label such as dcim.device")
        self.model = model.lower()
        self.query_params = dict(query_params or {})
        self.null_option = null_option

    def constraints(self) -> dict[str, Any]:
        return {"model": self.model}

    @property
    def depends_on(self) -> dict[str, str]:
        """Names of other variables, each with the query parameter that takes its value."""
        return {text[1:]: name for name, text in self._parameters() if text.startswith("$")}

    def parameters(self, stored: Mapping[str, Any]) -> dict[str, list[str]]:
        """Returns the query parameters, given the stored values of all variables."""
        found: dict[str, list[str]] = {}
        for name, text in self._parameters():
            value = stored.get(text[1:]) if text.startswith("$") else text
            items = value if isinstance(value, list) else [value]
            if texts := [str(item) for item in items if item not in (None, "")]:
                found.setdefault(name, []).extend(texts)
        return found

    def _parameters(self) -> Iterator[tuple[str, str]]:
        """Yields names and values of query parameters as text; one for each item of a list."""
        for name, value in self.query_params.items():
            for item in value if isinstance(value, list | tuple) else [value]:
                yield name, str(item).lower() if isinstance(item, bool) else str(item)


class MultiObjectVar(ObjectVar):
    """A list of objects of a model."""

    multiple = True

    def read(self, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError("Enter a list of values.")
        return list(value)

    @property
    def blank(self) -> list[Any]:
        return []


class DryRunVar(Variable):
    """Argument of ``run`` that is true in a run without commit. It is none of the input: a request says ``commit``."""

    def __init__(self, description: str = "", **options: Any) -> None:
        super().__init__(description, **{**options, "required": False})


class JobFile(io.BytesIO):
    """Content of a file that a job was given, with its name and size."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name, self.size = name, len(content)


class FileVar(Variable):
    """A file, as :class:`JobFile`. In JSON it is an object with ``name`` and ``content`` (base64)."""

    def read(self, value: Any) -> dict[str, str]:
        if isinstance(value, Upload):
            return {"name": value.name, "content": base64.b64encode(value.content).decode()}
        if not isinstance(value, Mapping) or not all(isinstance(value.get(key), str) for key in ("name", "content")):
            raise ValueError("Send a file as an object with its name and its content (base64).")
        try:
            base64.b64decode(value["content"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("The content is not base64.") from None
        return {"name": value["name"], "content": value["content"]}

    def load(self, stored: Any) -> JobFile | None:
        return JobFile(stored["name"], base64.b64decode(stored["content"])) if stored else None


class IPAddressVar(Variable):
    """An IPv4 or IPv6 address without prefix length, as :class:`netaddr.IPAddress`."""

    def read(self, value: Any) -> str:
        try:
            return str(netaddr.IPAddress(str(value)))
        except (netaddr.AddrFormatError, ValueError):
            raise ValueError(f"Invalid IPv4/IPv6 address format: {value}") from None

    def load(self, stored: Any) -> netaddr.IPAddress | None:
        return netaddr.IPAddress(stored) if stored else None


class IPAddressWithMaskVar(Variable):
    """An IPv4 or IPv6 address with prefix length, as :class:`netaddr.IPNetwork`."""

    def read(self, value: Any) -> str:
        text = str(value)
        try:
            network = netaddr.IPNetwork(text)
        except (netaddr.AddrFormatError, ValueError):
            raise ValueError(f"Invalid IPv4/IPv6 address format: {value}") from None
        if "/" not in text:
            raise ValueError("CIDR mask (e.g. /24) is required.")
        self._check(network)
        return str(network)

    def _check(self, network: netaddr.IPNetwork) -> None:
        """Checks constraints of the subclass.

        :raises ValueError: if the network is not valid
        """

    def load(self, stored: Any) -> netaddr.IPNetwork | None:
        return netaddr.IPNetwork(stored) if stored else None


class IPNetworkVar(IPAddressWithMaskVar):
    """An IPv4 or IPv6 network without host bits, as :class:`netaddr.IPNetwork`."""

    def __init__(
        self,
        description: str = "",
        *,
        min_prefix_length: int | None = None,
        max_prefix_length: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(description, **options)
        self.min_prefix_length, self.max_prefix_length = min_prefix_length, max_prefix_length

    def _check(self, network: netaddr.IPNetwork) -> None:
        if network.ip != network.cidr.ip:
            raise ValueError(f"{network} is not a valid prefix. Did you mean {network.cidr}?")
        if self.min_prefix_length is not None and network.prefixlen < self.min_prefix_length:
            raise ValueError(f"The prefix length must be greater than or equal to {self.min_prefix_length}.")
        if self.max_prefix_length is not None and network.prefixlen > self.max_prefix_length:
            raise ValueError(f"The prefix length must be less than or equal to {self.max_prefix_length}.")
