"""The queue for ``huey_consumer netinv_core.tasks.worker.huey``: built from the ini file that ``NETINV_INI`` names."""

from __future__ import annotations

from netinv_core.environment import Environment

huey = Environment.from_variable().worker_queue()
