"""Number of objects of each kind, derived from the number of devices."""

from __future__ import annotations

import dataclasses

from netinv_demo.company import DATA_CENTRE, HUB, OFFICE, SITES

DEFAULT_DEVICES, MIN_DEVICES, MAX_DEVICES = 500, 220, 3000
COMPUTE_RACKS_PER_POD = 14  # two leaf switches of each, on the 32 ports of a spine
SPINES = 4
BLADES = 8
SERVERS_PER_RACK = 9.5  # the highest mean; more servers need another rack
COMPUTE_RACK_DEVICES = 6  # two leaf switches, management switch, patch panel, two PDUs
TRUNKS_PER_PANEL = 4
BORDER_RACK_DEVICES = 11
POD_RACK_DEVICES = 8  # without patch panels
HUB_RACK_DEVICES, HUB_DEVICES = 3, 14  # two PDUs and a panel in each rack; switches, firewalls, router, servers …
OFFICE_RACK_DEVICES, OFFICE_DEVICES = 2, 5
ACCESS_POINTS = {HUB: 6, OFFICE: 4}


def pods(racks: int) -> int:
    """Returns the number of pods for some compute racks."""
    return -(-racks // COMPUTE_RACKS_PER_POD)


@dataclasses.dataclass(frozen=True)
class DemoSize:
    """Numbers of compute racks by data centre, of servers in all, and of access points by kind of site."""

    compute_racks: tuple[int, int]
    servers: int
    access_points: dict[str, int]

    @classmethod
    def for_devices(cls, devices: int) -> DemoSize:
        """Returns the size with exactly this number of devices; the servers fill up what is left.

        :raises ValueError: for a number outside of the limits
        """
        if not MIN_DEVICES <= devices <= MAX_DEVICES:
            raise ValueError(f"the number of devices must be from {MIN_DEVICES} to {MAX_DEVICES}")
        access_points = ACCESS_POINTS if devices >= DEFAULT_DEVICES // 2 else {HUB: 1, OFFICE: 1}
        total = 3
        while True:
            racks = (total - total * 4 // 9, total * 4 // 9)
            size = cls(racks, 0, access_points)
            servers = devices - size._other_devices()
            if servers <= total * SERVERS_PER_RACK:
                return dataclasses.replace(size, servers=servers)
            total += 1

    def _other_devices(self) -> int:
        """Returns the number of devices without the servers."""
        total = 0
        for racks in self.compute_racks:
            total += BORDER_RACK_DEVICES + racks * COMPUTE_RACK_DEVICES + 1 + BLADES
            for pod in range(pods(racks)):
                in_pod = min(COMPUTE_RACKS_PER_POD, racks - pod * COMPUTE_RACKS_PER_POD)
                total += POD_RACK_DEVICES + -(-in_pod // TRUNKS_PER_PANEL)
        for site in SITES:
            if site.kind == HUB:
                total += site.racks * HUB_RACK_DEVICES + HUB_DEVICES + self.access_points[HUB]
            elif site.kind == OFFICE:
                total += site.racks * OFFICE_RACK_DEVICES + OFFICE_DEVICES + self.access_points[OFFICE]
        return total

    @property
    def racks(self) -> int:
        """The number of racks."""
        small = sum(site.racks for site in SITES if site.kind != DATA_CENTRE)
        return small + sum(racks + pods(racks) + 1 for racks in self.compute_racks)
