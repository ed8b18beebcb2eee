"""Pool of database connections that counts waits for a free one."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from netinv_core.telemetry import metrics


class WatchedPool(QueuePool):
    """Pool whose waits are in the metrics, those that ended without a connection among them."""

    def __init__(self, creator: Any, pool_size: int = 5, max_overflow: int = 10, **options: Any) -> None:
        super().__init__(creator, pool_size=pool_size, max_overflow=max_overflow, **options)
        self._most = pool_size + max_overflow

    def connect(self) -> PoolProxiedConnection:
        """A connection, once one is free."""
        if self.checkedout() < self._most:
            return super().connect()
        began = time.perf_counter()
        try:
            return super().connect()
        finally:
            metrics.POOL_WAITS.inc()
            metrics.POOL_WAIT_SECONDS.inc(time.perf_counter() - began)
