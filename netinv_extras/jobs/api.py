"""API for the authors of jobs: the base classes, the variable types, and the exceptions that a job can raise."""

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
    """Raised by a job to fail with a message; its changes are rolled back."""


class SoftTimeLimitExceeded(Exception):
    """Raised in a job at its soft time limit, so that it can clean up; at the time limit its process is killed."""


@dataclasses.dataclass(frozen=True)
class LogEntry:
    """A log entry of a job, optionally about an object."""

    id: uuid.UUID
    position: int
    created: datetime.datetime
    grouping: str
    log_level: str
    message: str
    log_object: str | None = None
    absolute_url: str | None = None


class Job:
    """Base class of jobs: code that users run immediately or on a schedule, with values for its variables.

    A subclass assigns variables to attributes and defines :meth:`run`. The attributes below describe the job. An
    installation can override each of them (``<name>_override`` of ``/api/extras/jobs/``). Time limits are in seconds; 0
    stands for the default in the settings.

    A ``system`` job is asked for by the service itself, for a user and with no more than the permissions of this user.
    It needs not be enabled, always commits, and cannot be run by requests.
    """

    name: ClassVar[str] = ""
    grouping: ClassVar[str] = ""
    description: ClassVar[str] = ""
    commit_default: ClassVar[bool] = True
    has_sensitive_variables: ClassVar[bool] = True
    approval_required: ClassVar[bool] = False
    read_only: ClassVar[bool] = False
    hidden: ClassVar[bool] = False
    system: ClassVar[bool] = False
    soft_time_limit: ClassVar[float] = 0
    time_limit: ClassVar[float] = 0
    task_queues: ClassVar[tuple[str, ...] | list[str]] = ()
    field_order: ClassVar[tuple[str, ...] | list[str]] = ()

    def __init__(self, inventory: Inventory, emit: Callable[[LogEntry], None] = lambda entry: None) -> None:
        self.inventory = inventory
        self.failed = False
        self._emit = emit
        self._entry_count = 0

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Does the work; the return value is stored as the output of the result.

        ``data`` holds the values of the variables by name. Changes through :attr:`inventory` are committed when the job
        has completed and ``commit`` is true. Otherwise they are rolled back.
        """
        raise NotImplementedError

    @classmethod
    def variables(cls) -> dict[str, Variable]:
        """Returns the variables by name.

        Those of ``field_order`` come first, then those of base classes, then the others in the order of assignment.
        """
        assigned: dict[str, Variable] = {}
        for base in reversed(cls.__mro__):
            assigned |= {name: value for name, value in vars(base).items() if isinstance(value, Variable)}
        variables = {name: value for name, value in assigned.items() if getattr(cls, name, None) is value}
        first = {name: variables[name] for name in cls.field_order if name in variables}
        return first | variables

    def log(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Logs a message, optionally about an object given as its representation."""
        self._log(DEFAULT, message, obj)

    def log_success(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Logs a success."""
        self._log(SUCCESS, message, obj)

    def log_info(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Logs a message of level info."""
        self._log(INFO, message, obj)

    def log_warning(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Logs a warning."""
        self._log(WARNING, message, obj)

    def log_failure(self, message: Any, obj: Mapping[str, Any] | None = None) -> None:
        """Logs a failure: the job continues, but its result is failed when it ends."""
        self._log(FAILURE, message, obj)
        self.failed = True

    def _log(self, level: str, message: Any, obj: Mapping[str, Any] | None) -> None:
        url = str((obj or {}).get("url", ""))
        text = str(message).replace("\x00", "�")
        path = url[url.find("/api/") :][:255] if "/api/" in url else None
        display = None if obj is None else str(obj.get("display", ""))[:200]
        self._entry_count += 1
        self._emit(LogEntry(uuid.uuid4(), self._entry_count, now(), GROUPING, level, text, display, path))


class JobHookReceiver(Job):
    """Base class of jobs that job hooks start after changes of the inventory."""

    commit_default = True
    object_change = ObjectVar(model="extras.objectchange")

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Calls :meth:`receive_job_hook` with the change."""
        change = data["object_change"]
        return self.receive_job_hook(change, change["action"]["value"], change.get("changed_object"))

    def receive_job_hook(self, change: dict[str, Any], action: str, changed_object: dict[str, Any] | None) -> Any:
        """Does the work for a change, given its representation.

        ``action`` is ``create``, ``update`` or ``delete``. ``changed_object`` is ``None`` if it has been deleted.
        """
        raise NotImplementedError


class JobButtonReceiver(Job):
    """Base class of jobs that job buttons start for one object."""

    commit_default = True
    object_pk = StringVar()
    object_model_name = StringVar()

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Reads the object and calls :meth:`receive_job_button`."""
        obj = self.inventory.get(data["object_model_name"], id=data["object_pk"])
        return self.receive_job_button(obj)

    def receive_job_button(self, obj: dict[str, Any]) -> Any:
        """Does the work for an object, given its representation."""
        raise NotImplementedError
