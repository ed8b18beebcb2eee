"""API client for jobs: reads and writes objects as through the API, in one transaction that ends with the job."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import NotFound
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete, save

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

Body = dict[str, Any]


@dataclasses.dataclass(eq=False)
class JobUnitOfWork(UnitOfWork):
    """Unit of work of a job. Its changes trigger job hooks if ``starts_jobs`` is true."""

    starts_jobs: bool = True


class Inventory:
    """Client for the inventory. Models are labels (``dcim.site``), objects representations of the newest API version.

    The job holds no database lock before its first write. From then on until it ends it locks the rows that it has
    written, on SQLite the whole database; so slow work should come first. A rejected write raises
    :class:`netinv_core.errors.RequestError` and is rolled back to its savepoint.
    """

    def __init__(self, uow: JobUnitOfWork, before_writing: Callable[[], None] = lambda: None) -> None:
        self.uow = uow
        self._before_writing = before_writing

    def list(self, label: str, **filters: Any) -> list[Body]:
        """Returns objects selected by query parameters of the model's list, in the order of the list.

        Example: ``list("dcim.site", region="europe", name__ic="dc")``.

        :raises Invalid: for a parameter that is unknown or has a bad value
        """
        endpoint = self._endpoint(label)
        with self._reading():
            return listing.list_page(self.uow, endpoint, _parameters(filters), Slice(0, 0)).results

    def count(self, label: str, **filters: Any) -> int:
        """Returns the number of objects selected by query parameters."""
        with self._reading():
            return listing.ids(self.uow, self._endpoint(label), _parameters(filters), Slice(1, 0))[0]

    def get(self, label: str, **filters: Any) -> Body:
        """Returns the one object selected by query parameters.

        :raises NotFound: if there is none, or several
        """
        endpoint = self._endpoint(label)
        with self._reading():
            results = listing.list_page(self.uow, endpoint, _parameters(filters), Slice(2, 0)).results
        if len(results) != 1:
            raise NotFound(f"{'Several' if results else 'No'} {endpoint.plural} match {filters}.")
        return results[0]

    def create(self, label: str, body: Body | Sequence[Body]) -> Any:
        """Creates an object, or several at once; returns the representations."""
        bodies, single = _as_list(body)
        with self._writing():
            created = save.create(self.uow, self._endpoint(label), bodies, single=single)
        return created[0] if single else created

    def update(self, label: str, body: Body | Sequence[Body]) -> Any:
        """Updates one or several objects; returns the representations. A body has the ``id`` and the fields to set."""
        bodies, single = _as_list(body)
        with self._writing():
            changed = save.update(self.uow, self._endpoint(label), bodies, partial=True, single=single)
        return changed[0] if single else changed

    def delete(self, label: str, *ids: Any) -> None:
        """Deletes objects, with their cascades.

        :raises Conflict: naming the objects that protect them
        """
        with self._writing():
            delete.delete(self.uow, self._endpoint(label), [{"id": str(key)} for key in ids], single=len(ids) == 1)

    def begin(self) -> None:
        """Starts the writing transaction, unless it has been started."""
        if not self.uow.writing:
            self.uow.release()
            self._before_writing()
            self.uow.writing = True

    def _endpoint(self, label: str) -> Endpoint:
        endpoint = self.uow.registry.get(label)
        if endpoint is None:
            raise NotFound(f"There is no model {label}.")
        return endpoint

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Context of a read: releases the connection afterwards, unless the job has started to write."""
        try:
            yield
        finally:
            if not self.uow.writing:
                self.uow.release()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Context of a write in a savepoint, which is rolled back on an error."""
        self.begin()
        with self.uow.savepoint():
            yield


def _as_list(body: Body | Sequence[Body]) -> tuple[Sequence[Body], bool]:
    """Returns the bodies as a list, and true if it was a single one."""
    return ([body], True) if isinstance(body, dict) else (list(body), False)


def _parameters(filters: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Returns keyword arguments as query parameters."""
    return [(name, _texts(value)) for name, value in filters.items()]


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in value] if isinstance(value, list | tuple) else [_text(value)]


def _text(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
