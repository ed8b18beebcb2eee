"""Feature ``changelog``: the change log as a resource, its feed, history of objects, and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_extras.changelog.resource import object_changes

if TYPE_CHECKING:
    pass

feature = Feature(
    "changelog",
    "Change log",
    [object_changes],
    includes=[
        "netinv_extras.changelog.feed",
        "netinv_extras.changelog.history",
        "netinv_extras.changelog.revert",
    ],
    web=[
        "netinv_extras.changelog.web.pages",
        "netinv_extras.changelog.web.history",
        "netinv_extras.changelog.web.undo",
    ],
    settings={"feed_waiters": (int, 2), "undo_background_changes": (int, 500)},
    menu=[
        MenuSection(
            "Operations",
            [MenuEntry("Change log", "/extras/changelog/", "extras.objectchange")],
            icon="queue-list",
            position=700,
        )
    ],
)
