"""The plugins' tests run on the same service as netinv's own: the fixtures are those of ``tests/conftest.py``."""

from tests.conftest import anonymous, api, configured, engine, make_user, service, statements, unique

__all__ = ["anonymous", "api", "configured", "engine", "make_user", "service", "statements", "unique"]
