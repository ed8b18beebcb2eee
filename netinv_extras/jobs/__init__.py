"""Jobs: Python classes run in the background on request, on schedule, by buttons and by changes.

The names that the author of a job imports; see docs/jobs.md.
"""

from netinv_extras.jobs.api import (
    BooleanVar,
    ChoiceVar,
    DryRunVar,
    FileVar,
    IntegerVar,
    IPAddressVar,
    IPAddressWithMaskVar,
    IPNetworkVar,
    Job,
    JobButtonReceiver,
    JobDefinitionError,
    JobFailed,
    JobHookReceiver,
    MultiChoiceVar,
    MultiObjectVar,
    ObjectVar,
    SoftTimeLimitExceeded,
    StringVar,
    TextVar,
    register_jobs,
)

__all__ = [
    "BooleanVar",
    "ChoiceVar",
    "DryRunVar",
    "FileVar",
    "IPAddressVar",
    "IPAddressWithMaskVar",
    "IPNetworkVar",
    "IntegerVar",
    "Job",
    "JobButtonReceiver",
    "JobDefinitionError",
    "JobFailed",
    "JobHookReceiver",
    "MultiChoiceVar",
    "MultiObjectVar",
    "ObjectVar",
    "SoftTimeLimitExceeded",
    "StringVar",
    "TextVar",
    "register_jobs",
]
