"""Feature ``secrets``: references to passwords and tokens at a provider, and groups of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlalchemy.engine import Engine

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_extras import allowed_files, secrets

if TYPE_CHECKING:
    from netinv_core.registry import Registry

feature = Feature(
    "secrets",
    "Secrets",
    [secrets.secrets, secrets.secrets_groups, secrets.secrets_groups_associations],
    includes=["netinv_extras.secrets"],
    settings={
        "secrets_env_prefixes": (settings.variable_prefixes, ()),
        "secrets_file_folders": (allowed_files.folders, ()),
    },
    menu=[
        MenuSection("Secrets", ["secrets", "secrets-groups", "secrets-groups-associations"], icon="key", position=720)
    ],
)


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks that the folders with secrets exist."""
    from netinv_extras import checks

    return checks.missing_folders(("secrets_file_folders", path) for path in registry.settings["secrets_file_folders"])
