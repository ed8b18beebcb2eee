"""Settings of glibc's memory allocator, with which a long-lived process gives memory back to the system.

By default glibc keeps an arena of memory for every few threads, and the memory of a large response for the next one.
Other C libraries have no such settings.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping

# Parameters of ``mallopt`` (``malloc.h``) by the variables with which an operator sets them.
_PARAMETERS = {
    "MALLOC_ARENA_MAX": (-8, 1),  # the interpreter's lock lets one thread allocate at a time anyway
    "MALLOC_TRIM_THRESHOLD_": (-1, 1 << 20),  # bytes that are free at the end of the heap
    "MALLOC_MMAP_THRESHOLD_": (-3, 256 << 10),  # bytes; larger blocks are mapped, and unmapped when they are freed
}


def limit_retained_memory(environment: Mapping[str, str] = os.environ) -> bool:
    """Sets the parameters of glibc's allocator whose variables are not in the environment; false without glibc."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    for variable, (parameter, value) in _PARAMETERS.items():
        if variable not in environment:
            library.mallopt(parameter, value)
    return True
