"""A process that imports, and is killed when it commits for a given time: ``import_process INI NUMBER WORD …``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.environment import Environment
from netinv_import import netbox
from netinv_import.commands import import_

OBJECTS_IN_A_BATCH = 10


def main(ini: str, number: int, words: list[str]) -> None:
    """Imports in small batches; kills the process before its commit of this number."""
    remaining = [number]

    def count(connection: Any) -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    netbox.BATCH_SIZE = OBJECTS_IN_A_BATCH
    sa.event.listen(Engine, "commit", count)
    import_.main(words, obj=Environment(ini))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
