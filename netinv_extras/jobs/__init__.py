"""Jobs: Python classes run in the background on request, on schedule, by buttons and by changes.

The names that the author of a job imports; see docs/jobs.md.
"""

from netinv_extras.jobs.api import (
    BooleanVar,
    ChoiceVar,
    IntegerVar,
    IPAddressVar,
    IPAddressWithMaskVar,
    IPNetworkVar,
    Job,
    JobButtonReceiver,
    JobFailed,
    JobHookReceiver,
    MultiChoiceVar,
    MultiObjectVar,
    ObjectVar,
    SoftTimeLimitExceeded,
    StringVar,
    TextVar,
)

__all__ = [
    "BooleanVar",
    "ChoiceVar",
    "IPAddressVar",
    "IPAddressWithMaskVar",
    "IPNetworkVar",
    "IntegerVar",
    "Job",
    "JobButtonReceiver",
    "JobFailed",
    "JobHookReceiver",
    "MultiChoiceVar",
    "MultiObjectVar",
    "ObjectVar",
    "SoftTimeLimitExceeded",
    "StringVar",
    "TextVar",
]
