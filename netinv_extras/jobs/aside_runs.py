"""Runs of jobs in change requests: a run reads with the proposed changes made, and what it writes is added to them.

It enters the change request as a request does (:mod:`netinv_extras.change_requests.entering`), in its own transaction:
from its beginning to its end it locks the change request and the rows that this changes.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Denied, RequestError, error_text
from netinv_extras.change_requests import entering, proposals
from netinv_extras.change_requests.entering import BlockEffects
from netinv_extras.change_requests.models import LABEL
from netinv_extras.change_requests.proposals import Proposal

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAY_NOT_CHANGE = "Whoever asked for this job may not change the change request any more."
NOT_INSTALLED = "Change requests are not installed any more."


class NotEntered(Exception):
    """A run cannot enter its change request, with the reason."""


class AsideRun:
    """A run in the change request ``key``."""

    _row: Mapping[str, Any]
    _proposed: Sequence[Proposal]
    _made: BlockEffects

    def __init__(self, uow: UnitOfWork, key: uuid.UUID) -> None:
        self._uow, self._key = uow, key

    @property
    def title(self) -> str:
        """The title of the change request."""
        return str(self._row["title"])

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Runs the block with the proposed changes made, and rolls everything back.

        :raises NotEntered: for a change request that is gone, not open or in conflict, or that the user may not change
        """
        if self._uow.registry.get(LABEL) is None:
            raise NotEntered(NOT_INSTALLED)
        with contextlib.ExitStack() as stack:
            try:
                self._row = entering.open_request(self._uow, self._key, locked=True)
                self._proposed = proposals.load(self._uow, self._key)
                carried_out = entering.carried_out(self._uow, self._proposed, self._key)
                self._made = stack.enter_context(carried_out)
            except Denied as error:
                raise NotEntered(MAY_NOT_CHANGE) from error
            except RequestError as error:
                raise NotEntered(_reason(error.body)) from error
            yield

    def keep(self) -> int:
        """Adds the changes of the block to the change request; returns their number.

        :raises Invalid: for a change that cannot be proposed, or too many of them
        """
        entering.keep(self._uow, self._row, self._proposed, self._made)
        return len(self._made.changes)


def _reason(body: Any) -> str:
    """The messages of an error, without the name of the parameter of requests."""
    if isinstance(body, Mapping):
        body = body.get("detail") or body.get(entering.PARAMETER) or body
    return error_text(body)
