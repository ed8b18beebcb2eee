"""Fixtures of all tests, those of netinv and those of the plugins, which run on the same service."""

import pytest

pytest.register_assert_rewrite("netinv_testing", "netinv_web.testing", "tests.support")
pytest_plugins = [
    "pytester",
    "netinv_testing.plugin",
    "netinv_web.testing.fixtures",
    "tests.support.agents",
    "tests.support.fixtures",
    "tests.support.chromium",
    "tests.support.inputs",
    "tests.support.log_lines",
    "tests.support.network_fixtures",
    "tests.support.night",
    "tests.support.order",
    "tests.support.selection",
]
