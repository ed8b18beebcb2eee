"""What is imported by whoever writes a job: the class to derive from, the kinds of variables, and what a job may raise."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from netinv_core.models.base import now
from netinv_extras.jobs.variables import (
    BooleanVar,
    ChoiceVar,
    IntegerVar,
    IPAddressVar,
    IPAddressWithMaskVar,
    IPNetworkVar,
    MultiChoiceVar,
    MultiObjectVar,
    ObjectVar,
    StringVar,
    TextVar,
    Variable,
)

if TYPE_CHECKING:
    from netinv_extras.jobs.api_client import Inventory

__all__ = [
    "BooleanVar",
    "ChoiceVar",
    "IPAddressVar",
    "IPAddressWithMaskVar",
    "IPNetworkVar",
    "IntegerVar",
    "Job",
    "JobButtonReceiver",
    "JobFailed",
    "JobHookReceiver",
    "MultiChoiceVar",
    "MultiObjectVar",
    "ObjectVar",
    "SoftTimeLimitExceeded",
    "StringVar",
    "TextVar",
]

DEFAULT, SUCCESS, INFO, WARNING, FAILURE = "default", "success", "info", "warning", "failure"
GROUPING = "run"


class JobFailed(Exception):
    """Raised by a job to end as failed, with the reason: nothing that it wrote stays."""


class SoftTimeLimitExceeded(Exception):
    """Raised in a job that has taken longer than its soft time limit; it has until its time limit to leave things in order."""


@dataclasses.dataclass(frozen=True)
class LogEntry:
    """What a job said: when, how grave, and about which object."""

    id: uuid.UUID
    position: int
    created: datetime.datetime
    grouping: str
    log_level: str
    message: str
    log_object: str | None = None
    absolute_url: str | None = None


class Job:
    """Work that users start, now or at a time, with values for its variables.

    A subclass assigns its variables to attributes and has :meth:`run`. The attributes below describe it; each of them can be overridden
    for an installation (``<name>_override`` of ``/api/extras/jobs/``). Time limits are in seconds, 0 stands for the settings'.
    """

    name: ClassVar[str] = ""
    grouping: ClassVar[str] = ""
    description: ClassVar[str] = ""
    commit_default: ClassVar[bool] = True
    has_sensitive_variables: ClassVar[bool] = True
    approval_required: ClassVar[bool] = False
    read_only: ClassVar[bool] = False
    hidden: ClassVar[bool] = False
    soft_time_limit: ClassVar[float] = 0
    time_limit: ClassVar[float] = 0
    task_queues: ClassVar[tuple[str, ...] | list[str]] = ()
    field_order: ClassVar[tuple[str, ...] | list[str]] = ()

    def __init__(self, inventory: Inventory, say: Callable[[LogEntry], None] = lambda entry: None) -> None:
        self.inventory = inventory
        self.failed = False
        self._say = say
        self._said = 0

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Does the work; what it gives is kept as the output of the result.

        ``data`` holds the values of the variables by name. What is written through :attr:`inventory` becomes true when the job has ended well and
        ``commit`` is set; otherwise all of it is taken back.
        """
        raise NotImplementedError

    @classmethod
    def variables(cls) -> dict[str, Variable]:
        """The variables, by name: those of ``field_order`` first, then in the order in which they were assigned, those of base classes before."""
        found: dict[str, Variable] = {}
        for base in reversed(cls.__mro__):
            found |= {name: value for name, value in vars(base).items() if isinstance(value, Variable)}
        own = {name: value for name, value in found.items() if getattr(cls, name, None) is value}
        first = {name: own[name] for name in cls.field_order if name in own}
        return first | own

    def log(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Says something; ``obj``, a representation, is what it is about."""
        self._log(DEFAULT, message, obj)

    def log_success(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Says what went well."""
        self._log(SUCCESS, message, obj)

    def log_info(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Says what may be of interest."""
        self._log(INFO, message, obj)

    def log_warning(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Says what somebody should look at."""
        self._log(WARNING, message, obj)

    def log_failure(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Says what went wrong: the job goes on, and has failed when it ends."""
        self._log(FAILURE, message, obj)
        self.failed = True

    def _log(self, level: str, message: Any, obj: Mapping[str, Any] | None) -> None:
        url = str((obj or {}).get("url", ""))
        text = str(message).replace("\x00", "�")
        place = url[url.find("/api/") :][:255] if "/api/" in url else None
        about = None if obj is None else str(obj.get("display", ""))[:200]
        self._said += 1
        self._say(LogEntry(uuid.uuid4(), self._said, now(), GROUPING, level, text, about, place))


class JobHookReceiver(Job):
    """A job that is started by changes of the inventory: those that job hooks name for it."""

    commit_default = True
    object_change = ObjectVar(model="extras.objectchange")

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Hands over the change."""
        change = data["object_change"]
        return self.receive_job_hook(change, change["action"]["value"], change.get("changed_object"))

    def receive_job_hook(self, change: dict[str, Any], action: str, changed_object: dict[str, Any] | None) -> Any:
        """Does the work: ``change`` is the change's representation, ``action`` one of ``create``, ``update``, ``delete``.

        ``changed_object`` is the object, ``None`` when it is no longer there.
        """
        raise NotImplementedError


class JobButtonReceiver(Job):
    """A job that is started for one object, by a job button."""

    commit_default = True
    object_pk = StringVar()
    object_model_name = StringVar()

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Finds the object and hands it over."""
        found = self.inventory.get(data["object_model_name"], id=data["object_pk"])
        return self.receive_job_button(found)

    def receive_job_button(self, obj: dict[str, Any]) -> Any:
        """Does the work for an object, given its representation."""
        raise NotImplementedError
