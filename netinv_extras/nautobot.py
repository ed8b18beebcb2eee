"""Mapping of the models of Nautobot's applications ``extras`` and ``users``, where they differ."""

from __future__ import annotations

from netinv_core.importing.dump import Declaration, Excluded, Source
from netinv_extras.netbox import ACCOUNTS, CHOICE, CONTEXT, FIELD, RECORDS, STATUS

INSTALLED = "it belongs to what is installed in the other service"
EXCLUDED = {
    **dict.fromkeys(["users.user", "auth.group", "users.objectpermission", "users.token"], ACCOUNTS),
    **dict.fromkeys(["extras.objectchange", "extras.jobresult", "extras.joblogentry"], RECORDS),
    **dict.fromkeys(["extras.job", "extras.jobhook", "extras.jobbutton", "extras.scheduledjob"], INSTALLED),
    "contenttypes.contenttype": INSTALLED,
    "extras.gitrepository": "its token is not shown: set it up anew",
    "extras.imageattachment": "images are not imported",
}
LAST = ("extras.dynamicgroup", "extras.dynamicgroupmembership", "extras.webhook")
models: dict[str, Declaration] = {
    **{label: Excluded(reason) for label, reason in EXCLUDED.items()},
    **{label: Source(label, last=True) for label in LAST},
    STATUS: Source(STATUS, by=("slug",), first=True),
    FIELD: Source(FIELD, deferred=("default",), first=True),
    CHOICE: Source(CHOICE, by=("field_id", "value"), first=True),
    CONTEXT: Source(CONTEXT, by=("name",)),
}
