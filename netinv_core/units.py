"""Numbers with units, as people write them.

The filter ``humanize_speed`` of templates writes speeds alike. Its process imports nothing of the service.
"""

from __future__ import annotations

KBPS = "Kbps"
_SPEEDS = ((10**9, "Tbps"), (10**6, "Gbps"), (10**3, "Mbps"))


def speed_text(speed: int) -> str:
    """A speed in kbit/s with a unit: ``1544`` → ``1.544 Mbps``."""
    for factor, unit in _SPEEDS:
        if speed >= factor and (speed % factor == 0 or factor == 10**3):
            return f"{speed / factor:g} {unit}" if speed % factor else f"{speed // factor} {unit}"
    return f"{speed} {KBPS}"


def amount_text(amount: object, unit: str) -> str:
    """An amount with its unit; a speed with the unit that fits: ``8192 MB``, ``10 Gbps``."""
    return speed_text(amount) if unit == KBPS and isinstance(amount, int) else f"{amount} {unit}"
