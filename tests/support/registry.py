"""The registry of the installed packages, for tests that only read it: each further one takes a fifth of a second."""

from __future__ import annotations

from netinv_core.main import registry_for

REGISTRY = registry_for("sqlite", {})
