"""Sections of the navigation with the resources of this application."""

from __future__ import annotations

from netinv_core.presentation import MenuEntry, MenuSection

MENU = (
    MenuSection(
        "Operations",
        [
            MenuEntry("Change log", "/extras/changelog/", "extras.objectchange"),
            "jobs",
            "job-results",
            "job-logs",
            "scheduled-jobs",
            "job-hooks",
            "job-buttons",
            "git-repositories",
            "plans",
        ],
        icon="queue-list",
        position=700,
    ),
    MenuSection(
        "Customization",
        [
            "tags",
            "statuses",
            "custom-fields",
            "custom-field-choices",
            "computed-fields",
            "custom-links",
            "export-templates",
            "relationships",
            "relationship-associations",
            "dynamic-groups",
            "dynamic-group-memberships",
            "config-contexts",
            "config-context-schemas",
            "graphql-queries",
            "image-attachments",
            "notes",
            "content-types",
        ],
        icon="adjustments-horizontal",
        position=710,
    ),
    MenuSection(
        "Secrets",
        [
            "secrets",
            "secrets-groups",
            "secrets-groups-associations",
        ],
        icon="key",
        position=720,
    ),
)
