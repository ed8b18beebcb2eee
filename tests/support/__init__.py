"""Shared helpers and fixtures of the tests: databases, servers, receivers, Git repositories, plugins and crash
tests.
"""

from pathlib import Path

SUPPORT = Path(__file__).parent
REPOSITORY = SUPPORT.parent.parent
