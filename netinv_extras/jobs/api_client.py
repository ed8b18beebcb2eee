"""The inventory as a job sees it: read and written as through the API, in one unit of work that becomes true when the job ends well."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from netinv_core.endpoint import Endpoint
from netinv_core.errors import NotFound
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete, save

Body = dict[str, Any]


@dataclasses.dataclass(eq=False)
class JobUnitOfWork(UnitOfWork):
    """The unit of work of a job; ``starts_jobs`` says whether its changes may start others."""

    starts_jobs: bool = True


class Inventory:
    """Reads and writes, models by their labels (``dcim.site``), objects as representations of the newest version of the API.

    Nothing is held in the database before the first write; from then on until the job ends, the rows that it wrote are (on SQLite: nobody else
    writes). So do what takes long first. A write that is refused raises :class:`netinv_core.errors.RequestError` and leaves nothing behind.
    """

    def __init__(self, uow: JobUnitOfWork, before_writing: Callable[[], None] = lambda: None) -> None:
        self.uow = uow
        self._before_writing = before_writing

    def list(self, label: str, **filters: Any) -> list[Body]:
        """The objects that the parameters of the model's list select, in its order: ``list("dcim.site", region="europe", name__ic="dc")``.

        :raises Invalid: for a parameter that is unknown or has a bad value
        """
        endpoint = self._endpoint(label)
        with self._reading():
            return listing.list_page(self.uow, endpoint, _parameters(filters), Slice(0, 0)).results

    def count(self, label: str, **filters: Any) -> int:
        """How many objects the parameters select."""
        with self._reading():
            return listing.ids(self.uow, self._endpoint(label), _parameters(filters), Slice(1, 0))[0]

    def get(self, label: str, **filters: Any) -> Body:
        """The one object that the parameters select.

        :raises NotFound: when there is none, or several
        """
        endpoint = self._endpoint(label)
        with self._reading():
            found = listing.list_page(self.uow, endpoint, _parameters(filters), Slice(2, 0)).results
        if len(found) != 1:
            raise NotFound(f"{'Several' if found else 'No'} {endpoint.plural} match {filters}.")
        return found[0]

    def create(self, label: str, body: Body | Sequence[Body]) -> Any:
        """Makes an object, or several at once, and gives the representations."""
        bodies, single = _several(body)
        with self._writing():
            made = save.create(self.uow, self._endpoint(label), bodies, single=single)
        return made[0] if single else made

    def update(self, label: str, body: Body | Sequence[Body]) -> Any:
        """Changes an object, or several at once, each given with its ``id`` and what is to be set; gives the representations."""
        bodies, single = _several(body)
        with self._writing():
            changed = save.update(self.uow, self._endpoint(label), bodies, partial=True, single=single)
        return changed[0] if single else changed

    def delete(self, label: str, *ids: Any) -> None:
        """Deletes objects, and what depends on them.

        :raises Conflict: naming what protects them
        """
        with self._writing():
            delete.delete(self.uow, self._endpoint(label), [{"id": str(key)} for key in ids], single=len(ids) == 1)

    def begin(self) -> None:
        """Begins to write, if that has not been."""
        if not self.uow.writing:
            self.uow.release()
            self._before_writing()
            self.uow.writing = True

    def _endpoint(self, label: str) -> Endpoint:
        found = self.uow.registry.get(label)
        if found is None:
            raise NotFound(f"There is no model {label}.")
        return found

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Holds nothing afterwards, unless the job has begun to write."""
        try:
            yield
        finally:
            if not self.uow.writing:
                self.uow.release()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Takes back what was written when it is refused, and nothing else."""
        self.begin()
        uow = self.uow
        _ = uow.connection
        try:
            with uow.collecting() as changes, uow.session.begin_nested():
                yield
        except BaseException:
            uow.expire_all()
            raise
        uow.change_set.merge(changes)


def _several(body: Body | Sequence[Body]) -> tuple[Sequence[Body], bool]:
    """Bodies as a list, and whether there was but one."""
    return ([body], True) if isinstance(body, dict) else (list(body), False)


def _parameters(filters: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Keyword arguments as query parameters."""
    return [(name, [_text(item) for item in value] if isinstance(value, list | tuple) else [_text(value)]) for name, value in filters.items()]


def _text(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
