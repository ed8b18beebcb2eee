"""Settings of the web interface in the ini file, with parsers and defaults."""

from __future__ import annotations

from netinv_core.settings import SettingDefinitions, flag, limit, seconds


def percent(text: str) -> int:
    """A percentage of a bar, 1 to 100."""
    if not 1 <= int(text) <= 100:
        raise ValueError(text)
    return int(text)


known: SettingDefinitions = {
    "session_idle_timeout": (seconds, 12 * 3600.0),
    "session_lifetime": (seconds, 7 * 86400.0),
    "session_cookie_secure": (flag, False),
    "import_background_rows": (int, 1000),
    "bulk_background_objects": (int, 500),
    "panel_timeout": (limit, 2.0),
    "tab_timeout": (limit, 30.0),
    "utilization_warning": (percent, 75),
    "utilization_danger": (percent, 90),
}
