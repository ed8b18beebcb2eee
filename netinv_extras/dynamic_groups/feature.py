"""Feature ``dynamic_groups``: groups whose members are found by filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.presentation import MenuSection
from netinv_extras.dynamic_groups import models

if TYPE_CHECKING:
    pass

feature = Feature(
    "dynamic_groups",
    "Dynamic groups",
    [models.dynamic_groups, models.dynamic_group_memberships],
    includes=["netinv_extras.dynamic_groups.members"],
    web=[
        "netinv_extras.dynamic_groups.web.tab",
        "netinv_extras.dynamic_groups.web.filters",
    ],
    menu=[
        MenuSection(
            "Customization",
            ["dynamic-groups", "dynamic-group-memberships"],
            icon="adjustments-horizontal",
            position=714,
        )
    ],
)
