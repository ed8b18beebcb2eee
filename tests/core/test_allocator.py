"""Memory that was freed goes back to the system."""

import os
import subprocess
import sys

import pytest

FREES_LARGE_BLOCKS = """
from netinv_core import allocator
allocator.limit_retained_memory()
bytes(30 << 20)  # freed: glibc's own threshold for mapped blocks grows to its size
blocks, kept = [], []
for number in range(100):
    blocks.append(b"x" * (500 << 10))
    kept.append(b"y" * (100 << 10))  # lies behind each block in the heap
blocks.clear()
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * 4096 >> 20)
"""


def _mib_after_large_blocks_are_freed(**variables: str) -> int:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", FREES_LARGE_BLOCKS]
    return int(subprocess.run(command, env=environment | variables, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_freed_blocks_are_given_back_unless_the_environment_sets_the_threshold() -> None:
    given_back = _mib_after_large_blocks_are_freed()
    as_set = _mib_after_large_blocks_are_freed(MALLOC_MMAP_THRESHOLD_=str(32 << 20))
    assert as_set - given_back > 40, (given_back, as_set)
