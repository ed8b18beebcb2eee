"""API for the authors of jobs: the base classes, the variable types, and the exceptions that a job can raise."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from netinv_extras.jobs import declarations, job_files
from netinv_extras.jobs.declarations import JobDefinitionError
from netinv_extras.jobs.job_log import JobLog, LogEntry
from netinv_extras.jobs.variables import (
    BooleanVar,
    ChoiceVar,
    DryRunVar,
    FileVar,
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
    "DryRunVar",
    "FileVar",
    "IPAddressVar",
    "IPAddressWithMaskVar",
    "IPNetworkVar",
    "IntegerVar",
    "Job",
    "JobButtonReceiver",
    "JobDefinitionError",
    "JobFailed",
    "JobHookReceiver",
    "MultiChoiceVar",
    "MultiObjectVar",
    "ObjectVar",
    "SoftTimeLimitExceeded",
    "StringVar",
    "TextVar",
    "register_jobs",
]


class JobFailed(Exception):
    """Raised by a job to fail with a message; its changes are rolled back."""


class SoftTimeLimitExceeded(Exception):
    """Raised in a job at its soft time limit, so that it can clean up; at the time limit its process is killed."""


class JobUser(NamedTuple):
    """User who asked for a run; as text, the user's name."""

    id: uuid.UUID | None
    username: str

    def __str__(self) -> str:
        return self.username


class JobRequest(NamedTuple):
    """Request of a run: ``id`` is the request id of its changes in the change log, ``change_request`` the id of the
    change request that the run writes in, ``None`` where it writes the inventory.
    """

    id: uuid.UUID
    user: JobUser
    change_request: uuid.UUID | None = None


class Job(JobLog):
    """Base class of jobs: code that users run immediately or on a schedule, with values for its variables.

    A subclass assigns variables to attributes and defines :meth:`run`, or methods that begin with ``test_``. The
    attributes below describe the job, or members of the same names in its ``class Meta``. An installation can override
    each of them (``<name>_override`` of ``/api/extras/jobs/``). Time limits are in seconds; 0 stands for the default in
    the settings. A job with effects outside of the inventory is not ``in_change_requests``: it is refused there.

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
    in_change_requests: ClassVar[bool] = True
    system: ClassVar[bool] = False
    soft_time_limit: ClassVar[float] = 0
    time_limit: ClassVar[float] = 0
    task_queues: ClassVar[tuple[str, ...] | list[str]] = ()
    field_order: ClassVar[tuple[str, ...] | list[str]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declarations.check(cls)

    def __init__(self, inventory: Inventory, emit: Callable[[LogEntry], None] = lambda entry: None) -> None:
        super().__init__(emit)
        self.inventory = inventory

    def run(self, data: dict[str, Any], commit: bool) -> Any:
        """Does the work; the return value is stored as the output of the result.

        ``data`` holds the values of the variables by name. A subclass may define ``run`` with the variables as keyword
        arguments instead. Changes through :attr:`inventory` are committed when the job has completed and ``commit`` is
        true. Otherwise they are rolled back.
        """

    def post_run(self) -> Any:
        """Does what is left after :meth:`run` and the tests, whether they have failed or not.

        After an exception it can read the inventory, but not write. The return value is added to the output.
        """

    @property
    def request(self) -> JobRequest:
        """The request of this run."""
        aside = self.inventory.uow.aside
        return JobRequest(self.inventory.uow.request_id, self.user, aside.key if aside is not None else None)

    @property
    def user(self) -> JobUser:
        """The user who asked for this run."""
        identity = self.inventory.uow.identity
        return JobUser(identity.user_id, identity.username)

    def load_yaml(self, filename: str) -> Any:
        """Returns the value of a YAML file in the folder of the job's module.

        :raises ValueError: if it is in another folder, or not YAML
        :raises OSError: if it cannot be read
        """
        return job_files.document(type(self).__module__, filename, ".yaml")

    def load_json(self, filename: str) -> Any:
        """Returns the value of a JSON file in the folder of the job's module; errors as in :meth:`load_yaml`."""
        return job_files.document(type(self).__module__, filename, ".json")

    @classmethod
    def variables(cls) -> dict[str, Variable]:
        """Returns the variables by name.

        Those of ``field_order`` come first, then those of base classes, then the others in the order of assignment.
        """
        assigned: dict[str, Variable] = {}
        for base in reversed(cls.__mro__):
            assigned |= {name: value for name, value in vars(base).items() if isinstance(value, Variable)}
        variables = {name: value for name, value in assigned.items() if getattr(cls, name, None) is value}
        variables = {name: value for name, value in variables.items() if not isinstance(value, DryRunVar)}
        field_order = declarations.settings_of(cls)["field_order"]
        return {name: variables[name] for name in field_order if name in variables} | variables


_registered: weakref.WeakSet[type[Job]] = weakref.WeakSet()


def register_jobs(*jobs: type[Job]) -> None:
    """Makes these classes the jobs of the modules that define or import them; others there are none then."""
    _registered.update(jobs)


def is_registered(job: type[Job]) -> bool:
    """Returns true for a class given to :func:`register_jobs`."""
    return job in _registered


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
