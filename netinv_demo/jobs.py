"""Job that loads the demo inventory."""

from __future__ import annotations

from typing import Any

from netinv_demo.generator import DEFAULT_SEED, CannotLoadError, check_empty, load_inventory, summary
from netinv_demo.size import DEFAULT_DEVICES, MAX_DEVICES, MIN_DEVICES
from netinv_extras.jobs import IntegerVar, Job, JobFailed


class LoadDemoInventory(Job):
    """Loads the demo inventory into an inventory without devices."""

    name = "Load the demo inventory"
    grouping = "Demo"
    description = "A made-up company with 12 sites, racks, cabled devices, addresses, circuits and virtual machines."
    has_sensitive_variables = False
    soft_time_limit = 1200
    time_limit = 1500

    devices = IntegerVar("Number of devices", min_value=MIN_DEVICES, max_value=MAX_DEVICES, default=DEFAULT_DEVICES)
    seed = IntegerVar("Seed of the random choices", min_value=0, default=DEFAULT_SEED)

    def run(self, data: dict[str, Any], commit: bool) -> str:
        """Loads it, all or nothing; logs each stage."""
        self.inventory.begin()
        try:
            check_empty(self.inventory.uow)
        except CannotLoadError as error:
            raise JobFailed(str(error)) from None
        counts = load_inventory(self.inventory.uow, self.log_info, devices=data["devices"], seed=data["seed"])
        return summary(counts)
