"""Imports of libraries without optional parts, which they would load where those are installed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Makes imports of these modules in the block fail, as if they were not installed; those loaded before stay.

    For imports at the top of a module, which happen before there are threads.
    """
    hidden: dict[str, Any] = {name: None for name in names if name not in sys.modules}
    sys.modules.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
