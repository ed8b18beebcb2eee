"""Settings of Hypothesis for the tests of this folder.

Examples are derived from the test itself, so a run is repeatable; ``NETINV_TEST_RANDOM=1`` draws others every time.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "netinv-hypothesis")  # tables of Unicode, not results
_UNCHECKED = [
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
]  # fixtures hold clients, machines may be loaded
_COMMON = settings(deadline=None, database=None, max_examples=60, suppress_health_check=_UNCHECKED)
settings.register_profile("repeatable", _COMMON, derandomize=True)
settings.register_profile("random", _COMMON, print_blob=True)
settings.load_profile("random" if os.environ.get("NETINV_TEST_RANDOM") else "repeatable")
