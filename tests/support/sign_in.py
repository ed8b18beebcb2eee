"""Limits of failed sign-ins for a block of a test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.auth.models import SignInCounter
from netinv_core.models.base import table_of
from netinv_testing import Service


@contextlib.contextmanager
def sign_in_limits(service: Service, **settings: Any) -> Iterator[None]:
    """Other settings for the block, which begins without a counted failure.

    A keyed hash maps names and addresses to counters. Two of them may share one, so failures of earlier tests would
    be counted in about one run of fifty.
    """
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(table_of(SignInCounter)))
    with service.configured(**settings):
        yield
