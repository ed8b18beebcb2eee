"""Settings of the web interface in the ini file, with parsers and defaults."""

from __future__ import annotations

from netinv_core.settings import SettingDefinitions, flag, seconds

known: SettingDefinitions = {
    "session_idle_timeout": (seconds, 12 * 3600.0),
    "session_lifetime": (seconds, 7 * 86400.0),
    "session_cookie_secure": (flag, False),
    "import_background_rows": (int, 1000),
}
